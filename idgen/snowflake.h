// The core: one 64-bit word per logical table, moved only upward by compare-and-swap.
//
//   [closed:1 | tick | y]    y = the last sequence issued in that tick
//
// One rule makes every id: in the current tick, the next id is the smallest value above y whose slot the
// steering map permits. The word strictly increases, so each successful swap owns (y_old, y_new] of one tick,
// and windows of different holders of a worker id are disjoint; nothing else is needed for uniqueness. The
// map, the clock policy and the randomness may therefore change at any instant, on any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "idgen/counters.h"
#include "idgen/run_start.h"
#include "idgen/settings.h"
#include "idgen/start_order.h"
#include "idgen/steering_map.h"
#include "idgen/tick_source.h"
#include "idgen/tick_window.h"

namespace evenkeel::idgen {

// A map and the order in which ticks start in it.
struct SteeredStart {
  SteeredStart(SteeringMap steering_map, uint64_t seed)
      : map(std::move(steering_map)), order(map.permitted_count(), seed) {}

  const SteeringMap map;
  mutable StartOrder order;
};

// What became of a draw.
struct Draw {
  enum class Stop : uint8_t {
    done,
    wait,              // the rest not before `tick`
    window_not_begun,  // nothing before `tick`
    window_ended,      // the reserved window ends before `tick`
    // The clock stands `drift_ms` before the time last seen, and the policy says what to do:
    clock_behind,        // nothing: an error
    clock_wait,          // wait until it is back
    clock_wants_switch,  // go on with another worker id
    clock_wants_pause,   // stop until it has been found right
    before_epoch,
    exhausted,  // `tick` does not fit the time field
    closed,
  };
  Stop stop = Stop::done;
  uint32_t drawn = 0;
  uint64_t tick = 0;
  int64_t drift_ms = 0;
};

// What the ids of rows must be: ids[i] modulo `modulus` is genes[i].
struct GeneAim {
  const Modulus& modulus;
  std::span<const uint32_t> genes;
  // Each id takes a whole block of `modulus` (a power of two) sequences, so that the bits above the gene are
  // a plain counter. Otherwise it takes the next sequence of its residue.
  bool whole_blocks = false;
};

// Thread-safe and lock-free; performs no IO but what the tick source does, allocates nothing.
class Snowflake {
 public:
  // `layout` and `clock` are checked settings. Both references must outlive this.
  Snowflake(const Layout& layout, const ClockSettings& clock, const TickWindow& window,
            const TickSource& ticks);

  // One id for each of `out`: each the next that the map permits. One swap per tick touched.
  Draw draw(const SteeredStart& start, std::span<uint64_t> out, LiveCounters& counters);
  // Consecutive ids: all in one tick if they are no more than a tick holds.
  Draw draw_run(const SteeredStart& start, const RunAim& aim, std::span<uint64_t> out,
                LiveCounters& counters);
  // out and genes have equal sizes, and each gene can be reached by this worker.
  Draw draw_genes(const SteeredStart& start, const GeneAim& aim, std::span<uint64_t> out,
                  LiveCounters& counters);

  // What a draw of one id would meet now, without drawing: `drawn` is 0, and `done` means that nothing
  // stands in its way. It reads the clock itself.
  Draw forecast() const;

  // No id after this; returns last_tick_opened(), which is final then.
  uint64_t close();
  // The last tick that was opened (window.first()-1 if none was).
  uint64_t last_tick_opened() const { return tick_of(state_.load(std::memory_order_acquire)); }

  // The number that an id of `tick` starts from.
  uint64_t base_of(uint64_t tick) const { return ((tick << worker_bits_) | worker_) << sequence_bits_; }
  uint64_t sequences() const { return sequences_; }

 private:
  struct Pick;
  struct Target;
  struct SteeredPicker;
  struct RunPicker;
  struct GenePicker;

  static constexpr uint64_t closed_bit = uint64_t{1} << 63;

  bool draw_in_open_tick(const SteeringMap& map, uint64_t& id);
  // Out of line, so that the short path stays short.
  [[gnu::noinline]] Draw draw_steered(const SteeredStart& start, std::span<uint64_t> out,
                                      LiveCounters& counters);
  template <typename Picker>
  Draw draw_with(Picker& picker, const SteeredStart& start, std::span<uint64_t> out, LiveCounters& counters);
  template <typename Picker>
  bool draw_in_one_tick(Picker& picker, const SteeredStart& start, std::span<uint64_t> out,
                        LiveCounters& counters, Draw& draw);
  bool aim_at_now(uint64_t state, LiveCounters& counters, Target& target, Draw& draw);
  bool accept_clock(uint64_t open_tick, LiveCounters& counters, int64_t& unix_ms, int64_t& now, Draw& draw);
  int64_t read_clock(LiveCounters& counters);
  bool aim_past_full_tick(Target& target, Draw& draw) const;
  bool may_open(Target& target, Draw& draw) const;
  void opened(const Target& target, uint64_t first, const SteeredStart& start, LiveCounters& counters);
  uint64_t start_range(const SteeringMap& map, const Target& target) const;
  uint64_t start_sequence(const SteeredStart& start, Target& target, uint64_t latest) const;
  int64_t tick_of_millis(int64_t unix_ms) const;

  uint64_t tick_of(uint64_t state) const { return (state & ~closed_bit) >> sequence_bits_; }
  uint64_t sequence_of(uint64_t state) const { return state & (sequences_ - 1); }
  uint64_t pack(uint64_t tick, uint64_t sequence) const { return (tick << sequence_bits_) | sequence; }

  const uint8_t worker_bits_;
  const uint8_t sequence_bits_;
  const TimeUnit unit_;
  const uint32_t worker_;
  const uint64_t sequences_;
  const uint64_t last_tick_;
  const int64_t epoch_unix_ms_;
  const ClockSettings clock_;
  const TickWindow& window_;
  const TickSource& ticks_;
  // The tick before the window, full: no id has been made yet.
  const uint64_t untouched_;

  alignas(64) std::atomic<uint64_t> state_;
  // The first id of the current tick, packed as the state: tells how busy the tick was. A hint; a race only
  // blurs it.
  alignas(64) std::atomic<uint64_t> opening_;
  // The latest clock reading that opened a tick: tells a step back from time that was borrowed ahead.
  std::atomic<int64_t> seen_unix_ms_{INT64_MIN};
  // The last reading that a step back would show against, in microseconds; for counting alone.
  std::atomic<int64_t> reading_us_{INT64_MIN};
};

}  // namespace evenkeel::idgen
