// What steering is configured with, as plain values; config/ fills them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::skew {

// off: measured and shown, nothing more. advise: says what it would do. automatic: does it.
enum class Mode : uint8_t { off, advise, automatic };
std::string_view to_string(Mode mode);
std::optional<Mode> parse_mode(std::string_view text);

// What evenness is judged by.
enum class Measure : uint8_t { rows, bytes };
std::string_view to_string(Measure measure);

// A part of the day in minutes since midnight, UTC. It may run past midnight (1320 to 300); both alike: all
// day.
struct DailyWindow {
  uint16_t from_minute = 0;
  uint16_t to_minute = 0;

  bool operator==(const DailyWindow&) const = default;
};

struct TableSettings {
  std::string schema;
  std::string table;
  Mode mode = Mode::off;
  Measure by = Measure::rows;
  // Of max/mean. Steering begins above `upper` and ends at `lower`.
  double upper = 1.2;
  double lower = 1.01;
  // A slot's share of new rows is at most this many times the mean share of the slots that get any: what is
  // steered more strongly costs more of the sequence.
  double weight_cap = 4;
  // Automatic steering works within these only; empty: always.
  std::vector<DailyWindow> windows;
  // Steering that was not done by then ends, whoever began it.
  std::chrono::milliseconds max_duration{std::chrono::hours(24)};
  std::string where;  // "file:line:column: path" for messages
};

struct SamplingSettings {
  // How old an exact count may become before the table is counted again; 0: tables are never counted.
  std::chrono::milliseconds exact_interval{std::chrono::minutes(15)};
  // At most so many tables are counted in a second, one after the other; and after each the sampler rests
  // `rest` times as long as the count took.
  uint32_t exact_per_second = 20;
  uint32_t rest = 4;
  // Between two readings of InnoDB's own estimates; 0: they are not read.
  std::chrono::milliseconds estimate_interval{std::chrono::seconds(60)};
  // What an estimate may be wrong by, as a part of it.
  double estimate_error = 0.3;
};

struct Settings {
  std::vector<TableSettings> tables;  // those that are not named here are only measured
  SamplingSettings sampling;
  // Between two looks of the controller at a table that is being steered.
  std::chrono::milliseconds reweight_interval{std::chrono::seconds(3)};
};

}  // namespace evenkeel::skew
