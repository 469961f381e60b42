// Every case of cases/*.txt, in text and binary rows, fed in three ways.
#include <filesystem>
#include <gtest/gtest.h>

#include "router/merge/tests/case_file.h"

namespace evenkeel::merge::testing {
namespace {

std::string show(const std::vector<TestRow>& rows) {
  std::string text;
  for (const TestRow& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "  " : " | ") + row[i].value_or("NULL");
    text += '\n';
  }
  return text;
}

void check(const Case& c, RowFormat format, Feeding feeding) {
  auto merger = make_merger(c.spec, format, c.columns, c.outputs, static_cast<uint32_t>(c.sources.size()));
  if (!merger) {
    ASSERT_FALSE(c.error.empty()) << merger.error().message;
    EXPECT_NE(merger.error().message.find(c.error), std::string::npos) << merger.error().message;
    return;
  }
  std::vector<std::vector<std::string>> sources;
  for (const auto& source : c.sources) {
    auto& rows = sources.emplace_back();
    for (const TestRow& row : source) rows.push_back(encode(format, c.columns, row));
  }
  std::string error;
  std::vector<TestRow> rows;
  for (const std::string& row : run(**merger, sources, feeding, &error)) {
    rows.push_back(decode(format, c.outputs, row));
  }
  if (!c.error.empty()) {
    EXPECT_NE(error.find(c.error), std::string::npos) << "error: '" << error << "', rows:\n" << show(rows);
    return;
  }
  ASSERT_EQ(error, "");
  std::vector<TestRow> expected = c.rows;
  if (format == RowFormat::binary) {
    for (TestRow& row : expected) row = normal(c.outputs, std::move(row));
  }
  EXPECT_EQ(show(rows), show(expected));
}

TEST(Cases, AllFiles) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("router/merge/tests/cases")) {
    if (entry.path().filename() == "README.txt") continue;
    for (const Case& c : read_cases(entry.path())) {
      for (const RowFormat format : c.formats) {
        for (const Feeding feeding : {Feeding::asked, Feeding::ahead, Feeding::in_turn}) {
          SCOPED_TRACE(entry.path().string() + ":" + std::to_string(c.line) + " " + c.title +
                       (format == RowFormat::text ? " (text" : " (binary") + ", feeding " +
                       std::to_string(static_cast<int>(feeding)) + ")");
          check(c, format, feeding);
        }
      }
      ++count;
    }
  }
  EXPECT_GT(count, 50U);
}

}  // namespace
}  // namespace evenkeel::merge::testing
