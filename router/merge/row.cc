#include "router/merge/row.h"

#include <utility>

namespace evenkeel::merge {

using mysql::ColumnType;

namespace {

constexpr uint8_t null_cell = 0xfb;
constexpr size_t bitmap_offset = 2;  // the first two bits of a binary row's NULL bitmap are not used

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// A length-encoded integer at the head of `bytes`: its value and its own size; nullopt when cut off or not a
// length.
struct Length {
  uint64_t value;
  uint8_t size;
};
std::optional<Length> read_length(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto first = static_cast<uint8_t>(bytes[0]);
  if (first < null_cell) return Length{first, 1};
  const size_t extra = first == 0xfc ? 2 : first == 0xfd ? 3 : first == 0xfe ? 8 : 0;
  if (extra == 0 || bytes.size() < 1 + extra) return std::nullopt;
  return Length{little_endian(bytes.substr(1, extra)), static_cast<uint8_t>(1 + extra)};
}

// Takes a cell of the length `length` from `row` at `at`; what `length` itself takes is known to be there.
bool take(std::string_view row, Length length, size_t& at, Cell& cell) {
  if (length.value > row.size() - at - length.size) return false;
  cell = Cell{false, length.size, row.substr(at + length.size, length.value)};
  at += length.size + length.value;
  return true;
}

bool read_counted(std::string_view row, size_t& at, Cell& cell) {
  const auto length = read_length(row.substr(at));
  return length && take(row, *length, at, cell);
}

bool read_binary(std::string_view row, WireShape shape, size_t& at, Cell& cell) {
  switch (shape) {
    case WireShape::none:
      return false;  // a NULL column that is not NULL
    case WireShape::fixed1:
      return take(row, Length{1, 0}, at, cell);
    case WireShape::fixed2:
      return take(row, Length{2, 0}, at, cell);
    case WireShape::fixed4:
      return take(row, Length{4, 0}, at, cell);
    case WireShape::fixed8:
      return take(row, Length{8, 0}, at, cell);
    case WireShape::temporal:
    case WireShape::counted:
      return read_counted(row, at, cell);
  }
  return false;
}

bool bit_set(std::string_view row, size_t column) {
  const size_t bit = column + bitmap_offset;
  return (static_cast<uint8_t>(row[1 + bit / 8]) >> (bit % 8) & 1) != 0;
}

}  // namespace

WireShape wire_shape(ColumnType type) {
  switch (type) {
    case ColumnType::null:
      return WireShape::none;
    case ColumnType::tiny:
      return WireShape::fixed1;
    case ColumnType::short_:
    case ColumnType::year:
      return WireShape::fixed2;
    case ColumnType::long_:
    case ColumnType::int24:
    case ColumnType::float_:
      return WireShape::fixed4;
    case ColumnType::longlong:
    case ColumnType::double_:
      return WireShape::fixed8;
    case ColumnType::date:
    case ColumnType::time:
    case ColumnType::datetime:
    case ColumnType::timestamp:
      return WireShape::temporal;
    default:
      return WireShape::counted;
  }
}

RowReader::RowReader(RowFormat format, std::vector<ColumnFacts> columns)
    : format_(format), columns_(std::move(columns)) {
  shapes_.reserve(columns_.size());
  for (const ColumnFacts& column : columns_) shapes_.push_back(wire_shape(column.type));
}

std::optional<size_t> RowReader::read(std::string_view row, size_t count, std::vector<Cell>& cells) const {
  size_t at = header_size();
  const bool binary = format_ == RowFormat::binary;
  if (binary && (row.size() < at || row[0] != '\0')) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    if (binary) {
      if (bit_set(row, i)) {
        cells[i] = Cell{true, 0, {}};
      } else if (!read_binary(row, shapes_[i], at, cells[i])) {
        return std::nullopt;
      }
    } else if (at < row.size() && static_cast<uint8_t>(row[at]) == null_cell) {
      cells[i] = Cell{true, 0, {}};
      ++at;
    } else if (!read_counted(row, at, cells[i])) {
      return std::nullopt;
    }
  }
  return at;
}

bool RowReader::read_all(std::string_view row, std::vector<Cell>& cells) const {
  const auto end = read(row, columns_.size(), cells);
  return end && *end == row.size();
}

void RowBuilder::begin(size_t columns) {
  row_.clear();
  column_ = 0;
  if (format_ == RowFormat::binary) row_.resize(1 + RowReader::bitmap_size(columns), '\0');
}

void RowBuilder::add_null() {
  if (format_ == RowFormat::text) {
    row_.push_back(static_cast<char>(null_cell));
  } else {
    const size_t bit = column_ + bitmap_offset;
    row_[1 + bit / 8] = static_cast<char>(static_cast<uint8_t>(row_[1 + bit / 8]) | 1U << (bit % 8));
  }
  ++column_;
}

void RowBuilder::add_raw(std::string_view raw) {
  row_.append(raw);
  ++column_;
}

void RowBuilder::add_counted(std::string_view value) {
  const uint64_t size = value.size();
  const size_t extra = size < null_cell ? 0 : size <= 0xffff ? 2 : size <= 0xffffff ? 3 : 8;
  if (extra == 0) {
    row_.push_back(static_cast<char>(size));
  } else {
    row_.push_back(static_cast<char>(extra == 2 ? 0xfc : extra == 3 ? 0xfd : 0xfe));
    for (size_t i = 0; i < extra; ++i) row_.push_back(static_cast<char>(size >> (8 * i)));
  }
  row_.append(value);
  ++column_;
}

void RowBuilder::add_fixed(uint64_t bits, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) row_.push_back(static_cast<char>(bits >> (8 * i)));
  ++column_;
}

void RowBuilder::cut(std::string_view row, size_t row_columns, size_t columns, size_t end) {
  const size_t bitmap = RowReader::bitmap_size(columns);
  row_.assign(row.substr(0, 1 + bitmap));
  // Bits of the columns that are cut off stay clear, as a server would leave them.
  const size_t used = (columns + bitmap_offset) % 8;
  if (used != 0) row_[bitmap] = static_cast<char>(static_cast<uint8_t>(row_[bitmap]) & ((1U << used) - 1));
  const size_t begin = 1 + RowReader::bitmap_size(row_columns);
  row_.append(row.substr(begin, end - begin));
  column_ = columns;
}

}  // namespace evenkeel::merge
