#include "router/plan/scope.h"

#include <algorithm>
#include <strings.h>

namespace evenkeel::plan {
namespace {

struct Found {
  uint32_t count = 0;
  std::optional<uint32_t> use;
};

Found find_qualified(const Block& block, const sql::Expr& column) {
  Found found;
  for (const Source& source : block.sources) {
    if (!same_name(source.shown, column.table.text)) continue;
    if (column.schema && !same_name(source.schema, column.schema.text)) continue;
    ++found.count;
    found.use = source.use;
  }
  return found;
}

Found find_unqualified(const Block& block, const std::vector<TableUse>& uses, std::string_view name) {
  Found found;
  bool unknown_columns = false;
  for (const Source& source : block.sources) {
    if (!source.use) {
      unknown_columns = true;
    } else if (uses[*source.use].table->find_column(name) != nullptr) {
      if (found.count++ == 0) found.use = source.use;
    }
  }
  const bool merged = std::any_of(block.using_columns.begin(), block.using_columns.end(),
                                  [&](std::string_view column) { return same_name(column, name); });
  if (merged && found.count > 1) found.count = 1;
  // Not in the tables that are known: in one that is not, or further out; either way not told.
  if (found.count == 0 && unknown_columns) found = {1, std::nullopt};
  return found;
}

}  // namespace

bool same_name(std::string_view left, std::string_view right) {
  return left.size() == right.size() && strncasecmp(left.data(), right.data(), left.size()) == 0;
}

std::optional<uint32_t> find_use(const std::vector<Block>& blocks, uint32_t block,
                                 const std::vector<TableUse>& uses, const sql::Expr& column) {
  std::optional<uint32_t> at = block;
  while (at) {
    const Block& scope = blocks[*at];
    const Found found =
        column.table ? find_qualified(scope, column) : find_unqualified(scope, uses, column.column.text);
    if (found.count == 1) {
      if (!column.table && scope.merges_unknown_columns) return std::nullopt;
      return found.use;
    }
    if (found.count > 1) return std::nullopt;
    at = scope.parent;
  }
  return std::nullopt;
}

}  // namespace evenkeel::plan
