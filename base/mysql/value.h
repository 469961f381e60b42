// One SQL value as the proxy holds it: a literal of a statement, a bound parameter, or a decoded cell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace evenkeel::mysql {

// A plain value; copies its text. Temporals keep MySQL's text form ("2026-01-02 03:04:05.678",
// "-12:00:00"), decimals their digits: exact, and never re-formatted.
class Value {
 public:
  enum class Kind : uint8_t {
    null,
    int64,
    uint64,
    decimal,
    real,
    single_real,
    string,
    bytes,
    date,
    datetime,
    time
  };

  Value() = default;
  static Value null() { return {}; }
  static Value int64(int64_t v) { return Value(Kind::int64, static_cast<uint64_t>(v), {}); }
  static Value uint64(uint64_t v) { return Value(Kind::uint64, v, {}); }
  static Value decimal(std::string digits) { return Value(Kind::decimal, 0, std::move(digits)); }
  static Value real(double v);
  static Value single_real(float v);
  // Text in the connection's character set.
  static Value string(std::string text) { return Value(Kind::string, 0, std::move(text)); }
  // Text without a character set (a _binary literal, x'…', BLOB parameters).
  static Value bytes(std::string text) { return Value(Kind::bytes, 0, std::move(text)); }
  static Value temporal(Kind kind, std::string text) { return Value(kind, 0, std::move(text)); }

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_integer() const { return kind_ == Kind::int64 || kind_ == Kind::uint64; }
  int64_t as_int64() const { return static_cast<int64_t>(bits_); }
  uint64_t as_uint64() const { return bits_; }
  double as_real() const;
  float as_single_real() const;
  // Empty unless the kind holds text: decimal, string, bytes, date, datetime, time.
  const std::string& text() const { return text_; }

  bool operator==(const Value&) const = default;

 private:
  Value(Kind kind, uint64_t bits, std::string text) : kind_(kind), bits_(bits), text_(std::move(text)) {}

  Kind kind_ = Kind::null;
  uint64_t bits_ = 0;
  std::string text_;
};

std::string_view to_string(Value::Kind kind);
// For plans and tests: 12, 3.50, 'a''b' (escaped by doubling), x'00ff', NULL.
std::string to_string(const Value& value);

}  // namespace evenkeel::mysql
