// Result rows as they come off the wire, text (COM_QUERY) and binary (COM_STMT_EXECUTE): splitting into
// cells and building. Payloads only, without the frame header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/types.h"

namespace evenkeel::merge {

enum class RowFormat : uint8_t { text, binary };

// What is known of a result column from its definition packet.
struct ColumnFacts {
  mysql::ColumnType type = mysql::ColumnType::long_;
  bool is_unsigned = false;
  uint8_t decimals = 0;
  uint16_t collation = 63;
};

// How the bytes of a cell are laid out in a binary row.
enum class WireShape : uint8_t { none, fixed1, fixed2, fixed4, fixed8, temporal, counted };
WireShape wire_shape(mysql::ColumnType type);

// One cell of a row; views into the row.
struct Cell {
  bool null = false;
  uint8_t prefix = 0;      // bytes of the length that stand directly before `value` in the row
  std::string_view value;  // text: the characters; binary: the value's bytes without its length

  // Length and value, as they stand in the row.
  std::string_view raw() const { return {value.data() - prefix, value.size() + prefix}; }
};

// Splits rows of one result. Immutable, never allocates; every row is checked against its own size.
class RowReader {
 public:
  RowReader(RowFormat format, std::vector<ColumnFacts> columns);

  RowFormat format() const { return format_; }
  const std::vector<ColumnFacts>& columns() const { return columns_; }

  // Reads the first `count` cells into `cells` (at least that long) and gives the offset behind them; nullopt
  // when the row is malformed.
  std::optional<size_t> read(std::string_view row, size_t count, std::vector<Cell>& cells) const;
  // All cells; also malformed when bytes are left over.
  bool read_all(std::string_view row, std::vector<Cell>& cells) const;
  // Where the cells begin: behind the header and NULL bitmap of a binary row.
  size_t header_size() const { return format_ == RowFormat::text ? 0 : 1 + bitmap_size(columns_.size()); }

  static size_t bitmap_size(size_t columns) { return (columns + 9) / 8; }

 private:
  RowFormat format_;
  std::vector<ColumnFacts> columns_;
  std::vector<WireShape> shapes_;  // binary only
};

// Builds rows in memory that is reused.
class RowBuilder {
 public:
  explicit RowBuilder(RowFormat format) : format_(format) {}

  void begin(size_t columns);
  void add_null();
  // Length (if the column's shape has one) and value as they stood in another row.
  void add_raw(std::string_view raw);
  // A value that carries its length: every text cell, and strings and decimals of binary rows.
  void add_counted(std::string_view value);
  // The low `bytes` bytes of `bits`, little-endian; binary rows only.
  void add_fixed(uint64_t bits, size_t bytes);
  // A binary row of the first `columns` cells of `row`, which end at `end`.
  void cut(std::string_view row, size_t row_columns, size_t columns, size_t end);

  std::string_view row() const { return row_; }

 private:
  RowFormat format_;
  size_t column_ = 0;
  std::string row_;
};

}  // namespace evenkeel::merge
