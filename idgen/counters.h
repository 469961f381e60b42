// What a generator counts. Each thread counts for itself, so that counting shares nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace evenkeel::idgen {

// Steps back of the clock are counted by size; the last count is of those above all bounds.
inline constexpr std::array<int64_t, 8> clock_step_bounds_ms = {1,     5,      50,      200,
                                                                1'000, 10'000, 600'000, 3'600'000};

struct Counters {
  uint64_t ids = 0;
  uint64_t ticks_opened = 0;
  uint64_t ticks_borrowed = 0;    // opened before the clock reached them
  uint64_t waits = 0;             // draws that were told to come back later
  uint64_t refusals = 0;          // draws that ended in an error
  uint64_t rows_outside_map = 0;  // rows of a run that fell into slots the map does not permit
  uint64_t broken_batches = 0;    // batches that are not consecutive throughout, though they should be
  uint64_t worker_switches = 0;   // worker ids given up for others because the clock stepped back
  // Steps back of the clock that draws met, each once, by clock_step_bounds_ms.
  std::array<uint64_t, clock_step_bounds_ms.size() + 1> clock_steps{};

  Counters& operator+=(const Counters& other);
  bool operator==(const Counters&) const = default;
};

// Counters written by one thread and read by any.
class LiveCounters {
 public:
  class Cell {
   public:
    void add(uint64_t by) { value_.store(get() + by, std::memory_order_relaxed); }
    uint64_t get() const { return value_.load(std::memory_order_relaxed); }

   private:
    std::atomic<uint64_t> value_{0};
  };

  Cell ids, ticks_opened, ticks_borrowed, waits, refusals, rows_outside_map, broken_batches;
  std::array<Cell, clock_step_bounds_ms.size() + 1> clock_steps;

  void count_step(int64_t micros);
  Counters read() const;
};

}  // namespace evenkeel::idgen
