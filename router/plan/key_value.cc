#include "router/plan/key_value.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "router/plan/collation_rules.h"
#include "router/rule/date_text.h"

namespace evenkeel::plan {
namespace {

using mysql::ColumnType;
using mysql::Value;
using Kind = mysql::Value::Kind;

struct Integer {
  __int128 value = 0;
  bool exact_number = true;  // no double
};

// -?digits, or -?digits.0…: the forms that both servers read as one integer without a remark.
std::optional<__int128> integer_of_text(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 30) return std::nullopt;
  std::string_view rest = text.substr(digits);
  if (!rest.empty()) {
    if (rest[0] != '.' || rest.find_first_not_of('0', 1) != std::string_view::npos) return std::nullopt;
  }
  __int128 value = 0;
  for (const char digit : text.substr(0, digits)) value = value * 10 + (digit - '0');
  return negative ? -value : value;
}

std::optional<Integer> integer_of(const Value& constant) {
  switch (constant.kind()) {
    case Kind::int64:
      return Integer{constant.as_int64()};
    case Kind::uint64:
      return Integer{static_cast<__int128>(constant.as_uint64())};
    case Kind::decimal:
      if (const auto value = integer_of_text(constant.text())) return Integer{*value};
      return std::nullopt;
    case Kind::real:
    case Kind::single_real: {
      const double value = constant.as_real();
      if (!(std::fabs(value) < static_cast<double>(exact_double_bound)) || value != std::trunc(value)) {
        return std::nullopt;
      }
      return Integer{static_cast<int64_t>(value), false};
    }
    case Kind::string:
      // Against the manual, both servers compare an integer column with a constant text as integers.
      if (const auto value = integer_of_text(constant.text())) return Integer{*value};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool is_sized_string(const catalog::Column& column) {
  return column.type == ColumnType::string || column.type == ColumnType::var_string ||
         column.type == ColumnType::varchar;
}

bool is_char(const catalog::Column& column) { return column.type == ColumnType::string; }
bool is_binary_string(const catalog::Column& column) { return column.collation_name == "binary"; }

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

// The bytes of `text`, written in the connection's set, are those that the column holds.
bool same_bytes(const catalog::Column& column, std::string_view text, const TextFacts& facts) {
  const std::string_view column_set = charset_of(column.collation_name);
  if (facts.introduced || !is_ascii_superset(column_set)) return false;
  if (is_ascii(text)) return true;
  if (facts.charset.empty()) return false;
  return column_set == "binary" || column_set == facts.charset ||
         (column_set == "utf8mb4" && facts.charset == "utf8mb3");
}

// As the column's comparison sees it, which is what the algorithms hash.
std::string_view without_padding(const catalog::Column& column, std::string_view text) {
  const bool cuts = !is_binary_string(column) && (pads_blanks(column.collation_name) || is_char(column));
  if (cuts) text = text.substr(0, text.find_last_not_of(' ') + 1);
  return text;
}

size_t characters(const catalog::Column& column, std::string_view text) {
  if (!charset_of(column.collation_name).starts_with("utf8")) return text.size();
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

KeyMatch match_integer(const catalog::Column& column, const IntegerRange& range, const Value& constant) {
  KeyMatch match;
  const auto integer = integer_of(constant);
  if (!integer) return match;
  match.compared_as_double = !integer->exact_number;
  const __int128 value = integer->value;
  if (match.compared_as_double && (value >= exact_double_bound || value <= -exact_double_bound)) return match;
  if (value < range.lowest || value > range.highest) {
    // Integers are compared exactly, whatever their signs; for the rest the rules differ between servers.
    if (constant.is_integer()) match.fit = KeyFit::matches_nothing;
    return match;
  }
  match.fit = KeyFit::exact;
  match.value = integer_key(column, value);
  return match;
}

// TIMESTAMP is none: what it stores depends on the session's time zone.
bool is_date(const catalog::Column& column) {
  return column.type == ColumnType::date || column.type == ColumnType::datetime;
}

// The constant as a DATE or DATETIME column holds it, in the one text form that both servers read alike.
std::optional<Value> date_key(const catalog::Column& column, const Value& constant, const TextFacts& text) {
  const bool readable = constant.kind() == Kind::date || constant.kind() == Kind::datetime ||
                        (constant.kind() == Kind::string && !text.introduced);
  const auto time = readable ? rule::parse_date_time(constant.text()) : std::nullopt;
  if (!time) return std::nullopt;
  if (column.type == ColumnType::date) {
    if (time->has_time) return std::nullopt;
    return Value::temporal(Kind::date, constant.text());
  }
  // More decimals than the column has are rounded when stored.
  if (time->decimals > column.decimals) return std::nullopt;
  return Value::temporal(Kind::datetime, time->has_time ? constant.text() : constant.text() + " 00:00:00");
}

Error not_exact(const catalog::Column& column, const Value& constant) {
  return unsupported(fmt::format(
      "value of type {} for sharding column '{}' of type {}: a row is stored where its value says, so "
      "the value must be exactly one of that type",
      to_string(constant.kind()), column.name,
      column.type_text.empty() ? std::string(to_string(column.type)) : column.type_text));
}

}  // namespace

std::optional<IntegerRange> integer_range(const catalog::Column& column) {
  int bits = 0;
  switch (column.type) {
    case ColumnType::tiny:
      bits = 8;
      break;
    case ColumnType::short_:
      bits = 16;
      break;
    case ColumnType::int24:
      bits = 24;
      break;
    case ColumnType::long_:
      bits = 32;
      break;
    case ColumnType::longlong:
      bits = 64;
      break;
    default:
      return std::nullopt;
  }
  const __int128 one = 1;
  if (column.is_unsigned) return IntegerRange{0, (one << bits) - 1};
  return IntegerRange{-(one << (bits - 1)), (one << (bits - 1)) - 1};
}

Value integer_key(const catalog::Column& column, __int128 value) {
  return column.is_unsigned ? Value::uint64(static_cast<uint64_t>(value))
                            : Value::int64(static_cast<int64_t>(value));
}

bool can_be_key(const catalog::Column& column) {
  return integer_range(column) || is_date(column) ||
         (is_sized_string(column) && compares_by_code(column.collation_name) &&
          is_ascii_superset(charset_of(column.collation_name)));
}

bool same_key_family(const catalog::Column& left, const catalog::Column& right) {
  if (!can_be_key(left) || !can_be_key(right)) return false;
  if (integer_range(left)) return integer_range(right) && left.is_unsigned == right.is_unsigned;
  if (is_date(left)) return left.type == right.type;
  return left.collation_name == right.collation_name && left.type == right.type;
}

KeyMatch match_key(const catalog::Column& column, const Value& constant, const TextFacts& text) {
  if (constant.is_null()) return {KeyFit::matches_nothing, {}, false};
  if (const auto range = integer_range(column)) return match_integer(column, *range, constant);
  if (!can_be_key(column)) return {};
  if (is_date(column)) {
    auto key = date_key(column, constant, text);
    if (!key) return {};
    return {KeyFit::exact, std::move(*key), false};
  }
  if (constant.kind() == Kind::string && same_bytes(column, constant.text(), text)) {
    return {KeyFit::exact, Value::string(std::string(without_padding(column, constant.text()))), false};
  }
  if (constant.kind() == Kind::bytes) {
    return {KeyFit::exact, Value::string(std::string(without_padding(column, constant.text()))), false};
  }
  return {};
}

Result<Value> stored_key(const catalog::Column& column, const Value& constant, const TextFacts& text) {
  if (constant.is_null()) {
    return fail(make_error(ErrorKind::statement, mysql::er::bad_null,
                           fmt::format("Column '{}' cannot be null", column.name)));
  }
  if (const auto range = integer_range(column)) {
    const auto integer = integer_of(constant);
    if (!integer) return fail(not_exact(column, constant));
    if (integer->value < range->lowest || integer->value > range->highest) {
      return fail(make_error(ErrorKind::statement, mysql::er::warn_data_out_of_range,
                             fmt::format("Out of range value for column '{}'", column.name)));
    }
    return integer_key(column, integer->value);
  }
  if (is_date(column)) {
    auto key = date_key(column, constant, text);
    if (!key) return fail(not_exact(column, constant));
    return std::move(*key);
  }
  if (!can_be_key(column)) {
    return fail(unsupported(
        fmt::format("sharding column '{}' of type {}: only integers, DATE, DATETIME and strings of a "
                    "binary or _bin collation say where a row is",
                    column.name, column.type_text)));
  }
  const bool is_text = constant.kind() == Kind::string && same_bytes(column, constant.text(), text);
  if (!is_text && constant.kind() != Kind::bytes) return fail(not_exact(column, constant));
  if (constant.kind() == Kind::bytes && !is_binary_string(column) && !is_ascii(constant.text())) {
    return fail(not_exact(column, constant));
  }
  const size_t length = characters(column, constant.text());
  // BINARY(n) is filled up with zero bytes: other bytes than those that were written.
  const bool filled_up = is_char(column) && is_binary_string(column) && length != column.char_length;
  if (length > column.char_length || filled_up) return fail(not_exact(column, constant));
  return Value::string(std::string(without_padding(column, constant.text())));
}

bool is_exact_zero(const Value& constant) {
  const auto integer = integer_of(constant);
  return integer && integer->value == 0;
}

}  // namespace evenkeel::plan
