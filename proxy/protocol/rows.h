// The cells of result rows, in the text and the binary format, without copying; and rows made from values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/mysql/value.h"
#include "base/result.h"
#include "proxy/protocol/cells.h"
#include "proxy/protocol/response_messages.h"
#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

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

// Walks the cells of a binary row; a cell's bytes are as take_binary_cell gives them.
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

// Rows from values; the payload is appended without a frame header.
void append_text_row(WireWriter& out, std::span<const mysql::Value> values);
// Each value must fit its column type.
void append_binary_row(WireWriter& out, std::span<const mysql::Value> values,
                       std::span<const WireType> types);

// Rows of the other format. `types` (and `decimals`, of the column definitions): one a column.
Status text_row_of_binary(std::string& out, std::string_view binary_row, std::span<const WireType> types,
                          std::span<const uint8_t> decimals);
Status binary_row_of_text(std::string& out, std::string_view text_row, std::span<const WireType> types);

}  // namespace evenkeel::protocol
