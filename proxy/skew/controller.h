// When steering begins, how it is weighted, and when it ends: pure functions of what was observed and of the
// record that all proxies share. Nothing is remembered elsewhere, so whoever reads the record can go on.
//
// On above `upper`, off at `lower`. Two rules keep it from swinging:
//   - `upper` counts as at least 1 + 4/sqrt(mean rows): below that, chance alone makes such a ratio. Steering
//     may end below that ratio without having reached `lower` once nothing that is left can be steered by.
//   - it begins on evidence only: exact counts of all tables or, where tables are never counted, estimates
//     that exceed `upper` however wrong they are within their error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/skew/record.h"
#include "proxy/skew/settings.h"
#include "proxy/skew/spread.h"
#include "proxy/skew/weights.h"

namespace evenkeel::skew {

// A map must permit this many times the fastest that any proxy drew lately.
inline constexpr double capacity_headroom = 1.5;
// An automatic map that nobody renews ends after this time; it is renewed at half of it.
inline constexpr int64_t map_validity_ms = 10 * 60'000;
// After steering ended for lack of capacity, and before it may begin again.
inline constexpr int64_t capacity_rest_ms = 10 * 60'000;
// Without getting better for so long, below the floor of chance, steering ends.
inline constexpr int64_t stagnation_ms = 2 * 60'000;

struct Observation {
  int64_t now_unix_ms = 0;
  std::span<const double> rows;     // by slot
  std::span<const double> figures;  // by slot, in what evenness is judged by
  std::span<const double> errors;   // what `figures` may be wrong by
  bool tables_are_counted = true;   // exact counts are taken at all
  uint32_t counted = 0;             // slots whose figure rests on one
  double rows_per_second = 0;       // of all proxies
  double peak_per_second = 0;       // of the proxy that lately drew fastest
  double ids_per_second = 0;        // what one proxy can draw with every slot open
  uint32_t levels = 0;              // blocks of slots in the sequence; 0: too short to steer
  double seconds_ahead = 3;         // until the weights can be made anew everywhere
};

struct Decision {
  std::optional<SteeringRecord> record;  // to be stored in the place of the present one
  std::string standing;                  // why things are as they are, when nothing changes
};

// `who` decides, for the history. A refusal or an advice is written once, until something changes.
Decision decide(const TableSettings& settings, const SteeringRecord& present, const Observation& seen,
                std::string_view who);

// The mode in force: the ordered one or the configured one.
Mode mode_of(const TableSettings& settings, const SteeringRecord& record);

// The weights that automatic steering would use now; levels 0 when there is nothing to steer by.
SlotWeights automatic_weights(const TableSettings& settings, const Observation& seen);

// Nothing when the map leaves enough; otherwise the sentence that says what it leaves and what is needed.
std::optional<std::string> lacks_capacity(const SlotWeights& weights, const Observation& seen);

// Whether a map of the record is to be obeyed at this time.
bool in_force(const SteeringRecord& record, int64_t now_unix_ms);

// Puts a map in force, or the identity, and writes the change into the history.
void put_in_force(SteeringRecord& record, SlotWeights weights, Origin origin, Change change, uint32_t slots);

// "2 h 5 min", "40 s".
std::string duration_text(int64_t ms);
bool within_windows(const std::vector<DailyWindow>& windows, int64_t unix_ms);

}  // namespace evenkeel::skew
