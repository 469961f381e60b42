// Where a run of consecutive ids should start, so that its rows fall where rows are wanted.
#pragma once

#include <cstdint>
#include <span>

#include "idgen/steering_map.h"

namespace evenkeel::idgen {

// What to aim a run of consecutive ids at; see KeyDemand in generator.h. Each span has one entry per slot or
// is empty.
struct RunAim {
  std::span<const uint64_t> slot_deficits = {};
  std::span<const uint16_t> slot_instances = {};
};

// The ids base+y .. base+y+rows-1 are a run that starts at sequence y. Among the starts in
// [earliest, min(latest, earliest + period - 1)] takes one whose permitted rows promise the largest summed
// deficit (without deficits: the most permitted rows), then the fewest instances. Of those still equal it
// takes the earliest, or with `lot_count` > 0 the one that `lot` out of `lot_count` falls on. Time: the
// period. earliest <= latest, rows >= 1.
uint64_t choose_run_start(const SteeringMap& map, uint64_t base, uint64_t earliest, uint64_t latest,
                          uint64_t rows, const RunAim& aim, uint64_t lot, uint64_t lot_count);

}  // namespace evenkeel::idgen
