// How far this machine's clock stands from the registry's: the second opinion that tells a wrong clock.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "idgen/registry/registry.h"

namespace evenkeel::idgen {

struct ClockOffset {
  // The registry's time minus this machine's: positive when this machine's clock is late.
  int64_t offset_ms = 0;
  // The truth lies within offset_ms ± this: half of the round trip and of the granularity of the store's
  // clock.
  int64_t uncertainty_ms = 0;
  // When it was taken, by Clock::steady() in milliseconds.
  int64_t sampled_steady_ms = 0;

  bool operator==(const ClockOffset&) const = default;
};

// Asks the registry once and takes the middle of the round trip as the moment of its answer (Cristian's
// algorithm). Blocks as the registry does; its errors.
Result<ClockOffset> sample_clock_offset(Registry& registry, const Clock& clock);

}  // namespace evenkeel::idgen
