#include "router/rule/names.h"

#include <gtest/gtest.h>

namespace evenkeel::rule {
namespace {

std::string formatted(std::string_view pattern, uint64_t number) {
  auto parsed = NamePattern::parse(pattern);
  return parsed ? parsed->format(number) : parsed.error().message;
}

TEST(NamePattern, PutsTheNumberInItsPlace) {
  EXPECT_EQ(formatted("orders_{:03}", 7), "orders_007");
  EXPECT_EQ(formatted("orders_{:03}", 12345), "orders_12345");
  EXPECT_EQ(formatted("t{}x", 0), "t0x");
  EXPECT_EQ(formatted("{:02}", 5), "05");
  EXPECT_EQ(formatted("plain", 5), "plain");
}

TEST(NamePattern, KnowsWhetherThereIsANumber) {
  EXPECT_TRUE(NamePattern::parse("a{}")->has_number());
  EXPECT_FALSE(NamePattern::parse("a")->has_number());
}

TEST(NamePattern, RefusesWhatIsNoPattern) {
  for (std::string_view pattern :
       {"a{", "a}", "a{}b{}", "a{:3}", "a{:00}", "a{:0x}", "a{:010}", "a{n}", "a}{}", "{}}"}) {
    EXPECT_FALSE(NamePattern::parse(pattern).has_value()) << pattern;
  }
  EXPECT_EQ(NamePattern::parse("a{:3}").error().message,
            "name pattern \"a{:3}\": {:3} is not a place for a number; write for example orders_{} or "
            "orders_{:03}");
}

TEST(Names, FoldOnlyAsciiLetters) {
  EXPECT_EQ(fold_case("Orders_Ä"), "orders_Ä");
  const FoldedLess less;
  EXPECT_FALSE(less("ORDERS", "orders") || less("orders", "ORDERS"));
  EXPECT_TRUE(less("orders", "ORDERS_1"));
  EXPECT_TRUE(less("A", "b"));
}

TEST(Names, FaultsAreNamed) {
  EXPECT_EQ(name_fault("orders_007"), "");
  EXPECT_EQ(name_fault("größe $1"), "");
  EXPECT_EQ(name_fault(""), "the name is empty");
  EXPECT_EQ(name_fault("a/b"), "the name holds the character /");
  EXPECT_EQ(name_fault("a`b"), "the name holds the character `");
  EXPECT_EQ(name_fault("a "), "the name ends with a space");
  EXPECT_EQ(name_fault("a\nb"), "the name holds a control character");
  EXPECT_EQ(name_fault(std::string(64, 'x')), "");
  EXPECT_EQ(name_fault(std::string(65, 'x')), "the name has more than 64 characters");
  std::string umlauts;
  for (int i = 0; i < 64; ++i) umlauts += "ü";
  EXPECT_EQ(name_fault(umlauts), "") << "characters count, not bytes";
}

}  // namespace
}  // namespace evenkeel::rule
