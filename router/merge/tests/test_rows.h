// Rows for tests: written and read by code that shares nothing with the room's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/merge/merger.h"

namespace evenkeel::merge::testing {

// A cell as text: what the text protocol would carry; nullopt is NULL.
using TestCell = std::optional<std::string>;
using TestRow = std::vector<TestCell>;

// "bigint", "int unsigned", "decimal(2)", "double", "double(3)", "datetime", "varchar", "bit" …
ColumnFacts column_of(std::string_view text);

std::string encode(RowFormat format, const std::vector<ColumnFacts>& columns, const TestRow& row);
// Reals of binary rows come back with 17 digits (normal_real).
TestRow decode(RowFormat format, const std::vector<ColumnFacts>& columns, std::string_view row);
// Reals as `decode` shows them, everything else as it is.
TestRow normal(const std::vector<ColumnFacts>& columns, TestRow row);

// Runs `merger` to its end, feeding `sources` in one of three ways: only what is asked for, everything ahead,
// or a row of each source in turn. Stops at an error, which goes to `error`.
enum class Feeding { asked, ahead, in_turn };
std::vector<std::string> run(Merger& merger, const std::vector<std::vector<std::string>>& sources,
                             Feeding feeding, std::string* error = nullptr);

}  // namespace evenkeel::merge::testing
