// Every limit that is not a setting, with its reason. Past a limit: a clear error, never a crash.
#pragma once

#include <cstddef>
#include <cstdint>

namespace evenkeel::limits {

// One wire frame carries at most 2^24-1 bytes; longer packets continue in the next frame.
inline constexpr size_t frame_payload_max = 0xffffff;
// Nesting of expressions, subqueries and parentheses in one statement (a guard for the stack).
inline constexpr int sql_depth_max = 200;
// Height of a parsed expression or chain of set operations: `1+1+…` and `SELECT … UNION SELECT …` are nested
// in the tree without being nested in the text, and walks over the tree recurse.
inline constexpr int sql_height_max = 1000;
// Tokens of one statement; a 64 MiB multi-row INSERT of short values has fewer.
inline constexpr size_t sql_tokens_max = 16'000'000;
// Members of one UNION ALL sent to an instance.
inline constexpr size_t union_branches_max = 128;
// Parameters of one prepared statement (the count is 16 bits on the wire).
inline constexpr size_t parameters_max = 65'535;
// Slots of one logical table.
inline constexpr uint32_t slots_max = 65'536;
// A key range (BETWEEN, < and >) is enumerated into slots up to this many values; wider ones scatter.
inline constexpr uint64_t key_range_span_max = 1024;

}  // namespace evenkeel::limits
