// Single cells as numbers and times: read for comparing and adding, written as MySQL writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "router/merge/row.h"

namespace evenkeel::merge {

// All readers: false when the bytes are not a value of the column's type in this format.

// Integer columns, YEAR included. `bits` holds an int64_t, or a uint64_t when the column is unsigned.
bool read_integer(RowFormat format, const ColumnFacts& column, std::string_view value, uint64_t& bits);

// FLOAT and DOUBLE columns.
bool read_real(RowFormat format, const ColumnFacts& column, std::string_view value, double& real);

// DATE, DATETIME, TIMESTAMP, TIME: a number whose order is the order of time. Microseconds count; a binary
// value cut short at the day or the second equals the full one; zero dates and negative TIME included.
// Numbers of one column compare with each other, those of TIME not with those of dates.
bool read_temporal(RowFormat format, const ColumnFacts& column, std::string_view value, int64_t& order);

// `decimals` >= 31: shortest digits that give the value back (six digits for FLOAT), plain notation for
// decimal exponents from -15 to 14, else 1.5e-16; fewer: that many digits after the point.
void write_real(double real, mysql::ColumnType type, uint8_t decimals, std::string& text);

// Decimals below this are a fixed count; from here on "as many as needed" (31 from MySQL, 39 from MariaDB).
inline constexpr uint8_t decimals_not_fixed = 31;

}  // namespace evenkeel::merge
