// Dates and datetimes in the one text form that a column stores them in.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace evenkeel::rule {

struct DateTime {
  int32_t year = 0;
  uint32_t month = 0;
  uint32_t day = 0;
  // Since 1970-01-01 00:00:00 of the same calendar, without a time zone; negative before.
  int64_t micros = 0;
  uint8_t decimals = 0;   // digits after the point, as written
  bool has_time = false;  // a datetime rather than a date

  bool operator==(const DateTime&) const = default;
};

// "2026-01-02", "2026-01-02 03:04:05", "2026-01-02 03:04:05.678": four, two and two digits, a blank, up to
// six decimals. Nothing for any other form and for what is no day of the calendar (2026-02-30, 2026-00-00):
// the servers read those in ways that depend on sql_mode.
std::optional<DateTime> parse_date_time(std::string_view text);

}  // namespace evenkeel::rule
