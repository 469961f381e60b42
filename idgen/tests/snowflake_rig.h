// What the generator tests share: a core on a clock that stands still, with its window wide open.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "idgen/layout.h"
#include "idgen/snowflake.h"
#include "idgen/tick_source.h"

namespace evenkeel::idgen {

inline SteeringMap permit_range(uint32_t slots, uint32_t first, uint32_t last) {
  std::vector<uint32_t> residues;
  for (uint32_t residue = first; residue <= last; ++residue) residues.push_back(residue);
  return SteeringMap::permitting(slots, residues).value();
}

class Rig {
 public:
  explicit Rig(Layout layout_of_ids = {}, ClockSettings clock_settings = {}, uint32_t worker = 835,
               uint64_t window_first = 1, uint64_t window_last = UINT64_MAX >> 1)
      : layout(std::move(layout_of_ids)),
        window(worker, window_first, window_last),
        core(layout, clock_settings, window, ticks) {}

  void advance_ms(int64_t ms) { clock.advance(std::chrono::milliseconds(ms)); }
  void step_ms(int64_t ms) { clock.step_wall(std::chrono::milliseconds(ms)); }
  uint64_t now_tick() const { return static_cast<uint64_t>(tick_at(layout, clock.unix_millis())); }

  std::vector<uint64_t> draw(const SteeredStart& start, size_t rows) {
    std::vector<uint64_t> ids(rows);
    last = core.draw(start, ids, counters);
    ids.resize(last.drawn);
    return ids;
  }
  std::vector<uint64_t> draw_run(const SteeredStart& start, size_t rows, const RunAim& aim = {}) {
    std::vector<uint64_t> ids(rows);
    last = core.draw_run(start, aim, ids, counters);
    ids.resize(last.drawn);
    return ids;
  }
  std::vector<uint64_t> draw_slots(const SteeredStart& start, const std::vector<uint32_t>& slots) {
    std::vector<uint64_t> ids(slots.size());
    const Modulus modulus(start.map.slots());
    last = core.draw_genes(start, {modulus, slots, false}, ids, counters);
    ids.resize(last.drawn);
    return ids;
  }
  IdParts parts(uint64_t id) const { return decompose(layout, id); }

  const Layout layout;
  ManualClock clock{1'790'000'000'000'000};
  DirectTicks ticks{clock};
  TickWindow window;
  LiveCounters counters;
  Snowflake core;
  Draw last;
};

inline bool strictly_ascending(const std::vector<uint64_t>& ids) {
  for (size_t i = 1; i < ids.size(); ++i)
    if (ids[i] <= ids[i - 1]) return false;
  return true;
}

}  // namespace evenkeel::idgen
