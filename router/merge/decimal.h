// Exact decimals: compared as text of any size, added and divided as MySQL does.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel::merge {

// A decimal's text taken apart: no leading zeros in `whole`, no trailing zeros in `fraction`, zero is not
// negative. Views into the text.
struct DecimalText {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
};

// "-0012.50", "12", ".5"; nullopt for anything else.
std::optional<DecimalText> read_decimal(std::string_view text);
// <0, 0, >0.
int compare(const DecimalText& a, const DecimalText& b);

// A sum of decimals. At most 65 significant digits, MySQL's largest DECIMAL; what goes beyond is an error
// here, where MySQL would cut to 999… and warn.
class Decimal {
 public:
  static constexpr unsigned digits_max = 65;
  static constexpr uint8_t scale_max = 38;  // digits after the point: 30 in MySQL, 38 in MariaDB

  Decimal() = default;

  // False when `text` is not a decimal of at most 65 digits and 38 of them after the point.
  static bool parse(std::string_view text, Decimal& decimal);
  static Decimal of_signed(int64_t value);
  static Decimal of_unsigned(uint64_t value);

  // False on overflow: the sum has more than 65 digits.
  bool add(const Decimal& other);
  // This / count as AVG gives it, with `scale` digits after the point. MySQL divides in words of nine digits
  // and rounds afterwards: half away from zero, but towards zero when `scale` is a multiple of nine
  // (measured: README.md).
  Decimal average(uint64_t count, uint8_t scale) const;

  // With exactly `scale` digits after the point; more digits are rounded half away from zero. Appends.
  void write(uint8_t scale, std::string& text) const;
  // nullopt when not a whole number or out of range.
  std::optional<int64_t> as_signed() const;
  std::optional<uint64_t> as_unsigned() const;

 private:
  // Room for 65 digits times 10^(2 * 38): no step can overflow.
  using Whole = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
      512, 512, boost::multiprecision::signed_magnitude, boost::multiprecision::unchecked, void>>;

  static const Whole& power_of_ten(unsigned exponent);
  void rescale(uint8_t scale);

  Whole units_ = 0;  // value x 10^scale_
  uint8_t scale_ = 0;
};

}  // namespace evenkeel::merge
