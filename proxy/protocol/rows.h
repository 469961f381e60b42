// Cells of result rows, in the text and the binary format, without copying.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/mysql/value.h"
#include "base/result.h"
#include "proxy/protocol/response_messages.h"
#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

// nullopt is NULL. Views into the row's payload.
using Cell = std::optional<std::string_view>;

// Walks the cells of a text row.
//   TextRow row(payload);
//   for (Cell cell; row.next(cell);) …
//   if (!row.ok()) the row was cut short
class TextRow {
 public:
  explicit TextRow(std::string_view payload) : reader_(payload) {}
  // False at the end and at the first malformed cell.
  bool next(Cell& cell) {
    if (reader_.at_end()) return false;
    cell = reader_.nullable_lenenc_string();
    return reader_.ok();
  }
  bool ok() const { return reader_.ok(); }

 private:
  WireReader reader_;
};

// Walks the cells of a binary row. A cell's bytes are its wire encoding: little-endian integers and floats,
// the temporals' fields, strings without their length.
class BinaryRow {
 public:
  // `types`: one a column, kept by the caller while the row is walked.
  BinaryRow(std::string_view payload, std::span<const WireType> types);
  bool next(Cell& cell);
  bool ok() const { return reader_.ok(); }

 private:
  WireReader reader_;
  std::span<const WireType> types_;
  std::string_view nulls_;
  size_t column_ = 0;
};

// Takes one binary value of this type from the reader (no NULL here); an unknown type sets the reader bad.
std::string_view take_binary_cell(WireReader& reader, mysql::ColumnType type);

// One cell as a Value. Text cells: integers by type and sign, DECIMAL its digits, temporals and strings their
// text
//. Error: text that is no number of that type.
Result<mysql::Value> value_of_text(Cell cell, WireType type);
Result<mysql::Value> value_of_binary(Cell cell, WireType type);

// One cell of the other format. FLOAT and DOUBLE are printed as MySQL prints them: `decimals` digits behind
// the point, or the shortest text when decimals is 31. A FLOAT that was text has lost digits already.
Status append_text_of_binary(std::string& out, std::string_view cell, WireType type, uint8_t decimals);
Status append_binary_of_text(WireWriter& out, std::string_view cell, WireType type);
// Whole rows; the payload is appended without a frame header.
Status append_text_row(std::string& out, std::string_view binary_row, std::span<const WireType> types,
                       std::span<const uint8_t> decimals);
Status append_binary_row(std::string& out, std::string_view text_row, std::span<const WireType> types);

// Rows from values. Text: integers and numbers as MySQL prints them. Binary: each value must fit its column
// type.
void append_text_row(WireWriter& out, std::span<const mysql::Value> values);
void append_binary_row(WireWriter& out, std::span<const mysql::Value> values,
                       std::span<const WireType> types);

// The binary encoding of one value as this type, NULL excepted; sets the writer's error when it does not fit.
void write_binary_value(WireWriter& out, const mysql::Value& value, WireType type);

// Numbers as MySQL prints them: "1e20", "0.1", "-0".
void append_double(std::string& out, double value, uint8_t decimals = 31);
void append_float(std::string& out, float value, uint8_t decimals = 31);

}  // namespace evenkeel::protocol
