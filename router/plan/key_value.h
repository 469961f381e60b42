// The values of a sharding column: what a row stores, and what a comparison can match.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/mysql/value.h"
#include "base/result.h"
#include "router/catalog/catalog.h"

namespace evenkeel::plan {

// How the text of string values was written.
struct TextFacts {
  std::string_view charset;  // of the connection; empty: unknown, so only ASCII is trusted
  bool introduced = false;   // the literal has an introducer or is N'…': its own character set
};

enum class KeyFit : uint8_t {
  exact,            // rows that match hold exactly `value`
  matches_nothing,  // no row can match
  inexact,          // rows holding other values may match too, or it is not known: all slots
};

// Rows for which `column = constant` holds, by MySQL's rules of comparison.
struct KeyMatch {
  KeyFit fit = KeyFit::inexact;
  mysql::Value value;               // exact: int64 for signed, uint64 for unsigned columns; string or bytes
  bool compared_as_double = false;  // the constant is a double, so an IN list holding it is compared so
};
KeyMatch match_key(const catalog::Column& column, const mysql::Value& constant, const TextFacts& text);

// What INSERT stores of `constant`, as `match_key` gives it; an error that names the column unless it is
// exactly what was written. NULL is an error: the caller knows whether it asks for a generated key.
Result<mysql::Value> stored_key(const catalog::Column& column, const mysql::Value& constant,
                                const TextFacts& text);

// True for the values that MySQL stores as 0 in an integer column, exactly: 0, 0.0, '0', FALSE.
bool is_exact_zero(const mysql::Value& constant);

// The largest integer below which every double is one integer: 2^53.
inline constexpr int64_t exact_double_bound = int64_t{1} << 53;

struct IntegerRange {
  __int128 lowest = 0;
  __int128 highest = 0;
};
// Nullopt for columns of other than integer types (YEAR, whose values are compared by rules of their own,
// counts among those).
std::optional<IntegerRange> integer_range(const catalog::Column& column);
// An integer as the column holds it.
mysql::Value integer_key(const catalog::Column& column, __int128 value);

// Whether the algorithms can tell slots from this column: integers, and strings compared by code.
bool can_be_key(const catalog::Column& column);
// Equal values of both columns are stored alike, so that they have one slot.
bool same_key_family(const catalog::Column& left, const catalog::Column& right);

}  // namespace evenkeel::plan
