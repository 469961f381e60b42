#include "router/plan/sort_column.h"

#include <fmt/format.h>

#include "router/plan/collation_rules.h"

namespace evenkeel::plan {
namespace {

using merge::Comparison;
using mysql::ColumnType;

// Servers sort by so many bytes of a value (max_sort_length) and no further.
constexpr uint32_t sorted_bytes_max = 1024;

bool is_binary_string(const catalog::Column& column) {
  return (column.type_text.starts_with("binary") || column.type_text.starts_with("varbinary")) &&
         column.char_length <= sorted_bytes_max;
}

bool is_character_string(const catalog::Column& column) {
  return column.type_text.starts_with("char") || column.type_text.starts_with("varchar");
}

std::optional<Comparison> own_comparison(const catalog::Column& column) {
  switch (column.type) {
    case ColumnType::tiny:
    case ColumnType::short_:
    case ColumnType::int24:
    case ColumnType::long_:
    case ColumnType::longlong:
      return column.is_unsigned ? Comparison::unsigned_integer : Comparison::signed_integer;
    case ColumnType::year:
      return Comparison::unsigned_integer;
    case ColumnType::decimal:
    case ColumnType::newdecimal:
      return Comparison::decimal;
    case ColumnType::double_:
      return Comparison::real;
    case ColumnType::date:
    case ColumnType::datetime:
    case ColumnType::time:
      return Comparison::temporal;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<SortColumn> sort_column(const catalog::Column& column, std::string_view name,
                               std::string_view clause) {
  if (const auto comparison = own_comparison(column)) return SortColumn{{}, *comparison};
  switch (column.type) {
    // As text a FLOAT has six digits: different values look equal.
    case ColumnType::float_:
      return SortColumn{fmt::format("{}+0e0", name), Comparison::real};
    // Local time is not in order where clocks go back. Without a fraction the function gives a BIGINT.
    case ColumnType::timestamp:
      return SortColumn{fmt::format("UNIX_TIMESTAMP({})+0.0", name), Comparison::decimal};
    // Ordered by index and bits, not by text.
    case ColumnType::enum_:
    case ColumnType::set:
    case ColumnType::bit:
      return SortColumn{fmt::format("CAST({} AS UNSIGNED)", name), Comparison::unsigned_integer};
    default:
      break;
  }
  if (is_binary_string(column)) return SortColumn{{}, Comparison::bytes};
  if (is_character_string(column)) {
    if (auto weight = weight_expression(column, name))
      return SortColumn{std::move(*weight), Comparison::bytes};
  }
  return fail(unsupported(fmt::format("{} column '{}' of type {} with collation {} over several tables",
                                      clause, column.name, column.type_text, column.collation_name)));
}

std::optional<Comparison> extreme_comparison(const catalog::Column& column) {
  if (const auto comparison = own_comparison(column)) return comparison;
  if (column.type == ColumnType::float_) return Comparison::real;
  if (column.type == ColumnType::timestamp) return Comparison::temporal;
  if (is_binary_string(column)) return Comparison::bytes;
  return std::nullopt;
}

}  // namespace evenkeel::plan
