#include "proxy/protocol/cells.h"

#include <bit>
#include <charconv>
#include <fmt/format.h>

#include "proxy/protocol/temporal.h"

namespace evenkeel::protocol {
namespace {

using mysql::ColumnType;
using mysql::Value;
using Kind = mysql::Value::Kind;

// How a type travels in binary rows and parameters.
enum class Encoding : uint8_t {
  none,
  int1,
  int2,
  int4,
  int8,
  float4,
  float8,
  date,
  datetime,
  time,
  text,
  unknown
};

// MySQL 9's VECTOR, which base/mysql/types.h has no use for.
constexpr auto vector_type = static_cast<ColumnType>(242);

Encoding encoding_of(ColumnType type) {
  switch (type) {
    case ColumnType::null:
      return Encoding::none;
    case ColumnType::tiny:
      return Encoding::int1;
    case ColumnType::short_:
    case ColumnType::year:
      return Encoding::int2;
    case ColumnType::int24:
    case ColumnType::long_:
      return Encoding::int4;
    case ColumnType::longlong:
      return Encoding::int8;
    case ColumnType::float_:
      return Encoding::float4;
    case ColumnType::double_:
      return Encoding::float8;
    case ColumnType::date:
      return Encoding::date;
    case ColumnType::datetime:
    case ColumnType::timestamp:
      return Encoding::datetime;
    case ColumnType::time:
      return Encoding::time;
    case ColumnType::decimal:
    case ColumnType::newdecimal:
    case ColumnType::varchar:
    case ColumnType::bit:
    case ColumnType::json:
    case ColumnType::enum_:
    case ColumnType::set:
    case ColumnType::tiny_blob:
    case ColumnType::medium_blob:
    case ColumnType::long_blob:
    case ColumnType::blob:
    case ColumnType::var_string:
    case ColumnType::string:
    case ColumnType::geometry:
      return Encoding::text;
    default:
      return type == vector_type ? Encoding::text : Encoding::unknown;
  }
}

size_t width_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::int1:
      return 1;
    case Encoding::int2:
      return 2;
    case Encoding::int4:
    case Encoding::float4:
      return 4;
    case Encoding::int8:
    case Encoding::float8:
      return 8;
    default:
      return 0;
  }
}

bool is_integer(Encoding encoding) { return encoding >= Encoding::int1 && encoding <= Encoding::int8; }

bool is_bytes(ColumnType type) {
  switch (type) {
    case ColumnType::bit:
    case ColumnType::tiny_blob:
    case ColumnType::medium_blob:
    case ColumnType::long_blob:
    case ColumnType::blob:
    case ColumnType::geometry:
      return true;
    default:
      return type == vector_type;
  }
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t out = 0;
  for (size_t i = bytes.size(); i > 0; --i) out = out << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return out;
}

int64_t sign_extended(std::string_view bytes) {
  const unsigned shift = 64 - 8 * static_cast<unsigned>(bytes.size());
  return static_cast<int64_t>(little_endian(bytes) << shift) >> shift;
}

float float_of(std::string_view bytes) {
  return std::bit_cast<float>(static_cast<uint32_t>(little_endian(bytes)));
}
double double_of(std::string_view bytes) { return std::bit_cast<double>(little_endian(bytes)); }

template <typename Number>
bool parse_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Number>
void append_number(std::string& out, Number value) {
  char text[24];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  if (error == std::errc()) out.append(text, end);
}

Error bad_cell(std::string_view what, WireType type) {
  return malformed(
      fmt::format("{} that is no {}{}", what, to_string(type.type), type.is_unsigned ? " UNSIGNED" : ""));
}

// Digits with at most one point among them, and a sign.
bool is_plain_decimal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const size_t point = text.find('.');
  if (point != std::string_view::npos && text.find('.', point + 1) != std::string_view::npos) return false;
  return text.find_first_of("0123456789") != std::string_view::npos &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

Value text_value(ColumnType type, std::string_view text) {
  // A client may send any text as a DECIMAL parameter; what is none stays a string, for the server to judge.
  if (mysql::is_decimal(type) && is_plain_decimal(text)) return Value::decimal(std::string(text));
  return is_bytes(type) ? Value::bytes(std::string(text)) : Value::string(std::string(text));
}

// Digits of fraction in a temporal's text; a column whose decimals are not known shows them when there are
// any.
int fraction_digits(uint8_t decimals, const Temporal& value) {
  if (decimals <= 6) return decimals;
  return value.micros != 0 ? 6 : 0;
}

