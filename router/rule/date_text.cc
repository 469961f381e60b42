#include "router/rule/date_text.h"

#include <chrono>

namespace evenkeel::rule {
namespace {

constexpr size_t decimals_max = 6;

// Reads `width` digits off the front.
std::optional<uint32_t> take_number(std::string_view& text, size_t width) {
  if (text.size() < width) return std::nullopt;
  uint32_t number = 0;
  for (size_t i = 0; i < width; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    number = number * 10 + static_cast<uint32_t>(text[i] - '0');
  }
  text.remove_prefix(width);
  return number;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

bool take_date(std::string_view& text, DateTime& out) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return false;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return false;
  const auto day = take_number(text, 2);
  if (!day || *year == 0) return false;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) return false;
  out.year = static_cast<int32_t>(*year);
  out.month = *month;
  out.day = *day;
  out.micros = std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86'400'000'000};
  return true;
}

bool take_time(std::string_view& text, DateTime& out) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return false;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return false;
  const auto second = take_number(text, 2);
  if (!second || *second > 59) return false;
  out.has_time = true;
  out.micros += ((int64_t{*hour} * 60 + *minute) * 60 + *second) * 1'000'000;
  if (text.empty()) return true;
  if (!take(text, '.') || text.empty() || text.size() > decimals_max) return false;
  out.decimals = static_cast<uint8_t>(text.size());
  const auto fraction = take_number(text, text.size());
  if (!fraction) return false;
  int64_t micros = *fraction;
  for (size_t digits = out.decimals; digits < decimals_max; ++digits) micros *= 10;
  out.micros += micros;
  return true;
}

}  // namespace

std::optional<DateTime> parse_date_time(std::string_view text) {
  DateTime time;
  if (!take_date(text, time)) return std::nullopt;
  if (text.empty()) return time;
  if (!take(text, ' ') || !take_time(text, time) || !text.empty()) return std::nullopt;
  return time;
}

}  // namespace evenkeel::rule
