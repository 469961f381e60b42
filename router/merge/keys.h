// The keys of a merge, read from a row and compared: NULLs first when ascending, as MySQL orders them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/merge/decimal.h"
#include "router/merge/row.h"
#include "router/merge/spec.h"

namespace evenkeel::merge {

// One cell made ready for comparing. Views point into the row it was read from.
struct KeyValue {
  bool null = false;
  int64_t number = 0;  // integers (unsigned ones moved into signed order) and temporals
  double real = 0;
  DecimalText decimal;     // decimals
  std::string_view bytes;  // bytes, padded_bytes
};

// Whether values of `column` can be compared so in rows of this format. Integers follow the column's own
// signedness, whichever of the two integer comparisons is named. `exact`: equal must mean equal, as for ORDER
// BY and GROUP BY; a FLOAT in a text row, printed with six digits, then does not fit.
Status check_comparison(Comparison comparison, RowFormat format, const ColumnFacts& column, bool exact);

// False: the cell is not a value of the column's type.
bool read_key(Comparison comparison, RowFormat format, const ColumnFacts& column, const Cell& cell,
              KeyValue& key);
// Neither is NULL: <0, 0, >0.
int compare_values(Comparison comparison, const KeyValue& a, const KeyValue& b);

// The keys of one merge. Immutable.
class Keys {
 public:
  // Errors as check_comparison; a key column out of range.
  static Result<Keys> make(std::vector<SortKey> keys, RowFormat format,
                           const std::vector<ColumnFacts>& columns);

  size_t size() const { return keys_.size(); }
  // Cells 0 .. cells_needed()-1 hold all keys.
  size_t cells_needed() const { return cells_needed_; }
  // From cells already split. `values` has size() elements.
  bool read(RowFormat format, const std::vector<ColumnFacts>& columns, const std::vector<Cell>& cells,
            std::span<KeyValue> values) const;
  int compare(std::span<const KeyValue> a, std::span<const KeyValue> b) const;

 private:
  explicit Keys(std::vector<SortKey> keys);

  std::vector<SortKey> keys_;
  size_t cells_needed_ = 0;
};

}  // namespace evenkeel::merge
