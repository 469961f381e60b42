#include "proxy/control/grants.h"

#include <gtest/gtest.h>

namespace evenkeel::control {
namespace {

using Names = std::vector<std::string>;

TEST(Grants, AreReadFromBothFlavoursLines) {
  const auto grants = parse_grants({
      "GRANT USAGE ON *.* TO `shop`@`%` IDENTIFIED BY PASSWORD '*00'",
      "GRANT SELECT, INSERT, UPDATE (a, b), CREATE TEMPORARY TABLES ON `shop\\_%`.* TO `shop`@`%`",
      "GRANT ALL PRIVILEGES ON `odd``name`.* TO `shop`@`%`",
      "GRANT SELECT ON `shop`.`orders` TO `shop`@`%`",
      "GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `shop`@`%`",
      "GRANT `reader`@`%` TO `shop`@`%`",
      "GRANT PROXY ON ''@'' TO 'root'@'localhost' WITH GRANT OPTION",
  });
  ASSERT_EQ(grants.size(), 3u);
  EXPECT_EQ(grants[0], (Grant{{"USAGE"}, "*"}));
  EXPECT_EQ(grants[1], (Grant{{"SELECT", "INSERT", "CREATE TEMPORARY TABLES"}, "shop\\_%"}));
  EXPECT_EQ(grants[2], (Grant{{"ALL PRIVILEGES"}, "odd`name"}));
}

TEST(Grants, PatternsHaveWildcards) {
  EXPECT_TRUE(matches_pattern("shop", "shop"));
  EXPECT_FALSE(matches_pattern("shop", "shop_1"));
  EXPECT_TRUE(matches_pattern("shop_1", "shopX1"));
  EXPECT_FALSE(matches_pattern("shop\\_1", "shopX1"));
  EXPECT_TRUE(matches_pattern("shop\\_%", "shop_12"));
  EXPECT_TRUE(matches_pattern("%p%", "shop"));
  EXPECT_FALSE(matches_pattern("%p", "shops"));
  EXPECT_TRUE(matches_pattern("%", ""));
  EXPECT_FALSE(matches_pattern("", "a"));
}

TEST(Grants, MissingPrivilegesAreNamed) {
  const auto grants =
      parse_grants({"GRANT SELECT ON *.* TO `u`@`%`", "GRANT INSERT ON `shop\\_0%`.* TO `u`@`%`",
                    "GRANT ALL PRIVILEGES ON `shop`.* TO `u`@`%`"});
  const Names wanted = {"SELECT", "INSERT", "UPDATE"};
  EXPECT_EQ(missing_privileges(grants, "shop", wanted), Names());
  EXPECT_EQ(missing_privileges(grants, "shop_01", wanted), Names({"UPDATE"}));
  EXPECT_EQ(missing_privileges(grants, "other", wanted), Names({"INSERT", "UPDATE"}));
  EXPECT_EQ(missing_privileges({}, "shop", wanted), wanted);
}

}  // namespace
}  // namespace evenkeel::control
