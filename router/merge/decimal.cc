#include "router/merge/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace evenkeel::merge {

namespace {

constexpr unsigned word_digits = 9;    // MySQL stores and divides decimals in words of nine digits
constexpr unsigned chunk_digits = 18;  // digits that fit a uint64_t with room for a carry

bool only_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct Parts {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
};

std::optional<Parts> split(std::string_view text) {
  Parts parts;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const size_t point = text.find('.');
  parts.whole = text.substr(0, point);
  if (point != std::string_view::npos) parts.fraction = text.substr(point + 1);
  if (parts.whole.empty() && parts.fraction.empty()) return std::nullopt;
  if (!only_digits(parts.whole) || !only_digits(parts.fraction)) return std::nullopt;
  return parts;
}

void strip_leading_zeros(std::string_view& digits) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
}

int compare_magnitudes(const DecimalText& a, const DecimalText& b) {
  if (a.whole.size() != b.whole.size()) return a.whole.size() < b.whole.size() ? -1 : 1;
  if (const int order = a.whole.compare(b.whole); order != 0) return order;
  // Without trailing zeros the longer of two fractions with the same head is the larger.
  return a.fraction.compare(b.fraction);
}

}  // namespace

std::optional<DecimalText> read_decimal(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  DecimalText decimal{parts->negative, parts->whole, parts->fraction};
  strip_leading_zeros(decimal.whole);
  const size_t last = decimal.fraction.find_last_not_of('0');
  decimal.fraction = decimal.fraction.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (decimal.whole.empty() && decimal.fraction.empty()) decimal.negative = false;
  return decimal;
}

int compare(const DecimalText& a, const DecimalText& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  const int order = compare_magnitudes(a, b);
  return a.negative ? -order : order;
}

const Decimal::Whole& Decimal::power_of_ten(unsigned exponent) {
  static const auto powers = [] {
    std::array<Whole, digits_max + 2 * scale_max> table;
    table[0] = 1;
    for (size_t i = 1; i < table.size(); ++i) table[i] = table[i - 1] * 10;
    return table;
  }();
  return powers[exponent];
}

bool Decimal::parse(std::string_view text, Decimal& decimal) {
  auto parts = split(text);
  if (!parts || parts->fraction.size() > scale_max) return false;
  strip_leading_zeros(parts->whole);
  if (parts->whole.size() + parts->fraction.size() > digits_max) return false;
  decimal.units_ = 0;
  decimal.scale_ = static_cast<uint8_t>(parts->fraction.size());
  for (std::string_view digits : {parts->whole, parts->fraction}) {
    while (!digits.empty()) {
      const auto chunk = digits.substr(0, chunk_digits);
      uint64_t value = 0;
      std::from_chars(chunk.data(), chunk.data() + chunk.size(), value);
      decimal.units_ *= power_of_ten(static_cast<unsigned>(chunk.size()));
      decimal.units_ += value;
      digits.remove_prefix(chunk.size());
    }
  }
  if (parts->negative) decimal.units_ = -decimal.units_;
  return true;
}

Decimal Decimal::of_signed(int64_t value) {
  Decimal decimal;
  decimal.units_ = value;
  return decimal;
}

Decimal Decimal::of_unsigned(uint64_t value) {
  Decimal decimal;
  decimal.units_ = value;
  return decimal;
}

void Decimal::rescale(uint8_t scale) {
  units_ *= power_of_ten(static_cast<unsigned>(scale - scale_));
  scale_ = scale;
}

bool Decimal::add(const Decimal& other) {
  if (other.scale_ > scale_) rescale(other.scale_);
  if (other.scale_ < scale_) {
    Decimal scaled = other;
    scaled.rescale(scale_);
    units_ += scaled.units_;
  } else {
    units_ += other.units_;
  }
  return abs(units_) < power_of_ten(digits_max);
}

Decimal Decimal::average(uint64_t count, uint8_t scale) const {
  Decimal result = *this;
  if (scale > scale_) result.rescale(scale);
  const unsigned surplus = static_cast<unsigned>(result.scale_ - scale);
  const Whole divisor = Whole(count) * power_of_ten(surplus);
  const Whole twice = abs(result.units_) * 2;
  // MySQL's quotient ends with a whole word: only when that is behind the last digit wanted is there one to
  // round by.
  const Whole magnitude =
      scale % word_digits == 0 ? Whole(twice / 2 / divisor) : Whole((twice + divisor) / (divisor * 2));
  result.units_ = result.units_ < 0 ? Whole(-magnitude) : magnitude;
  result.scale_ = scale;
  return result;
}

void Decimal::write(uint8_t scale, std::string& text) const {
  Decimal shown = *this;
  if (scale >= scale_) {
    shown.rescale(scale);
  } else {
    const Whole& divisor = power_of_ten(static_cast<unsigned>(scale_ - scale));
    const Whole magnitude = (abs(units_) * 2 + divisor) / (divisor * 2);
    shown.units_ = units_ < 0 ? Whole(-magnitude) : magnitude;
    shown.scale_ = scale;
  }
  if (shown.units_ < 0) text.push_back('-');
  std::array<char, digits_max + 2 * scale_max + 1> buffer;
  size_t at = buffer.size();
  Whole rest = abs(shown.units_);
  const Whole& chunk = power_of_ten(chunk_digits);
  while (rest != 0) {
    auto low = static_cast<uint64_t>(Whole(rest % chunk));
    rest /= chunk;
    for (unsigned i = 0; i < chunk_digits && (low != 0 || rest != 0); ++i, low /= 10) {
      buffer[--at] = static_cast<char>('0' + low % 10);
    }
  }
  const size_t fewest = size_t{scale} + 1;  // a digit before the point even when it is 0
  while (buffer.size() - at < fewest) buffer[--at] = '0';
  const std::string_view digits(buffer.data() + at, buffer.size() - at);
  text.append(digits.substr(0, digits.size() - scale));
  if (scale > 0) text.append(".").append(digits.substr(digits.size() - scale));
}

std::optional<int64_t> Decimal::as_signed() const {
  if (units_ % power_of_ten(scale_) != 0) return std::nullopt;
  const Whole whole = units_ / power_of_ten(scale_);
  if (whole < std::numeric_limits<int64_t>::min() || whole > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return static_cast<int64_t>(whole);
}

std::optional<uint64_t> Decimal::as_unsigned() const {
  if (units_ % power_of_ten(scale_) != 0) return std::nullopt;
  const Whole whole = units_ / power_of_ten(scale_);
  if (whole < 0 || whole > std::numeric_limits<uint64_t>::max()) return std::nullopt;
  return static_cast<uint64_t>(whole);
}

}  // namespace evenkeel::merge
