// DATE, DATETIME and TIME between their text and their binary fields. Only MySQL's canonical text is
// understood: what a server prints, not all that it accepts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

struct Temporal {
  bool negative = false;  // TIME only
  uint16_t year = 0;      // 0..9999
  uint8_t month = 0;      // 0..12; zero in dates is MySQL's "unknown"
  uint8_t day = 0;        // 0..31
  uint32_t hour = 0;      // 0..23; of a TIME 0..838
  uint8_t minute = 0;
  uint8_t second = 0;
  uint32_t micros = 0;
  bool operator==(const Temporal&) const = default;
};

// "2026-01-02"
std::optional<Temporal> parse_date(std::string_view text);
// "2026-01-02 03:04:05" with up to six digits of fraction; a date alone is midnight.
std::optional<Temporal> parse_datetime(std::string_view text);
// "-838:59:59" with up to six digits of fraction
std::optional<Temporal> parse_time(std::string_view text);

// `fields`: the bytes behind the length byte: 0, 4, 7 or 11 of a date or datetime, 0, 8 or 12 of a time.
// Nullopt for another length or a field out of its range.
std::optional<Temporal> read_datetime_fields(std::string_view fields);
std::optional<Temporal> read_time_fields(std::string_view fields);

// The length byte and the fields, as short as MySQL writes them.
void write_date(WireWriter& out, const Temporal& value);
void write_datetime(WireWriter& out, const Temporal& value);
void write_time(WireWriter& out, const Temporal& value);

// `digits` of fraction, 0..6.
void append_date(std::string& out, const Temporal& value);
void append_datetime(std::string& out, const Temporal& value, int digits);
void append_time(std::string& out, const Temporal& value, int digits);

}  // namespace evenkeel::protocol
