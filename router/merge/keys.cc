#include "router/merge/keys.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "router/merge/scalar.h"

namespace evenkeel::merge {

using mysql::ColumnType;

namespace {

std::string_view name_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::signed_integer:
      return "signed_integer";
    case Comparison::unsigned_integer:
      return "unsigned_integer";
    case Comparison::decimal:
      return "decimal";
    case Comparison::real:
      return "real";
    case Comparison::temporal:
      return "temporal";
    case Comparison::bytes:
      return "bytes";
    case Comparison::padded_bytes:
      return "padded_bytes";
  }
  return "unknown";
}

bool fits(Comparison comparison, ColumnType type) {
  switch (comparison) {
    case Comparison::signed_integer:
    case Comparison::unsigned_integer:
      return mysql::is_integer(type);
    case Comparison::decimal:
      return mysql::is_decimal(type);
    case Comparison::real:
      return mysql::is_floating(type);
    case Comparison::temporal:
      return mysql::is_temporal(type);
    case Comparison::bytes:
      return wire_shape(type) == WireShape::counted && !mysql::is_decimal(type);
    case Comparison::padded_bytes:
      return mysql::is_string(type);
  }
  return false;
}

template <typename T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// As if the shorter one went on with blanks.
int compare_padded(std::string_view a, std::string_view b) {
  const size_t common = std::min(a.size(), b.size());
  if (const int order = a.substr(0, common).compare(b.substr(0, common)); order != 0) return order;
  const std::string_view rest = a.size() > common ? a.substr(common) : b.substr(common);
  for (const char c : rest) {
    if (c == ' ') continue;
    const bool rest_is_less = static_cast<unsigned char>(c) < ' ';
    return (a.size() > common) == rest_is_less ? -1 : 1;
  }
  return 0;
}

// char_traits<char>::compare, and so string_view::compare, orders by unsigned bytes as memcmp does.
int compare_bytes(std::string_view a, std::string_view b) { return a.compare(b); }

}  // namespace

Status check_comparison(Comparison comparison, RowFormat format, const ColumnFacts& column, bool exact) {
  if (column.type == ColumnType::null) return {};  // nothing but NULLs
  if (!fits(comparison, column.type)) {
    return fail(internal_error(fmt::format("merge: a {} column cannot be compared as {}",
                                           mysql::to_string(column.type), name_of(comparison))));
  }
  const bool rounded =
      format == RowFormat::text && column.type == ColumnType::float_ && column.decimals >= decimals_not_fixed;
  if (exact && rounded) {
    return fail(
        unsupported("ORDER BY or GROUP BY over several instances by a FLOAT in the text protocol, which "
                    "shows six digits of it; "
                    "use a prepared statement, or order by the column + 0e0"));
  }
  return {};
}

bool read_key(Comparison comparison, RowFormat format, const ColumnFacts& column, const Cell& cell,
              KeyValue& key) {
  key.null = cell.null;
  if (cell.null) return true;
  switch (comparison) {
    case Comparison::signed_integer:
    case Comparison::unsigned_integer: {
      uint64_t bits = 0;
      if (!read_integer(format, column, cell.value, bits)) return false;
      const bool is_unsigned = column.is_unsigned || column.type == ColumnType::year;
      key.number = static_cast<int64_t>(is_unsigned ? bits ^ uint64_t{1} << 63 : bits);
      return true;
    }
    case Comparison::decimal: {
      const auto decimal = read_decimal(cell.value);
      if (!decimal) return false;
      key.decimal = *decimal;
      return true;
    }
    case Comparison::real:
      return read_real(format, column, cell.value, key.real);
    case Comparison::temporal:
      return read_temporal(format, column, cell.value, key.number);
    case Comparison::bytes:
    case Comparison::padded_bytes:
      key.bytes = cell.value;
      return true;
  }
  return false;
}

int compare_values(Comparison comparison, const KeyValue& a, const KeyValue& b) {
  switch (comparison) {
    case Comparison::signed_integer:
    case Comparison::unsigned_integer:
    case Comparison::temporal:
      return three_way(a.number, b.number);
    case Comparison::decimal:
      return compare(a.decimal, b.decimal);
    case Comparison::real:
      return three_way(a.real, b.real);
    case Comparison::bytes:
      return compare_bytes(a.bytes, b.bytes);
    case Comparison::padded_bytes:
      return compare_padded(a.bytes, b.bytes);
  }
  return 0;
}

Keys::Keys(std::vector<SortKey> keys) : keys_(std::move(keys)) {
  for (const SortKey& key : keys_) cells_needed_ = std::max<size_t>(cells_needed_, key.column + size_t{1});
}

Result<Keys> Keys::make(std::vector<SortKey> keys, RowFormat format,
                        const std::vector<ColumnFacts>& columns) {
  for (const SortKey& key : keys) {
    if (key.column >= columns.size()) {
      return fail(internal_error(
          fmt::format("merge: key column {} of a result with {} columns", key.column, columns.size())));
    }
    EVENKEEL_TRY(check_comparison(key.comparison, format, columns[key.column], true));
  }
  return Keys(std::move(keys));
}

bool Keys::read(RowFormat format, const std::vector<ColumnFacts>& columns, const std::vector<Cell>& cells,
                std::span<KeyValue> values) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    const uint16_t column = keys_[i].column;
    if (!read_key(keys_[i].comparison, format, columns[column], cells[column], values[i])) return false;
  }
  return true;
}

int Keys::compare(std::span<const KeyValue> a, std::span<const KeyValue> b) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    const bool both = !a[i].null && !b[i].null;
    const int order =
        both ? compare_values(keys_[i].comparison, a[i], b[i]) : int{b[i].null} - int{a[i].null};
    if (order != 0) return keys_[i].descending ? -order : order;
  }
  return 0;
}

}  // namespace evenkeel::merge
