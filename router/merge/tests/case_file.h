// Case files: specs and rows in, rows out. Their form is told in cases/README.txt.
#pragma once

#include <string>
#include <vector>

#include "router/merge/tests/test_rows.h"

namespace evenkeel::merge::testing {

struct Case {
  std::string title;
  int line = 0;
  Spec spec;
  std::vector<RowFormat> formats = {RowFormat::text, RowFormat::binary};
  std::vector<ColumnFacts> columns;
  std::vector<ColumnFacts> outputs;
  std::vector<std::vector<TestRow>> sources;
  std::vector<TestRow> rows;
  std::string error;  // part of the message; empty: none is expected
};

// Throws std::runtime_error naming file and line.
std::vector<Case> read_cases(const std::string& path);

}  // namespace evenkeel::merge::testing
