#include "proxy/answer/phrase.h"

#include <gtest/gtest.h>

namespace evenkeel::answer {
namespace {

TEST(Phrase, NamesTheWordThatWasNotExpected) {
  const auto phrase = Phrase::read("SELECT NEXT_ID('orders') WHERE x").value();
  PhraseReader reader(phrase);
  ASSERT_TRUE(reader.take("select"));
  ASSERT_TRUE(reader.take_words({"Next_Id"}));
  EXPECT_FALSE(reader.expect_symbol(")"));
  ASSERT_TRUE(reader.expect_symbol("("));
  EXPECT_EQ(reader.next().text, "orders");
  ASSERT_TRUE(reader.expect_symbol(")"));
  EXPECT_EQ(reader.expect_end().error().message,
            "You have an error in your SQL syntax: 'WHERE' at character 26 was not expected; allowed here: "
            "the end of the "
            "statement");
  reader.next();
  reader.next();
  EXPECT_EQ(reader.unexpected("a, b").message,
            "You have an error in your SQL syntax: the statement ends where something is missing; allowed "
            "here: a, b");
  EXPECT_EQ(reader.unexpected("a, b").sqlstate, "42000");
}

TEST(Phrase, WholeNumbersHaveBounds) {
  for (const auto& [text, right] :
       std::initializer_list<std::pair<const char*, bool>>{{"0", false},
                                                           {"1", true},
                                                           {"'7'", true},
                                                           {"10", true},
                                                           {"11", false},
                                                           {"-1", false},
                                                           {"1.0", false},
                                                           {"x", false},
                                                           {"''", false},
                                                           {"99999999999999999999999", false},
                                                           {"'7x'", false}}) {
    const auto phrase = Phrase::read(text).value();
    EXPECT_EQ(PhraseReader(phrase).expect_integer("a number", 1, 10).has_value(), right) << text;
  }
}

TEST(Phrase, WordsKeepTheirKind) {
  const auto phrase = Phrase::read("a `b``c` 'd' 'e' 12 1.5 ? @f @@g <= ;").value();
  std::string kinds;
  for (const Word& word : phrase.words)
    kinds += std::to_string(static_cast<int>(word.kind)) + ":" + word.text + " ";
  EXPECT_EQ(kinds, "0:a 1:b`c 2:de 3:12 4:1.5 5:? 6:f 7:g 8:<= 9: ");
  EXPECT_EQ(phrase.parameters, 1);
  EXPECT_FALSE(phrase.bind({}));
  EXPECT_FALSE(Phrase::read("'open"));
  EXPECT_FALSE(Phrase::read("x'00'"));
}

}  // namespace
}  // namespace evenkeel::answer
