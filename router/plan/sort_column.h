// How rows of several statements are put in order by a column: which expression a statement must return for
// it, and how two of its cells compare.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "router/catalog/catalog.h"
#include "router/merge/spec.h"

namespace evenkeel::plan {

struct SortColumn {
  // Empty: the column's own cells compare as the servers do. Else this expression's cells do, in a hidden
  // column.
  std::string hidden;
  merge::Comparison comparison = merge::Comparison::signed_integer;
};

// `qualified_name`: the column as the statement can name it. Errors: a type or collation whose order can't be
// had; `clause` ("ORDER BY", "GROUP BY") stands in the message.
Result<SortColumn> sort_column(const catalog::Column& column, std::string_view qualified_name,
                               std::string_view clause);

// How MIN and MAX of the column compare; nullopt when they can't be merged.
std::optional<merge::Comparison> extreme_comparison(const catalog::Column& column);

}  // namespace evenkeel::plan
