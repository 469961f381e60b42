#include "proxy/protocol/rows.h"

namespace evenkeel::protocol {
namespace {

// The null bits of a binary row begin at bit 2, behind the packet's zero byte.
constexpr size_t null_bit_offset = 2;

size_t null_bytes(size_t columns) { return (columns + null_bit_offset + 7) / 8; }

void set_null(std::string& out, size_t bitmap, size_t column) {
  const size_t bit = column + null_bit_offset;
  out[bitmap + bit / 8] = static_cast<char>(static_cast<uint8_t>(out[bitmap + bit / 8]) | (1u << (bit % 8)));
}

}  // namespace

BinaryRow::BinaryRow(std::string_view payload, std::span<const WireType> types)
    : reader_(payload), types_(types) {
  if (reader_.int1() != 0) reader_.set_bad();
  nulls_ = reader_.bytes(null_bytes(types.size()));
}

bool BinaryRow::next(Cell& cell) {
  if (!reader_.ok()) return false;
  if (column_ == types_.size()) {
    if (!reader_.at_end()) reader_.set_bad();
    return false;
  }
  const size_t bit = column_ + null_bit_offset;
  const mysql::ColumnType type = types_[column_++].type;
  if ((static_cast<uint8_t>(nulls_[bit / 8]) >> (bit % 8) & 1) != 0) {
    cell = std::nullopt;
    return true;
  }
  cell = take_binary_cell(reader_, type);
  return reader_.ok();
}

void append_text_row(WireWriter& out, std::span<const mysql::Value> values) {
  std::string text;
  for (const mysql::Value& value : values) {
    if (value.is_null()) {
      out.null_mark();
      continue;
    }
    text.clear();
    append_text_value(text, value);
    out.lenenc_string(text);
  }
}

void append_binary_row(WireWriter& out, std::span<const mysql::Value> values,
                       std::span<const WireType> types) {
  if (values.size() != types.size())
    return out.set_error(internal_error("a row with another number of columns"));
  out.int1(0);
  const size_t bitmap = out.out().size();
  out.zeros(null_bytes(values.size()));
  for (size_t i = 0; i < values.size() && out.ok(); ++i) {
    if (values[i].is_null()) {
      set_null(out.out(), bitmap, i);
    } else {
      write_binary_value(out, values[i], types[i]);
    }
  }
}

Status text_row_of_binary(std::string& out, std::string_view binary_row, std::span<const WireType> types,
                          std::span<const uint8_t> decimals) {
  WireWriter writer(out);
  BinaryRow row(binary_row, types);
  std::string text;
  size_t column = 0;
  for (Cell cell; row.next(cell); ++column) {
    if (!cell) {
      writer.null_mark();
      continue;
    }
    text.clear();
    EVENKEEL_TRY(append_text_of_binary(text, *cell, types[column], decimals[column]));
    writer.lenenc_string(text);
  }
  if (!row.ok()) return fail(malformed("binary row"));
  return {};
}

Status binary_row_of_text(std::string& out, std::string_view text_row, std::span<const WireType> types) {
  WireWriter writer(out);
  writer.int1(0);
  const size_t bitmap = out.size();
  writer.zeros(null_bytes(types.size()));
  TextRow row(text_row);
  size_t column = 0;
  for (Cell cell; row.next(cell); ++column) {
    if (column == types.size()) return fail(malformed("text row with more cells than columns"));
    if (cell) {
      EVENKEEL_TRY(append_binary_of_text(writer, *cell, types[column]));
    } else {
      set_null(out, bitmap, column);
    }
  }
  if (!row.ok() || column != types.size()) return fail(malformed("text row"));
  return {};
}

}  // namespace evenkeel::protocol
