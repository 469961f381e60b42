#include "proxy/admin/command.h"

#include <fstream>
#include <gtest/gtest.h>

namespace evenkeel::admin {
namespace {

std::string understood(const std::string& statement) {
  const auto phrase = answer::Phrase::read(statement);
  if (!phrase) return phrase.error().message;
  const auto command = parse(*phrase);
  if (command) {
    return std::string(rights_of(*command) == answer::Rights::operate ? "operate: " : "read: ") +
           to_text(*command);
  }
  EXPECT_EQ(command.error().sqlstate, "42000") << statement;
  const std::string prefix = "You have an error in your SQL syntax: ";
  const std::string& message = command.error().message;
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

TEST(Command, GoldenCases) {
  std::ifstream file("proxy/admin/tests/cases/commands.txt");
  ASSERT_TRUE(file);
  size_t cases = 0;
  std::string statement;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#") || line.empty()) continue;
    if (!line.starts_with("> ")) {
      statement = line;
      continue;
    }
    EXPECT_EQ(understood(statement), line.substr(2)) << statement;
    ++cases;
  }
  EXPECT_GT(cases, 60u);
}

// The canonical text of a command is that command.
TEST(Command, TextIsReadBack) {
  for (const char* statement :
       {"SHOW SKEW FOR a.b BY DATABASE", "STEER `we``ird` AVOID TABLES 1-2, 9, INSTANCE 'x' FOR 3 MINUTES",
        "DRY RUN STEER t WEIGHTS DATABASE d = 4", "EXPLAIN STEERING t TABLE 0", "KILL QUERY 3",
        "DECODE ID 5 FOR t"}) {
    const auto first = parse(answer::Phrase::read(statement).value()).value();
    const auto second = parse(answer::Phrase::read(to_text(first)).value()).value();
    EXPECT_EQ(first, second) << statement;
  }
}

TEST(Command, HelpNamesWhatIsUnderstood) {
  for (const HelpLine& line : help_lines()) {
    // The words before the first placeholder are a statement's beginning.
    const std::string first(line.statement.substr(0, line.statement.find_first_of(" ,")));
    const auto phrase = answer::Phrase::read(first).value();
    const auto command = parse(phrase);
    if (command) continue;
    EXPECT_EQ(command.error().message.find("'" + first + "'"), std::string::npos) << first;
  }
}

}  // namespace
}  // namespace evenkeel::admin