void write_width(WireWriter& out, uint64_t value, size_t width) {
  switch (width) {
    case 1:
      return out.int1(value);
    case 2:
      return out.int2(value);
    case 4:
      return out.int4(value);
    default:
      return out.int8(value);
  }
}

// Whether the value lies in the range of an integer of this width and sign.
bool fits(const Value& value, size_t width, bool is_unsigned) {
  const unsigned bits = 8 * static_cast<unsigned>(width);
  if (is_unsigned) {
    if (value.kind() == Kind::int64 && value.as_int64() < 0) return false;
    return bits == 64 || value.as_uint64() >> bits == 0;
  }
  const uint64_t max = (uint64_t{1} << (bits - 1)) - 1;
  if (value.kind() == Kind::uint64 || value.as_int64() >= 0) return value.as_uint64() <= max;
  return value.as_int64() >= -static_cast<int64_t>(max) - 1;
}

bool write_integer(WireWriter& out, const Value& value, size_t width, bool is_unsigned) {
  if (!value.is_integer() || !fits(value, width, is_unsigned)) return false;
  write_width(out, value.as_uint64(), width);
  return true;
}

std::optional<double> number_of(const Value& value) {
  switch (value.kind()) {
    case Kind::int64:
      return static_cast<double>(value.as_int64());
    case Kind::uint64:
      return static_cast<double>(value.as_uint64());
    case Kind::real:
    case Kind::single_real:
      return value.as_real();
    default:
      return std::nullopt;
  }
}

bool write_floating(WireWriter& out, const Value& value, bool single) {
  const std::optional<double> number = number_of(value);
  if (!number) return false;
  if (single) {
    out.int4(std::bit_cast<uint32_t>(static_cast<float>(*number)));
  } else {
    out.int8(std::bit_cast<uint64_t>(*number));
  }
  return true;
}

bool write_temporal_text(WireWriter& out, std::string_view text, Encoding encoding) {
  const std::optional<Temporal> value = encoding == Encoding::date   ? parse_date(text)
                                        : encoding == Encoding::time ? parse_time(text)
                                                                     : parse_datetime(text);
  if (!value) return false;
  if (encoding == Encoding::date) {
    write_date(out, *value);
  } else if (encoding == Encoding::time) {
    write_time(out, *value);
  } else {
    write_datetime(out, *value);
  }
  return true;
}

void write_text(WireWriter& out, const Value& value) {
  if (!value.is_integer() && !number_of(value)) return out.lenenc_string(value.text());
  std::string text;
  append_text_value(text, value);
  out.lenenc_string(text);
}

}  // namespace

bool is_wire_type(ColumnType type) { return encoding_of(type) != Encoding::unknown; }

std::string_view take_binary_cell(WireReader& reader, ColumnType type) {
  const Encoding encoding = encoding_of(type);
  switch (encoding) {
    case Encoding::none:
      return {};
    case Encoding::date:
    case Encoding::datetime:
    case Encoding::time:
      return reader.bytes(reader.int1());
    case Encoding::text:
      return reader.lenenc_string();
    case Encoding::unknown:
      reader.set_bad();
      return {};
    default:
      return reader.bytes(width_of(encoding));
  }
}

Result<Value> value_of_text(Cell cell, WireType type) {
  if (!cell) return Value::null();
  const std::string_view text = *cell;
  const Encoding encoding = encoding_of(type.type);
  if (is_integer(encoding)) {
    int64_t with_sign = 0;
    uint64_t without = 0;
    if (type.is_unsigned && parse_number(text, without)) return Value::uint64(without);
    if (!type.is_unsigned && parse_number(text, with_sign)) return Value::int64(with_sign);
    return fail(bad_cell("a cell", type));
  }
  switch (encoding) {
    case Encoding::float4:
    case Encoding::float8: {
      double number = 0;
      if (!parse_number(text, number)) return fail(bad_cell("a cell", type));
      return encoding == Encoding::float4 ? Value::single_real(static_cast<float>(number))
                                          : Value::real(number);
    }
    case Encoding::date:
      return Value::temporal(Kind::date, std::string(text));
    case Encoding::datetime:
      return Value::temporal(Kind::datetime, std::string(text));
    case Encoding::time:
      return Value::temporal(Kind::time, std::string(text));
    case Encoding::unknown:
      return fail(bad_cell("a cell", type));
    default:
      return text_value(type.type, text);
  }
}

