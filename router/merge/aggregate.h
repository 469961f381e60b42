// One aggregate of a group: partial results of the units go in, the whole group's value comes out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "router/merge/decimal.h"
#include "router/merge/keys.h"
#include "router/merge/row.h"
#include "router/merge/spec.h"

namespace evenkeel::merge {

// The state of one output column. COUNT is never NULL; SUM, MIN, MAX and AVG of nothing but NULLs are NULL.
class Aggregate {
 public:
  // Errors: columns out of range, a comparison or an output type that does not fit.
  static Result<Aggregate> make(const OutputColumn& column, RowFormat format,
                                const std::vector<ColumnFacts>& inputs, const ColumnFacts& output);

  // A new group whose first row is `cells`; the row must stay as it is until the group is finished.
  void start();
  // Errors: a cell that is not a value of its type, overflow.
  Status add(const std::vector<Cell>& cells);
  // `first`: the cells of the group's first row; null when the group has no row at all.
  Status write(const std::vector<Cell>* first, RowBuilder& row);
  // Bytes kept for MIN and MAX.
  size_t held() const { return best_bytes_.size(); }

 private:
  Aggregate(const OutputColumn& column, RowFormat format, const std::vector<ColumnFacts>& inputs,
            const ColumnFacts& output);

  bool exact() const { return !mysql::is_floating(input_.type); }
  Status add_count(const Cell& cell);
  Status add_sum(const Cell& cell);
  Status add_best(const Cell& cell);
  Status write_sum(RowBuilder& row);
  Status write_average(RowBuilder& row);
  Status write_whole(const Decimal& value, RowBuilder& row) const;
  void write_double(double value, RowBuilder& row);

  OutputColumn column_;
  RowFormat format_;
  ColumnFacts input_;
  ColumnFacts count_input_;
  ColumnFacts output_;

  bool any_ = false;  // a value that is not NULL was seen
  uint64_t count_ = 0;
  Decimal exact_sum_;
  double real_sum_ = 0;
  std::string best_bytes_;
  Cell best_;          // views best_bytes_
  KeyValue best_key_;  // views best_bytes_
  std::string text_;   // scratch
};

// Whether a cell of `from` can be written as one of `to`: the same layout, or a wider or narrower integer or
// real. In text rows the characters are the value, so everything fits.
bool can_recode(RowFormat format, const ColumnFacts& from, const ColumnFacts& to);
// Errors: an integer that does not fit.
Status recode(RowFormat format, const ColumnFacts& from, const ColumnFacts& to, const Cell& cell,
              RowBuilder& row);

Error malformed_row();

}  // namespace evenkeel::merge
