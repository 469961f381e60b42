// How the rows of several execution units become one result: a value inside a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/mysql/types.h"

namespace evenkeel::merge {

// How two cells of a column compare.
enum class Comparison : uint8_t {
  signed_integer,
  unsigned_integer,
  decimal,
  real,
  temporal,      // DATE, DATETIME, TIMESTAMP; TIME with sign
  bytes,         // memcmp, shorter first
  padded_bytes,  // as bytes, the shorter one padded by blanks (*_bin with PAD SPACE)
};

// One ORDER BY or GROUP BY key over a unit's result column. For strings ordered by a collation the planner
// adds a hidden WEIGHT_STRING column and `column` names that one with Comparison::bytes.
struct SortKey {
  uint16_t column = 0;
  bool descending = false;
  Comparison comparison = Comparison::signed_integer;
  bool operator==(const SortKey&) const = default;
};

// One output column of a grouped result.
struct OutputColumn {
  enum class What : uint8_t {
    first,  // the value of the group's first row (a group key, or functionally dependent)
    count,
    sum,
    min,
    max,
    avg,  // `column` holds the sums, `count_column` the counts of non-NULL values
  };
  What what = What::first;
  uint16_t column = 0;  // column of the unit's result
  uint16_t count_column = 0;
  Comparison comparison = Comparison::signed_integer;  // min, max
  bool operator==(const OutputColumn&) const = default;
};

enum class How : uint8_t {
  pass,     // one unit: rows go through undecoded
  concat,   // one unit after the other, undecoded
  ordered,  // k-way merge by `order`
  grouped,  // k-way merge by `group`, equal keys become one row by `outputs`; no group keys: one row in all
};

struct Spec {
  How how = How::pass;
  std::vector<SortKey> order;
  std::vector<SortKey> group;
  std::vector<OutputColumn> outputs;  // grouped only; one per visible column
  uint16_t visible_columns = 0;       // not grouped: columns beyond these are hidden; 0: all are visible
  uint64_t offset = 0;
  std::optional<uint64_t> limit;
  bool operator==(const Spec&) const = default;
};

}  // namespace evenkeel::merge
