#include "proxy/demo/layout.h"

#include <gtest/gtest.h>
#include <set>

namespace evenkeel::demo {
namespace {

TEST(Layout, TheReferenceLayout) {
  const Layout layout;
  EXPECT_EQ(layout.slots(), 128u);
  EXPECT_EQ(layout.databases_in_all(), 16u);
  for (uint32_t slot = 0; slot < 32; ++slot) EXPECT_EQ(layout.instance_of_slot(slot), 0u);
  EXPECT_EQ(layout.instance_of_slot(32), 1u);
  EXPECT_EQ(layout.instance_of_slot(127), 3u);
  EXPECT_EQ(layout.database_of_slot(7), 0u);
  EXPECT_EQ(layout.database_of_slot(8), 1u);
  EXPECT_EQ(layout.table_name("orders", 0), "orders_000");
  EXPECT_EQ(layout.table_name("orders", 127), "orders_127");
  EXPECT_EQ(layout.database_name("shop", 15), "shop_15");
}

TEST(Layout, LargeLayoutsGetWiderNumbers) {
  const Layout layout{4, 16, 128};
  EXPECT_EQ(layout.slots(), 8192u);
  EXPECT_EQ(layout.table_name("orders", 7), "orders_0007");
  EXPECT_EQ(layout.database_name("shop", 7), "shop_07");
  EXPECT_EQ((Layout{4, 32, 8}.database_name("shop", 7)), "shop_007");
  std::set<std::string> names;
  for (uint32_t slot = 0; slot < layout.slots(); ++slot) names.insert(layout.table_name("orders", slot));
  EXPECT_EQ(names.size(), layout.slots());
}

TEST(Layout, ParsesWhatItPrints) {
  for (const Layout layout : {Layout{4, 4, 8}, Layout{1, 1, 1}, Layout{32, 1, 2}, Layout{4, 16, 128}}) {
    const Result<Layout> parsed = parse_layout(to_string(layout));
    ASSERT_TRUE(parsed) << to_string(layout);
    EXPECT_EQ(*parsed, layout);
  }
}

TEST(Layout, RefusesOtherTextsAndSaysWhatIsAllowed) {
  for (const char* text : {"", "4", "4x16", "4x16x", "4x16x128x2", "0x1x1", "-1x1x1", "4x16x128 ", "4X16X128",
                           "33x1x1", "4x256x128", "99999999999999999999x1x1", "axbxc"}) {
    const Result<Layout> parsed = parse_layout(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::config);
    EXPECT_NE(parsed.error().message.find("4x16x128"), std::string::npos) << parsed.error().message;
  }
}

}  // namespace
}  // namespace evenkeel::demo
