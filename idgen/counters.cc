#include "idgen/counters.h"

#include <algorithm>

namespace evenkeel::idgen {

Counters& Counters::operator+=(const Counters& other) {
  ids += other.ids;
  ticks_opened += other.ticks_opened;
  ticks_borrowed += other.ticks_borrowed;
  waits += other.waits;
  refusals += other.refusals;
  rows_outside_map += other.rows_outside_map;
  broken_batches += other.broken_batches;
  worker_switches += other.worker_switches;
  for (size_t i = 0; i < clock_steps.size(); ++i) clock_steps[i] += other.clock_steps[i];
  return *this;
}

Counters LiveCounters::read() const {
  Counters read{ids.get(),
                ticks_opened.get(),
                ticks_borrowed.get(),
                waits.get(),
                refusals.get(),
                rows_outside_map.get(),
                broken_batches.get(),
                0,
                {}};
  for (size_t i = 0; i < clock_steps.size(); ++i) read.clock_steps[i] = clock_steps[i].get();
  return read;
}

void LiveCounters::count_step(int64_t micros) {
  const auto bound = std::find_if(clock_step_bounds_ms.begin(), clock_step_bounds_ms.end(),
                                  [&](int64_t ms) { return micros <= ms * 1'000; });
  clock_steps[static_cast<size_t>(bound - clock_step_bounds_ms.begin())].add(1);
}

}  // namespace evenkeel::idgen
