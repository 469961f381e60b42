// Names in a query block: which table a column belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "router/plan/analysis.h"
#include "router/sql/ast.h"

namespace evenkeel::plan {

bool same_name(std::string_view left, std::string_view right);  // letter case aside

struct Source {
  std::string_view shown;       // alias or table name
  std::string_view schema;      // of a table without an alias
  std::optional<uint32_t> use;  // sharded; else its columns are not known
};

struct Block {
  std::optional<uint32_t> parent;
  std::vector<Source> sources;
  // Columns of USING: unqualified they are those of the leftmost table.
  std::vector<std::string_view> using_columns;
  // NATURAL, or USING with a right or full join: what an unqualified name stands for is not told.
  bool merges_unknown_columns = false;
};

// The sharded table that `column` (kind column or star) belongs to, searching from `block` outwards. Nullopt
// when it is another table's, ambiguous, or not known.
std::optional<uint32_t> find_use(const std::vector<Block>& blocks, uint32_t block,
                                 const std::vector<TableUse>& uses, const sql::Expr& column);

}  // namespace evenkeel::plan
