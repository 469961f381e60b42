// Golden files: tests/cases/*.sql. A file holds cases divided by lines of `====`; a case is a statement, a
// line
// `----` and what it becomes. Lines before the statement that begin with `#:` are directives:
//   #: rules mysql gbk ansi_quotes …   (for this case and those behind it)
//   #: tokens                          (the tokens are dumped, not the tree)
// With EVENKEEL_UPDATE_GOLDEN=1 in the environment the files are rewritten with what was found.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <vector>

#include "router/sql/parser.h"
#include "router/sql/tests/dump.h"
#include "router/sql/tests/rules_text.h"

namespace evenkeel::sql {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

struct Case {
  std::string head;  // directives, as written
  std::string statement;
  std::string expected;
};

// `\xNN` in a statement stands for the byte, so that the files stay text.
std::string with_bytes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\x" && i + 3 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 2, 2)), nullptr, 16));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The other way, for bytes that a text file should not hold.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

std::vector<Case> cases_of(const std::string& file) {
  std::vector<Case> cases;
  Case current;
  bool expected = false;
  std::istringstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line == "====") {
      cases.push_back(current);
      current = {};
      expected = false;
    } else if (line == "----") {
      expected = true;
    } else if (expected) {
      current.expected += line + "\n";
    } else if (line.starts_with("#:")) {
      current.head += line + "\n";
    } else {
      current.statement += (current.statement.empty() ? "" : "\n") + line;
    }
  }
  if (!current.statement.empty() || expected) cases.push_back(current);
  return cases;
}

std::string found(const std::string& statement, const LexRules& rules, bool tokens_only) {
  const std::string text = with_bytes(statement);
  Tokens tokens;
  const Status lexed = lex(text, rules, tokens);
  if (!lexed) return "error " + printable(lexed.error().message) + "\n";
  if (tokens_only) return dump_tokens(tokens);
  const auto parsed = parse(tokens, rules);
  return parsed ? dump(**parsed, tokens) : "error " + printable(parsed.error().message) + "\n";
}

class CasesTest : public testing::TestWithParam<std::string> {};

TEST_P(CasesTest, AsTheFileSays) {
  const fs::path path = fs::path("router/sql/tests/cases") / (GetParam() + ".sql");
  LexRules rules;
  bool tokens_only = false;
  std::string rewritten;
  size_t number = 0;
  for (const Case& c : cases_of(read(path))) {
    std::istringstream head(c.head);
    for (std::string line; std::getline(head, line);) {
      if (line.starts_with("#: rules")) rules = rules_of(line.substr(8));
      if (line.starts_with("#: tokens")) tokens_only = true;
    }
    const std::string now = found(c.statement, rules, tokens_only);
    EXPECT_EQ(now, c.expected) << path << " case " << ++number << ": " << c.statement;
    rewritten += (rewritten.empty() ? "" : "====\n") + c.head + c.statement + "\n----\n" + now;
  }
  EXPECT_FALSE(rewritten.empty()) << path << " holds no case";
  if (std::getenv("EVENKEEL_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << rewritten;
}

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("router/sql/tests/cases"))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, CasesTest, testing::ValuesIn(files()),
                         [](const testing::TestParamInfo<std::string>& file) { return file.param; });

}  // namespace
}  // namespace evenkeel::sql
