#include "idgen/counters.h"

namespace evenkeel::idgen {

Counters& Counters::operator+=(const Counters& other) {
  ids += other.ids;
  ticks_opened += other.ticks_opened;
  ticks_borrowed += other.ticks_borrowed;
  waits += other.waits;
  refusals += other.refusals;
  rows_outside_map += other.rows_outside_map;
  broken_batches += other.broken_batches;
  return *this;
}

Counters LiveCounters::read() const {
  return {ids.get(),      ticks_opened.get(),     ticks_borrowed.get(), waits.get(),
          refusals.get(), rows_outside_map.get(), broken_batches.get()};
}

}  // namespace evenkeel::idgen
