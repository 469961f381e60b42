#include "router/merge/scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace evenkeel::merge {

using mysql::ColumnType;

namespace {

constexpr int64_t micros_per_second = 1'000'000;
constexpr int64_t hours_max = 9999;  // servers stop at 838; room for what may come, none for overflow

template <typename Number>
bool parse_whole(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  return fault == std::errc() && stop == end && !text.empty();
}

uint64_t little_endian(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

// Digits of a clock or calendar text, taken from the left.
class Digits {
 public:
  explicit Digits(std::string_view text) : text_(text) {}

  // At least one and at most `most` digits.
  bool number(size_t most, int64_t& value) {
    value = 0;
    const size_t begin = at_;
    while (at_ < text_.size() && at_ - begin < most && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + (text_[at_++] - '0');
    }
    return at_ > begin;
  }
  bool skip(char expected) {
    if (at_ >= text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }
  // ".5" -> 500000; nothing left -> 0.
  bool micros(int64_t& value) {
    value = 0;
    if (done()) return true;
    if (!skip('.')) return false;
    const size_t begin = at_;
    if (!number(6, value)) return false;
    for (size_t digits = at_ - begin; digits < 6; ++digits) value *= 10;
    return done();
  }
  bool done() const { return at_ == text_.size(); }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

struct Moment {
  int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, micro = 0;

  // Each field in bits of its own: fields are compared from the year down, also in dates like 2026-00-00.
  int64_t order() const {
    return (((((year << 4 | month) << 5 | day) << 5 | hour) << 6 | minute) << 6 | second) << 20 | micro;
  }
  bool plausible() const {
    return year <= 9999 && month <= 12 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59 &&
           micro < micros_per_second;
  }
};

bool read_date_text(std::string_view text, Moment& m) {
  Digits digits(text);
  if (!digits.number(4, m.year) || !digits.skip('-') || !digits.number(2, m.month) || !digits.skip('-') ||
      !digits.number(2, m.day)) {
    return false;
  }
  if (digits.done()) return true;
  return digits.skip(' ') && digits.number(2, m.hour) && digits.skip(':') && digits.number(2, m.minute) &&
         digits.skip(':') && digits.number(2, m.second) && digits.micros(m.micro);
}

bool read_date_bytes(std::string_view bytes, Moment& m) {
  const size_t size = bytes.size();
  if (size != 0 && size != 4 && size != 7 && size != 11) return false;
  const auto field = [&](size_t at, size_t width) {
    return static_cast<int64_t>(little_endian(bytes, at, width));
  };
  if (size >= 4) {
    m.year = field(0, 2);
    m.month = field(2, 1);
    m.day = field(3, 1);
  }
  if (size >= 7) {
    m.hour = field(4, 1);
    m.minute = field(5, 1);
    m.second = field(6, 1);
  }
  if (size == 11) m.micro = field(7, 4);
  return true;
}

bool time_order(bool negative, int64_t hour, int64_t minute, int64_t second, int64_t micro, int64_t& order) {
  if (hour > hours_max || minute > 59 || second > 59 || micro >= micros_per_second) return false;
  order = ((hour * 60 + minute) * 60 + second) * micros_per_second + micro;
  if (negative) order = -order;
  return true;
}

bool read_time_text(std::string_view text, int64_t& order) {
  Digits digits(text);
  int64_t hour = 0, minute = 0, second = 0, micro = 0;
  const bool negative = digits.skip('-');
  return digits.number(4, hour) && digits.skip(':') && digits.number(2, minute) && digits.skip(':') &&
         digits.number(2, second) && digits.micros(micro) &&
         time_order(negative, hour, minute, second, micro, order);
}

bool read_time_bytes(std::string_view bytes, int64_t& order) {
  const size_t size = bytes.size();
  if (size != 0 && size != 8 && size != 12) return false;
  order = 0;
  if (size == 0) return true;
  const auto field = [&](size_t at, size_t width) {
    return static_cast<int64_t>(little_endian(bytes, at, width));
  };
  const int64_t micro = size == 12 ? field(8, 4) : 0;
  return time_order(bytes[0] != 0, field(1, 4) * 24 + field(5, 1), field(6, 1), field(7, 1), micro, order);
}

// The digits of a number without its sign and where the point stands: 0.DIGITS x 10^point. Zero: 0.0 x 10^1.
struct Digital {
  std::string_view digits;
  int point;
};

Digital digits_of(double real, ColumnType type, char* buffer) {
  char scientific[32];
  // FLOAT: six significant digits, as the server prints it; DOUBLE: the shortest that round-trips.
  const auto end =
      type == ColumnType::float_
          ? std::to_chars(scientific, scientific + sizeof scientific, real, std::chars_format::scientific, 5)
          : std::to_chars(scientific, scientific + sizeof scientific, real, std::chars_format::scientific);
  const std::string_view text(scientific, static_cast<size_t>(end.ptr - scientific));
  const size_t e = text.find('e');
  size_t count = 0;
  for (const char c : text.substr(0, e)) {
    if (c != '.') buffer[count++] = c;
  }
  while (count > 1 && buffer[count - 1] == '0') --count;
  int exponent = 0;
  const char* digits = text.data() + e + 1;
  std::from_chars(*digits == '+' ? digits + 1 : digits, end.ptr, exponent);
  return {std::string_view(buffer, count), exponent + 1};
}

// Plain notation of `digits` x 10^(point - count), at least `decimals` digits after the point.
void write_plain(const Digital& number, uint8_t decimals, std::string& text) {
  const auto [digits, point] = number;
  const auto count = static_cast<int>(digits.size());
  size_t shown = 0;
  if (point <= 0) {
    text.append("0");
  } else {
    text.append(digits.substr(0, static_cast<size_t>(point)));
    if (count < point) text.append(static_cast<size_t>(point - count), '0');
  }
  if (count > point) {
    text.append(".");
    if (point < 0) text.append(static_cast<size_t>(-point), '0');
    text.append(digits.substr(static_cast<size_t>(std::max(point, 0))));
    shown = static_cast<size_t>(count - point);
  } else if (decimals > 0) {
    text.append(".");
  }
  if (shown < decimals) text.append(decimals - shown, '0');
}

// Servers pad the shortest digits with zeros where those are enough (measured: ….9100 for a double that is
// ….91015625), else round the exact value.
void write_fixed(double real, uint8_t decimals, std::string& text) {
  char buffer[400];  // 309 digits before the point at most, 30 after
  const Digital shortest = digits_of(std::fabs(real), ColumnType::double_, buffer);
  if (static_cast<int>(shortest.digits.size()) - shortest.point <= decimals) {
    if (std::signbit(real)) text.push_back('-');
    return write_plain(shortest, decimals, text);
  }
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, real, std::chars_format::fixed, decimals);
  text.append(buffer, end.ptr);
}

}  // namespace

bool read_integer(RowFormat format, const ColumnFacts& column, std::string_view value, uint64_t& bits) {
  // YEAR is always unsigned, whether or not the definition says so.
  const bool is_unsigned = column.is_unsigned || column.type == ColumnType::year;
  if (format == RowFormat::text) {
    if (is_unsigned) return parse_whole(value, bits);
    int64_t number = 0;
    if (!parse_whole(value, number)) return false;
    bits = static_cast<uint64_t>(number);
    return true;
  }
  const size_t size = value.size();
  if (size != 1 && size != 2 && size != 4 && size != 8) return false;
  bits = little_endian(value, 0, size);
  if (!is_unsigned && size < 8) {
    const uint64_t sign = uint64_t{1} << (8 * size - 1);
    bits = (bits ^ sign) - sign;
  }
  return true;
}

bool read_real(RowFormat format, const ColumnFacts& column, std::string_view value, double& real) {
  if (format == RowFormat::text) return parse_whole(value, real) && std::isfinite(real);
  if (column.type == ColumnType::float_) {
    float single = 0;
    if (value.size() != sizeof single) return false;
    std::memcpy(&single, value.data(), sizeof single);
    real = single;
  } else {
    if (value.size() != sizeof real) return false;
    std::memcpy(&real, value.data(), sizeof real);
  }
  return std::isfinite(real);
}

bool read_temporal(RowFormat format, const ColumnFacts& column, std::string_view value, int64_t& order) {
  if (column.type == ColumnType::time) {
    return format == RowFormat::text ? read_time_text(value, order) : read_time_bytes(value, order);
  }
  Moment moment;
  const bool read =
      format == RowFormat::text ? read_date_text(value, moment) : read_date_bytes(value, moment);
  if (!read || !moment.plausible()) return false;
  order = moment.order();
  return true;
}

void write_real(double real, ColumnType type, uint8_t decimals, std::string& text) {
  if (decimals < decimals_not_fixed) return write_fixed(real, decimals, text);
  if (std::signbit(real)) text.push_back('-');
  if (real == 0) {
    text.push_back('0');
    return;
  }
  char buffer[32];
  const Digital number = digits_of(std::fabs(real), type, buffer);
  // 17 digits of which 16 stand before the point are the one exception (measured on both servers).
  const bool plain =
      (number.point >= -14 && number.point <= 15) || (number.point == 16 && number.digits.size() == 17);
  if (plain) return write_plain(number, 0, text);
  text.push_back(number.digits[0]);
  if (number.digits.size() > 1) text.append(".").append(number.digits.substr(1));
  text.append("e").append(std::to_string(number.point - 1));
}

}  // namespace evenkeel::merge
