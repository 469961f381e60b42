// How MySQL prints FLOAT and DOUBLE.
#include <charconv>
#include <string>
#include <string_view>

#include "proxy/protocol/cells.h"

namespace evenkeel::protocol {
namespace {

constexpr uint8_t decimals_not_fixed = 31;
// Digits before the point, or zeros behind it, up to which MySQL writes a number without an exponent.
constexpr int point_max = 15;
constexpr int float_digits = 6;
// 309 digits, point, 30 decimals, sign.
constexpr size_t number_max = 352;

void append_fixed(std::string& out, double value, uint8_t decimals) {
  char text[number_max];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals);
  if (error == std::errc()) out.append(text, end);
}

// `scientific`: "-1.2345e+20" as to_chars writes it.
void append_general(std::string& out, std::string_view scientific) {
  if (scientific.starts_with('-')) {
    out += '-';
    scientific.remove_prefix(1);
  }
  const size_t e = scientific.find('e');
  if (e == std::string_view::npos) {  // inf, nan: no column holds them
    out += scientific;
    return;
  }
  int exponent = 0;
  std::string_view power = scientific.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string digits(1, scientific[0]);
  if (e > 2) digits += scientific.substr(2, e - 2);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.empty()) {
    out += '0';
    return;
  }
  const int point = exponent + 1;  // digits before the point; zero or less: zeros behind it
  const auto count = static_cast<int>(digits.size());
  if (point > point_max || point < 1 - point_max) {
    out += digits[0];
    if (count > 1) out.append(1, '.').append(digits, 1);
    out += 'e';
    out += std::to_string(exponent);
  } else if (point <= 0) {
    out.append("0.").append(static_cast<size_t>(-point), '0').append(digits);
  } else if (count <= point) {
    out.append(digits).append(static_cast<size_t>(point - count), '0');
  } else {
    out.append(digits, 0, static_cast<size_t>(point))
        .append(1, '.')
        .append(digits, static_cast<size_t>(point));
  }
}

}  // namespace

void append_double(std::string& out, double value, uint8_t decimals) {
  if (decimals < decimals_not_fixed) return append_fixed(out, value, decimals);
  char text[number_max];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  if (error == std::errc()) append_general(out, {text, end});
}

void append_float(std::string& out, float value, uint8_t decimals) {
  if (decimals < decimals_not_fixed) return append_fixed(out, value, decimals);
  char text[number_max];
  const auto [end, error] = std::to_chars(text, text + sizeof text, static_cast<double>(value),
                                          std::chars_format::scientific, float_digits - 1);
  if (error == std::errc()) append_general(out, {text, end});
}

}  // namespace evenkeel::protocol