Result<Value> value_of_binary(Cell cell, WireType type) {
  if (!cell) return Value::null();
  const std::string_view bytes = *cell;
  const Encoding encoding = encoding_of(type.type);
  const size_t width = width_of(encoding);
  if (bytes.size() < width) return fail(bad_cell("bytes", type));
  if (is_integer(encoding)) {
    if (type.is_unsigned) return Value::uint64(little_endian(bytes.substr(0, width)));
    return Value::int64(sign_extended(bytes.substr(0, width)));
  }
  switch (encoding) {
    case Encoding::none:
      return Value::null();
    case Encoding::float4:
      return Value::single_real(float_of(bytes));
    case Encoding::float8:
      return Value::real(double_of(bytes));
    case Encoding::date:
    case Encoding::datetime:
    case Encoding::time: {
      std::string text;
      EVENKEEL_TRY(append_text_of_binary(text, bytes, type, 31));
      const Kind kind = encoding == Encoding::date   ? Kind::date
                        : encoding == Encoding::time ? Kind::time
                                                     : Kind::datetime;
      return Value::temporal(kind, std::move(text));
    }
    case Encoding::unknown:
      return fail(bad_cell("bytes", type));
    default:
      return text_value(type.type, bytes);
  }
}

Status append_text_of_binary(std::string& out, std::string_view cell, WireType type, uint8_t decimals) {
  const Encoding encoding = encoding_of(type.type);
  const size_t width = width_of(encoding);
  if (cell.size() < width) return fail(bad_cell("bytes", type));
  if (is_integer(encoding)) {
    if (type.is_unsigned) {
      append_number(out, little_endian(cell.substr(0, width)));
    } else {
      append_number(out, sign_extended(cell.substr(0, width)));
    }
    return {};
  }
  switch (encoding) {
    case Encoding::float4:
      append_float(out, float_of(cell), decimals);
      return {};
    case Encoding::float8:
      append_double(out, double_of(cell), decimals);
      return {};
    case Encoding::time: {
      const auto value = read_time_fields(cell);
      if (!value) return fail(bad_cell("bytes", type));
      append_time(out, *value, fraction_digits(decimals, *value));
      return {};
    }
    case Encoding::date:
    case Encoding::datetime: {
      const auto value = read_datetime_fields(cell);
      if (!value) return fail(bad_cell("bytes", type));
      if (encoding == Encoding::date) {
        append_date(out, *value);
      } else {
        append_datetime(out, *value, fraction_digits(decimals, *value));
      }
      return {};
    }
    case Encoding::text:
      out.append(cell);
      return {};
    default:
      return fail(bad_cell("bytes", type));
  }
}

Status append_binary_of_text(WireWriter& out, std::string_view cell, WireType type) {
  const Encoding encoding = encoding_of(type.type);
  switch (encoding) {
    case Encoding::text:
      out.lenenc_string(cell);
      return {};
    case Encoding::date:
    case Encoding::datetime:
    case Encoding::time:
      if (!write_temporal_text(out, cell, encoding)) return fail(bad_cell("a cell", type));
      return {};
    case Encoding::none:
    case Encoding::unknown:
      return fail(bad_cell("a cell", type));
    default:
      break;
  }
  EVENKEEL_ASSIGN(const Value value, value_of_text(cell, type));
  const bool single = encoding == Encoding::float4;
  const bool written = is_integer(encoding) ? write_integer(out, value, width_of(encoding), type.is_unsigned)
                                            : write_floating(out, value, single);
  if (!written) return fail(bad_cell("a cell", type));
  return {};
}

void write_binary_value(WireWriter& out, const Value& value, WireType type) {
  const Encoding encoding = encoding_of(type.type);
  bool written = false;
  switch (encoding) {
    case Encoding::none:
    case Encoding::unknown:
      break;
    case Encoding::text:
      write_text(out, value);
      written = true;
      break;
    case Encoding::float4:
    case Encoding::float8:
      written = write_floating(out, value, encoding == Encoding::float4);
      break;
    case Encoding::date:
    case Encoding::datetime:
    case Encoding::time:
      written = write_temporal_text(out, value.text(), encoding);
      break;
    default:
      written = write_integer(out, value, width_of(encoding), type.is_unsigned);
      break;
  }
  if (!written) {
    out.set_error(internal_error(fmt::format("a value of kind {} cannot be sent as {}",
                                             to_string(value.kind()), to_string(type.type))));
  }
}

void append_text_value(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::int64:
      return append_number(out, value.as_int64());
    case Kind::uint64:
      return append_number(out, value.as_uint64());
    case Kind::real:
      return append_double(out, value.as_real());
    case Kind::single_real:
      return append_float(out, value.as_single_real());
    default:
      out.append(value.text());
  }
}

}  // namespace evenkeel::protocol
