// Statements of tests/corpus/<kind>.sql, one a line, must parse to the kind that the file is named after,
// without opaque parts. Lines that begin with `#:` set the rules for the lines below, other lines with # are
// remarks.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <vector>

#include "router/sql/parser.h"
#include "router/sql/splice.h"
#include "router/sql/tests/dump.h"
#include "router/sql/tests/rules_text.h"

namespace evenkeel::sql {
namespace {

namespace fs = std::filesystem;

class CorpusTest : public testing::TestWithParam<std::string> {};

TEST_P(CorpusTest, ParsesWithoutOpaqueParts) {
  std::ifstream in(fs::path("router/sql/tests/corpus") / (GetParam() + ".sql"));
  LexRules rules;
  size_t statements = 0;
  Tokens tokens;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#:")) rules = rules_of(line.substr(2));
    if (line.empty() || line.starts_with("#")) continue;
    ++statements;
    const Status lexed = lex(line, rules, tokens);
    ASSERT_TRUE(lexed) << line << "\n" << lexed.error().message;
    const auto parsed = parse(tokens, rules);
    ASSERT_TRUE(parsed) << line << "\n" << parsed.error().message;
    const std::string tree = dump(**parsed, tokens);
    EXPECT_EQ(tree.substr(0, tree.find_first_of(" [")), GetParam()) << line;
    EXPECT_FALSE((*parsed)->has_opaque) << line << "\n" << tree;
    for (const SpanPair& pair : nested_spans(**parsed)) {
      EXPECT_TRUE(pair.parent.first <= pair.child.first && pair.child.last <= pair.parent.last)
          << line << "\n"
          << pair.what << ": " << tokens.text_of(pair.child) << "\nin: " << tokens.text_of(pair.parent);
    }
    std::string same;
    splice(tokens, {0, static_cast<uint32_t>(tokens.size() - 1)}, {}, same);
    EXPECT_EQ(same, line);
  }
  EXPECT_GT(statements, 0u);
}

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("router/sql/tests/corpus"))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Kinds, CorpusTest, testing::ValuesIn(files()),
                         [](const testing::TestParamInfo<std::string>& file) { return file.param; });

}  // namespace
}  // namespace evenkeel::sql
