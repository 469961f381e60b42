// Rows from a hostile instance: split, rebuilt, compared and merged without touching a byte outside them.
//
// Input: format and merge, number of columns, a type for each, then rows as (source and length, bytes).
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "router/merge/keys.h"
#include "router/merge/merger.h"
#include "router/merge/row.h"

using namespace evenkeel;
using namespace evenkeel::merge;

namespace {

using mysql::ColumnType;

struct TypeChoice {
  ColumnType type;
  bool is_unsigned;
  uint8_t decimals;
  Comparison comparison;
};

constexpr TypeChoice choices[] = {
    {ColumnType::tiny, false, 0, Comparison::signed_integer},
    {ColumnType::short_, true, 0, Comparison::unsigned_integer},
    {ColumnType::long_, false, 0, Comparison::signed_integer},
    {ColumnType::longlong, true, 0, Comparison::unsigned_integer},
    {ColumnType::year, true, 0, Comparison::unsigned_integer},
    {ColumnType::float_, false, 2, Comparison::real},
    {ColumnType::double_, false, 31, Comparison::real},
    {ColumnType::newdecimal, false, 4, Comparison::decimal},
    {ColumnType::date, false, 0, Comparison::temporal},
    {ColumnType::datetime, false, 6, Comparison::temporal},
    {ColumnType::time, false, 6, Comparison::temporal},
    {ColumnType::var_string, false, 0, Comparison::padded_bytes},
    {ColumnType::blob, false, 0, Comparison::bytes},
    {ColumnType::null, false, 0, Comparison::bytes},
};

void require(bool truth) {
  if (!truth) std::abort();
}

// What was split can be put together again.
void rebuild(const RowReader& reader, std::string_view row, std::vector<Cell>& cells) {
  if (!reader.read_all(row, cells)) return;
  RowBuilder builder(reader.format());
  builder.begin(cells.size());
  for (const Cell& cell : cells) cell.null ? builder.add_null() : builder.add_raw(cell.raw());
  // A binary row may carry bits of its bitmap that belong to no column; they are not kept.
  require(builder.row().size() == row.size());
  const size_t header = reader.header_size();
  require(builder.row().substr(header) == row.substr(header));
}

Spec spec_of(uint8_t choice, const std::vector<TypeChoice>& types) {
  Spec spec;
  const auto width = static_cast<uint16_t>(types.size());
  if (choice % 3 == 0) {
    spec.how = How::concat;
    spec.visible_columns = static_cast<uint16_t>(1 + choice / 3 % width);
    return spec;
  }
  std::vector<SortKey> keys;
  for (uint16_t i = 0; i < width && i < 3; ++i)
    keys.push_back({i, (choice >> i & 8) != 0, types[i].comparison});
  if (choice % 3 == 1) {
    spec.how = How::ordered;
    spec.order = keys;
    return spec;
  }
  using What = OutputColumn::What;
  spec.how = How::grouped;
  if ((choice & 64) == 0) spec.group = {keys[0]};
  for (uint16_t i = 0; i < width; ++i) {
    const ColumnType type = types[i].type;
    const bool adds = mysql::is_decimal(type) || mysql::is_floating(type) || mysql::is_integer(type);
    spec.outputs.push_back({adds         ? What::sum
                            : i % 2 == 0 ? What::min
                                         : What::first,
                            i, 0, types[i].comparison});
  }
  return spec;
}

void merge_rows(Merger& merger, std::string_view input, const RowReader& reader, uint32_t sources) {
  std::vector<Cell> cells(reader.columns().size());
  size_t held = 0;
  while (!input.empty()) {
    const auto head = static_cast<uint8_t>(input[0]);
    const std::string_view row = input.substr(1, head >> 1);
    input.remove_prefix(std::min<size_t>(input.size(), 1 + (head >> 1)));
    rebuild(reader, row, cells);
    merger.feed(head % sources, row);
    held += row.size();
    require(merger.held_bytes() <= held * 4);
    for (int i = 0; i < 3; ++i) {
      if (merger.next() == Merger::Step::row) rebuild(reader, merger.row(), cells);
    }
  }
  for (uint32_t source = 0; source < sources; ++source) merger.finish(source);
  while (merger.next() == Merger::Step::row) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(bytes), size);
  if (input.size() < 3) return 0;
  const auto mode = static_cast<uint8_t>(input[0]);
  const size_t width = 1 + static_cast<uint8_t>(input[1]) % 10;
  input.remove_prefix(2);
  if (input.size() < width) return 0;
  const RowFormat format = (mode & 1) != 0 ? RowFormat::binary : RowFormat::text;
  std::vector<TypeChoice> types;
  std::vector<ColumnFacts> columns;
  for (size_t i = 0; i < width; ++i) {
    types.push_back(choices[static_cast<uint8_t>(input[i]) % std::size(choices)]);
    columns.push_back({types.back().type, types.back().is_unsigned, types.back().decimals, 63});
  }
  input.remove_prefix(width);
  const Spec spec = spec_of(static_cast<uint8_t>(mode >> 1), types);
  std::vector<ColumnFacts> outputs = columns;
  if (spec.visible_columns != 0) outputs.resize(spec.visible_columns);
  constexpr uint32_t sources = 2;
  auto merger = make_merger(spec, format, columns, outputs, sources);
  require(merger.has_value());
  merge_rows(**merger, input, RowReader(format, columns), sources);
  return 0;
}
