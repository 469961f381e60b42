#include "base/mysql/value.h"

#include <bit>
#include <fmt/format.h>

namespace evenkeel::mysql {

Value Value::real(double v) { return Value(Kind::real, std::bit_cast<uint64_t>(v), {}); }
Value Value::single_real(float v) { return Value(Kind::single_real, std::bit_cast<uint32_t>(v), {}); }
double Value::as_real() const {
  return kind_ == Kind::single_real ? as_single_real() : std::bit_cast<double>(bits_);
}
float Value::as_single_real() const { return std::bit_cast<float>(static_cast<uint32_t>(bits_)); }

std::string_view to_string(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::null:
      return "NULL";
    case Value::Kind::int64:
      return "integer";
    case Value::Kind::uint64:
      return "unsigned integer";
    case Value::Kind::decimal:
      return "decimal";
    case Value::Kind::real:
      return "double";
    case Value::Kind::single_real:
      return "float";
    case Value::Kind::string:
      return "string";
    case Value::Kind::bytes:
      return "binary string";
    case Value::Kind::date:
      return "date";
    case Value::Kind::datetime:
      return "datetime";
    case Value::Kind::time:
      return "time";
  }
  return "unknown kind";
}

std::string to_string(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::null:
      return "NULL";
    case Value::Kind::int64:
      return fmt::format("{}", value.as_int64());
    case Value::Kind::uint64:
      return fmt::format("{}", value.as_uint64());
    case Value::Kind::decimal:
      return value.text();
    case Value::Kind::real:
      return fmt::format("{:e}", value.as_real());
    case Value::Kind::single_real:
      return fmt::format("{:e}", value.as_single_real());
    case Value::Kind::bytes: {
      std::string out = "x'";
      for (const char c : value.text()) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
      return out + "'";
    }
    default:
      break;
  }
  std::string out = "'";
  for (const char c : value.text()) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

}  // namespace evenkeel::mysql
