// One cell or parameter between its binary encoding, its text and a Value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/mysql/value.h"
#include "base/result.h"
#include "proxy/protocol/response_messages.h"
#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

// nullopt is NULL. Views into the row's payload.
using Cell = std::optional<std::string_view>;

// Whether this program knows the binary encoding of the type.
bool is_wire_type(mysql::ColumnType type);

// Takes one binary value of this type from the reader (no NULL here): the bytes of an integer or float, the
// fields of a temporal and the text of a string without their length. A type that is not known sets the
// reader bad.
std::string_view take_binary_cell(WireReader& reader, mysql::ColumnType type);

// One cell as a Value. Integers by their sign, DECIMAL its digits, temporals the text that MySQL would print,
// BLOB types, BIT and GEOMETRY Kind::bytes, all else Kind::string. Error (kind protocol): bytes that are no
// value of the type.
Result<mysql::Value> value_of_text(Cell cell, WireType type);
Result<mysql::Value> value_of_binary(Cell cell, WireType type);

// One cell of the other format. Numbers and temporals are printed as MySQL prints them: `decimals` digits
// behind the point, or the shortest text when decimals is 31 (a column definition's own field). A FLOAT that
// was text has lost digits already.
Status append_text_of_binary(std::string& out, std::string_view cell, WireType type, uint8_t decimals);
Status append_binary_of_text(WireWriter& out, std::string_view cell, WireType type);

// The binary encoding of a value that is not NULL; sets the writer's error when it does not fit the type.
void write_binary_value(WireWriter& out, const mysql::Value& value, WireType type);
// The text of a value that is not NULL, as MySQL would print it.
void append_text_value(std::string& out, const mysql::Value& value);

// Numbers as MySQL prints them: "1e20", "0.1", "-0".
void append_double(std::string& out, double value, uint8_t decimals = 31);
void append_float(std::string& out, float value, uint8_t decimals = 31);

}  // namespace evenkeel::protocol
