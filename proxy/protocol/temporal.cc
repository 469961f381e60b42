#include "proxy/protocol/temporal.h"

#include <array>

namespace evenkeel::protocol {
namespace {

constexpr uint32_t hour_of_time_max = 838;

// Takes exactly `digits` digits from the front.
bool take_number(std::string_view& text, size_t digits, uint32_t& out) {
  if (text.size() < digits) return false;
  out = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    out = out * 10 + static_cast<uint32_t>(text[i] - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

bool take_fraction(std::string_view& text, uint32_t& micros) {
  if (!take(text, '.')) return text.empty();
  const size_t digits = text.size();
  if (digits == 0 || digits > 6 || !take_number(text, digits, micros)) return false;
  for (size_t i = digits; i < 6; ++i) micros *= 10;
  return true;
}

bool take_clock(std::string_view& text, Temporal& out) {
  uint32_t minute = 0;
  uint32_t second = 0;
  if (!take(text, ':') || !take_number(text, 2, minute) || !take(text, ':') ||
      !take_number(text, 2, second)) {
    return false;
  }
  if (minute > 59 || second > 59 || !take_fraction(text, out.micros)) return false;
  out.minute = static_cast<uint8_t>(minute);
  out.second = static_cast<uint8_t>(second);
  return true;
}

bool take_date(std::string_view& text, Temporal& out) {
  uint32_t year = 0;
  uint32_t month = 0;
  uint32_t day = 0;
  if (!take_number(text, 4, year) || !take(text, '-') || !take_number(text, 2, month) || !take(text, '-') ||
      !take_number(text, 2, day) || month > 12 || day > 31) {
    return false;
  }
  out.year = static_cast<uint16_t>(year);
  out.month = static_cast<uint8_t>(month);
  out.day = static_cast<uint8_t>(day);
  return true;
}

void append_number(std::string& out, uint32_t value, size_t digits) {
  std::array<char, 10> text;
  size_t at = text.size();
  while (value > 0 || text.size() - at < digits) {
    text[--at] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  out.append(text.data() + at, text.size() - at);
}

void append_fraction(std::string& out, uint32_t micros, int digits) {
  if (digits <= 0) return;
  for (int i = digits; i < 6; ++i) micros /= 10;
  out += '.';
  append_number(out, micros, static_cast<size_t>(digits));
}

void append_clock(std::string& out, const Temporal& value, int digits) {
  append_number(out, value.hour, 2);
  out += ':';
  append_number(out, value.minute, 2);
  out += ':';
  append_number(out, value.second, 2);
  append_fraction(out, value.micros, digits);
}

bool clock_in_range(const Temporal& value) {
  return value.minute <= 59 && value.second <= 59 && value.micros <= 999'999;
}

}  // namespace

std::optional<Temporal> parse_date(std::string_view text) {
  Temporal out;
  if (!take_date(text, out) || !text.empty()) return std::nullopt;
  return out;
}

std::optional<Temporal> parse_datetime(std::string_view text) {
  Temporal out;
  if (!take_date(text, out)) return std::nullopt;
  if (text.empty()) return out;
  if (!take(text, ' ') || !take_number(text, 2, out.hour) || out.hour > 23 || !take_clock(text, out)) {
    return std::nullopt;
  }
  return out;
}

std::optional<Temporal> parse_time(std::string_view text) {
  Temporal out;
  out.negative = take(text, '-');
  const size_t hour_digits = text.find(':');
  if (hour_digits != 2 && hour_digits != 3) return std::nullopt;
  if (!take_number(text, hour_digits, out.hour) || out.hour > hour_of_time_max || !take_clock(text, out)) {
    return std::nullopt;
  }
  return out;
}

std::optional<Temporal> read_datetime_fields(std::string_view fields) {
  if (fields.size() != 0 && fields.size() != 4 && fields.size() != 7 && fields.size() != 11)
    return std::nullopt;
  WireReader in(fields);
  Temporal out;
  if (fields.size() >= 4) {
    out.year = in.int2();
    out.month = in.int1();
    out.day = in.int1();
  }
  if (fields.size() >= 7) {
    out.hour = in.int1();
    out.minute = in.int1();
    out.second = in.int1();
  }
  if (fields.size() == 11) out.micros = in.int4();
  if (out.year > 9999 || out.month > 12 || out.day > 31 || out.hour > 23 || !clock_in_range(out))
    return std::nullopt;
  return out;
}

std::optional<Temporal> read_time_fields(std::string_view fields) {
  if (fields.size() != 0 && fields.size() != 8 && fields.size() != 12) return std::nullopt;
  WireReader in(fields);
  Temporal out;
  if (fields.size() >= 8) {
    out.negative = in.int1() != 0;
    const uint32_t days = in.int4();
    const uint32_t hours = in.int1();
    if (days > hour_of_time_max / 24 || hours > 23) return std::nullopt;
    out.hour = days * 24 + hours;
    out.minute = in.int1();
    out.second = in.int1();
  }
  if (fields.size() == 12) out.micros = in.int4();
  if (out.hour > hour_of_time_max || !clock_in_range(out)) return std::nullopt;
  return out;
}

void write_date(WireWriter& out, const Temporal& value) {
  const bool zero = value.year == 0 && value.month == 0 && value.day == 0;
  out.int1(zero ? 0 : 4);
  if (zero) return;
  out.int2(value.year);
  out.int1(value.month);
  out.int1(value.day);
}

void write_datetime(WireWriter& out, const Temporal& value) {
  const bool clock = value.hour != 0 || value.minute != 0 || value.second != 0;
  if (!clock && value.micros == 0) return write_date(out, value);
  out.int1(value.micros != 0 ? 11 : 7);
  out.int2(value.year);
  out.int1(value.month);
  out.int1(value.day);
  out.int1(value.hour);
  out.int1(value.minute);
  out.int1(value.second);
  if (value.micros != 0) out.int4(value.micros);
}

void write_time(WireWriter& out, const Temporal& value) {
  if (value.hour == 0 && value.minute == 0 && value.second == 0 && value.micros == 0) return out.int1(0);
  out.int1(value.micros != 0 ? 12 : 8);
  out.int1(value.negative ? 1 : 0);
  out.int4(value.hour / 24);
  out.int1(value.hour % 24);
  out.int1(value.minute);
  out.int1(value.second);
  if (value.micros != 0) out.int4(value.micros);
}

void append_date(std::string& out, const Temporal& value) {
  append_number(out, value.year, 4);
  out += '-';
  append_number(out, value.month, 2);
  out += '-';
  append_number(out, value.day, 2);
}

void append_datetime(std::string& out, const Temporal& value, int digits) {
  append_date(out, value);
  out += ' ';
  append_clock(out, value, digits);
}

void append_time(std::string& out, const Temporal& value, int digits) {
  if (value.negative) out += '-';
  append_clock(out, value, digits);
}

}  // namespace evenkeel::protocol
