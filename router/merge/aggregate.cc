#include "router/merge/aggregate.h"

#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "base/mysql/error_codes.h"
#include "router/merge/scalar.h"

namespace evenkeel::merge {

using mysql::ColumnType;
using What = OutputColumn::What;

namespace {

size_t width_of(ColumnType type) {
  switch (wire_shape(type)) {
    case WireShape::fixed1:
      return 1;
    case WireShape::fixed2:
      return 2;
    case WireShape::fixed4:
      return 4;
    case WireShape::fixed8:
      return 8;
    default:
      return 0;
  }
}

Error out_of_range(const ColumnFacts& column, std::string_view of) {
  return make_error(ErrorKind::statement, mysql::er::data_out_of_range,
                    fmt::format("{} value is out of range in '{}'", mysql::to_string(column.type), of));
}

Error misfit(std::string_view what, const ColumnFacts& from, const ColumnFacts& to) {
  return internal_error(fmt::format("merge: {} of {} cannot become {}", what, mysql::to_string(from.type),
                                    mysql::to_string(to.type)));
}

// A whole number as a cell of an integer column; false when it does not fit. `bits` is signed unless
// `is_unsigned`.
bool fits_width(uint64_t bits, bool is_unsigned, const ColumnFacts& to) {
  const size_t width = 8 * width_of(to.type);
  if (is_unsigned || static_cast<int64_t>(bits) >= 0) {
    const size_t room = to.is_unsigned || to.type == ColumnType::year ? width : width - 1;
    return room >= 64 || bits >> room == 0;
  }
  if (to.is_unsigned) return false;
  return width == 64 || static_cast<int64_t>(bits) >= -(int64_t{1} << (width - 1));
}

uint64_t bits_of(double real) {
  uint64_t bits = 0;
  std::memcpy(&bits, &real, sizeof bits);
  return bits;
}

uint64_t bits_of_single(float real) {
  uint32_t bits = 0;
  std::memcpy(&bits, &real, sizeof bits);
  return bits;
}

bool read_exact(RowFormat format, const ColumnFacts& column, std::string_view value, Decimal& decimal) {
  if (mysql::is_decimal(column.type)) return Decimal::parse(value, decimal);
  uint64_t bits = 0;
  if (!read_integer(format, column, value, bits)) return false;
  const bool is_unsigned = column.is_unsigned || column.type == ColumnType::year;
  decimal = is_unsigned ? Decimal::of_unsigned(bits) : Decimal::of_signed(static_cast<int64_t>(bits));
  return true;
}

Status check_sum(std::string_view what, const ColumnFacts& from, const ColumnFacts& to) {
  const bool exact = mysql::is_decimal(from.type) || mysql::is_integer(from.type);
  const bool fits = exact ? mysql::is_decimal(to.type) || (what == "SUM" && mysql::is_integer(to.type))
                          : mysql::is_floating(from.type) && mysql::is_floating(to.type);
  if (!fits || (mysql::is_decimal(to.type) && to.decimals > Decimal::scale_max))
    return fail(misfit(what, from, to));
  return {};
}

}  // namespace

Error malformed_row() {
  return make_error(ErrorKind::protocol, mysql::er::query_on_foreign_data_source,
                    "an instance sent a row that does not match its column definitions");
}

bool can_recode(RowFormat format, const ColumnFacts& from, const ColumnFacts& to) {
  if (format == RowFormat::text || from.type == ColumnType::null) return true;
  if (mysql::is_integer(from.type)) return mysql::is_integer(to.type);
  if (mysql::is_floating(from.type)) return mysql::is_floating(to.type);
  if (mysql::is_temporal(from.type)) {
    return mysql::is_temporal(to.type) && (from.type == ColumnType::time) == (to.type == ColumnType::time);
  }
  return wire_shape(to.type) == WireShape::counted;
}

Status recode(RowFormat format, const ColumnFacts& from, const ColumnFacts& to, const Cell& cell,
              RowBuilder& row) {
  if (cell.null) {
    row.add_null();
    return {};
  }
  const bool same_sign = from.is_unsigned == to.is_unsigned || !mysql::is_integer(from.type);
  const bool same_layout = from.type == to.type || width_of(from.type) == width_of(to.type);
  if (format == RowFormat::text || (same_layout && same_sign)) {
    row.add_raw(cell.raw());
    return {};
  }
  if (mysql::is_integer(from.type)) {
    uint64_t bits = 0;
    if (!read_integer(format, from, cell.value, bits)) return fail(malformed_row());
    const bool is_unsigned = from.is_unsigned || from.type == ColumnType::year;
    if (!fits_width(bits, is_unsigned, to)) return fail(out_of_range(to, "UNION"));
    row.add_fixed(bits, width_of(to.type));
    return {};
  }
  double real = 0;
  if (!read_real(format, from, cell.value, real)) return fail(malformed_row());
  if (to.type == ColumnType::float_) {
    row.add_fixed(bits_of_single(static_cast<float>(real)), 4);
  } else {
    row.add_fixed(bits_of(real), 8);
  }
  return {};
}

Aggregate::Aggregate(const OutputColumn& column, RowFormat format, const std::vector<ColumnFacts>& inputs,
                     const ColumnFacts& output)
    : column_(column), format_(format), input_(inputs[column.column]), output_(output) {
  if (column.what == What::avg) count_input_ = inputs[column.count_column];
  if (column.what == What::count) count_input_ = input_;
}

Result<Aggregate> Aggregate::make(const OutputColumn& column, RowFormat format,
                                  const std::vector<ColumnFacts>& inputs, const ColumnFacts& output) {
  const bool average = column.what == What::avg;
  if (column.column >= inputs.size() || (average && column.count_column >= inputs.size())) {
    return fail(
        internal_error(fmt::format("merge: an output column over column {} of a result with {} columns",
                                   average ? column.count_column : column.column, inputs.size())));
  }
  const ColumnFacts& input = inputs[column.column];
  const ColumnFacts& counts = average ? inputs[column.count_column] : input;
  switch (column.what) {
    case What::count:
      if (!mysql::is_integer(output.type)) return fail(misfit("COUNT", input, output));
      [[fallthrough]];
    case What::avg:
      if (!mysql::is_integer(counts.type)) return fail(misfit("a count", counts, output));
      if (average) EVENKEEL_TRY(check_sum("AVG", input, output));
      break;
    case What::sum:
      EVENKEEL_TRY(check_sum("SUM", input, output));
      break;
    case What::min:
    case What::max:
      EVENKEEL_TRY(check_comparison(column.comparison, format, input, false));
      [[fallthrough]];
    case What::first:
      if (!can_recode(format, input, output)) return fail(misfit("a value", input, output));
      break;
  }
  return Aggregate(column, format, inputs, output);
}

void Aggregate::start() {
  any_ = false;
  count_ = 0;
  exact_sum_ = Decimal();
  real_sum_ = 0;
  best_bytes_.clear();
}

Status Aggregate::add(const std::vector<Cell>& cells) {
  const Cell& cell = cells[column_.column];
  switch (column_.what) {
    case What::first:
      return {};
    case What::count:
      return add_count(cell);
    case What::avg:
      EVENKEEL_TRY(add_count(cells[column_.count_column]));
      return add_sum(cell);
    case What::sum:
      return add_sum(cell);
    case What::min:
    case What::max:
      return add_best(cell);
  }
  return {};
}

Status Aggregate::add_count(const Cell& cell) {
  if (cell.null) return {};
  uint64_t bits = 0;
  if (!read_integer(format_, count_input_, cell.value, bits)) return fail(malformed_row());
  if (!count_input_.is_unsigned && static_cast<int64_t>(bits) < 0) return fail(malformed_row());
  if (__builtin_add_overflow(count_, bits, &count_)) return fail(out_of_range(output_, "COUNT"));
  return {};
}

Status Aggregate::add_sum(const Cell& cell) {
  if (cell.null) return {};
  any_ = true;
  if (exact()) {
    Decimal value;
    if (!read_exact(format_, input_, cell.value, value)) return fail(malformed_row());
    if (!exact_sum_.add(value)) return fail(out_of_range(output_, "SUM"));
    return {};
  }
  double value = 0;
  if (!read_real(format_, input_, cell.value, value)) return fail(malformed_row());
  real_sum_ += value;
  if (real_sum_ - real_sum_ != 0) return fail(out_of_range(output_, "SUM"));  // infinite
  return {};
}

Status Aggregate::add_best(const Cell& cell) {
  if (cell.null) return {};
  KeyValue key;
  if (!read_key(column_.comparison, format_, input_, cell, key)) return fail(malformed_row());
  if (any_) {
    const int order = compare_values(column_.comparison, key, best_key_);
    if (column_.what == What::min ? order >= 0 : order <= 0) return {};
  }
  any_ = true;
  best_bytes_.assign(cell.raw());
  best_ = Cell{false, cell.prefix, std::string_view(best_bytes_).substr(cell.prefix)};
  if (!read_key(column_.comparison, format_, input_, best_, best_key_)) return fail(malformed_row());
  return {};
}

Status Aggregate::write(const std::vector<Cell>* first, RowBuilder& row) {
  switch (column_.what) {
    case What::count:
      return write_whole(Decimal::of_unsigned(count_), row);
    case What::sum:
      return write_sum(row);
    case What::avg:
      return write_average(row);
    case What::min:
    case What::max:
      if (any_) return recode(format_, input_, output_, best_, row);
      break;
    case What::first:
      if (first != nullptr) return recode(format_, input_, output_, (*first)[column_.column], row);
      break;
  }
  row.add_null();
  return {};
}

Status Aggregate::write_sum(RowBuilder& row) {
  if (!any_) {
    row.add_null();
    return {};
  }
  if (!exact()) {
    write_double(real_sum_, row);
    return {};
  }
  if (mysql::is_integer(output_.type)) return write_whole(exact_sum_, row);
  text_.clear();
  exact_sum_.write(output_.decimals, text_);
  row.add_counted(text_);
  return {};
}

Status Aggregate::write_average(RowBuilder& row) {
  if (!any_ || count_ == 0) {
    row.add_null();
    return {};
  }
  if (!exact()) {
    write_double(real_sum_ / static_cast<double>(count_), row);
    return {};
  }
  text_.clear();
  exact_sum_.average(count_, output_.decimals).write(output_.decimals, text_);
  row.add_counted(text_);
  return {};
}

Status Aggregate::write_whole(const Decimal& value, RowBuilder& row) const {
  const auto as_signed = value.as_signed();
  const auto as_unsigned = value.as_unsigned();
  if (!as_signed && !as_unsigned) return fail(out_of_range(output_, "SUM"));
  const uint64_t bits = as_signed ? static_cast<uint64_t>(*as_signed) : *as_unsigned;
  if (!fits_width(bits, !as_signed, output_)) return fail(out_of_range(output_, "SUM"));
  if (format_ == RowFormat::binary) {
    row.add_fixed(bits, width_of(output_.type));
  } else {
    row.add_counted(as_signed ? fmt::format_int(*as_signed).c_str() : fmt::format_int(*as_unsigned).c_str());
  }
  return {};
}

void Aggregate::write_double(double value, RowBuilder& row) {
  const bool single = output_.type == ColumnType::float_;
  if (format_ == RowFormat::binary) {
    row.add_fixed(single ? bits_of_single(static_cast<float>(value)) : bits_of(value),
                  width_of(output_.type));
    return;
  }
  text_.clear();
  write_real(value, output_.type, output_.decimals, text_);
  row.add_counted(text_);
}

}  // namespace evenkeel::merge
