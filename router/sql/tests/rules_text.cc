#include "router/sql/tests/rules_text.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace evenkeel::sql {

LexRules rules_of(std::string_view words) {
  LexRules rules;
  std::istringstream in{std::string(words)};
  for (std::string word; in >> word;) {
    if (word == "mysql") {
      rules.flavour = mysql::Flavour::mysql;
      rules.version = 80036;
    } else if (word == "mariadb") {
      rules.flavour = mysql::Flavour::mariadb;
      rules.version = 101119;
    } else if (word.find_first_not_of("0123456789") == std::string::npos) {
      rules.version = static_cast<uint32_t>(std::stoul(word));
    } else if (word == "ansi_quotes") {
      rules.ansi_quotes = true;
    } else if (word == "no_backslash_escapes") {
      rules.no_backslash_escapes = true;
    } else if (word == "pipes_as_concat") {
      rules.pipes_as_concat = true;
    } else if (word == "high_not_precedence") {
      rules.high_not_precedence = true;
    } else if (word == "ignore_space") {
      rules.ignore_space = true;
    } else {
      EXPECT_NE(mysql::default_collation_of(word), nullptr) << "no such rule or character set: " << word;
      rules.step = mysql::step_of(word);
    }
  }
  return rules;
}

}  // namespace evenkeel::sql
