#include "idgen/registry/clock_offset.h"

namespace evenkeel::idgen {

Result<ClockOffset> sample_clock_offset(Registry& registry, const Clock& clock) {
  const auto asked = clock.steady();
  const int64_t local_before = clock.unix_micros();
  EVENKEEL_ASSIGN(const int64_t registry_ms, registry.now_unix_ms());
  const auto answered = clock.steady();
  // The interval comes from the steady clock: a step of the wall clock in between would look like a round
  // trip.
  const int64_t half_trip_micros = (answered - asked).count() / 2'000;
  ClockOffset offset;
  offset.offset_ms = registry_ms - (local_before + half_trip_micros) / 1'000;
  offset.uncertainty_ms = half_trip_micros / 1'000 + (registry.time_granularity_ms() + 1) / 2;
  offset.sampled_steady_ms = answered.count() / 1'000'000;
  return offset;
}

}  // namespace evenkeel::idgen
