#include "idgen/snowflake.h"

#include <algorithm>

#include "idgen/clock_policy.h"
#include "idgen/layout.h"

namespace evenkeel::idgen {

namespace {

// What becomes of a draw that meets a step back of the clock.
Draw::Stop stop_of(ClockAction action) {
  switch (action) {
    case ClockAction::freeze:
      return Draw::Stop::done;
    case ClockAction::wait:
      return Draw::Stop::clock_wait;
    case ClockAction::switch_worker:
      return Draw::Stop::clock_wants_switch;
    case ClockAction::pause_until_sync:
      return Draw::Stop::clock_wants_pause;
    case ClockAction::strict:
      break;
  }
  return Draw::Stop::clock_behind;
}

}  // namespace

// The tick in which a draw tries to take its ids.
struct Snowflake::Target {
  uint64_t state = 0;  // what was read; the swap succeeds only while it still stands
  uint64_t tick = 0;
  uint64_t base = 0;
  uint64_t from = 0;  // the first free sequence
  bool opening = false;
  bool borrowed = false;
  bool after_full = false;  // opened because the tick before it had no room left
  bool used_order = false;  // the start came from the start order
  int64_t unix_ms = 0;
};

// Sequences to take: `count` of them, from first to last.
struct Snowflake::Pick {
  uint64_t first = 0;
  uint64_t last = 0;
  uint32_t count = 0;
};

struct Snowflake::SteeredPicker {
  Pick pick(const Snowflake& core, const SteeredStart& start, Target& target, std::span<uint64_t> out) const {
    const SteeringMap& map = start.map;
    const uint64_t from =
        target.opening ? core.start_sequence(start, target, core.sequences_ - 1) : target.from;
    const uint64_t first = map.next_valid(target.base + from) - target.base;
    if (first >= core.sequences_) return {};
    if (out.size() == 1) return {first, first, 1};
    const uint64_t room = map.count_in(target.base + first, core.sequences_ - first);
    const uint64_t count = std::min<uint64_t>(room, out.size());
    const uint64_t last = map.nth_from(target.base + first, count - 1) - target.base;
    return {first, last, static_cast<uint32_t>(count)};
  }
  void write(const SteeredStart& start, const Target& target, const Pick& pick, std::span<uint64_t> out,
             LiveCounters&) const {
    uint64_t id = target.base + pick.first;
    out[0] = id;
    for (uint32_t i = 1; i < pick.count; ++i) out[i] = id = start.map.next_valid(id + 1);
  }
};

struct Snowflake::RunPicker {
  const RunAim& aim;
  const bool longer_than_a_tick;

  Pick pick(const Snowflake& core, const SteeredStart& start, Target& target, std::span<uint64_t> out) const {
    const uint64_t sequences = core.sequences_;
    const uint64_t rows = out.size();
    if (longer_than_a_tick) {
      const uint64_t first = target.opening ? core.start_sequence(start, target, sequences - 1) : target.from;
      if (first >= sequences) return {};
      const uint64_t count = std::min(rows, sequences - first);
      return {first, first + count - 1, static_cast<uint32_t>(count)};
    }
    const uint64_t latest = sequences - rows;
    if (target.from > latest) return {};
    const uint64_t first = first_of_run(core, start, target, latest, rows);
    return {first, first + rows - 1, static_cast<uint32_t>(rows)};
  }
  void write(const SteeredStart& start, const Target& target, const Pick& pick, std::span<uint64_t> out,
             LiveCounters& counters) const {
    for (uint32_t i = 0; i < pick.count; ++i) out[i] = target.base + pick.first + i;
    counters.rows_outside_map.add(pick.count - start.map.count_in(target.base + pick.first, pick.count));
  }

 private:
  uint64_t first_of_run(const Snowflake& core, const SteeredStart& start, Target& target, uint64_t latest,
                        uint64_t rows) const {
    if (start.map.is_identity() && aim.slot_deficits.empty())
      return target.opening ? core.start_sequence(start, target, latest) : target.from;
    // In an opened tick the earliest of the best starts leaves most room for others.
    uint64_t lot = 0;
    uint64_t lot_count = 0;
    if (target.opening) {
      lot = start.order.peek();
      lot_count = start.map.permitted_count();
      target.used_order = true;
    }
    return choose_run_start(start.map, target.base, target.from, latest, rows, aim, lot, lot_count);
  }
};

struct Snowflake::GenePicker {
  const GeneAim& aim;

  // Writes while it walks: the output is the caller's own until the swap succeeds.
  Pick pick(const Snowflake& core, const SteeredStart&, const Target& target, std::span<uint64_t> out) const {
    const auto genes = aim.genes.last(out.size());
    const uint32_t modulus = aim.modulus.divisor();
    Pick pick;
    uint64_t sequence = target.from;
    for (size_t i = 0; i < out.size(); ++i) {
      const uint32_t here = aim.modulus.of(target.base + sequence);
      if (aim.whole_blocks && here != 0) sequence += modulus - here;
      const uint32_t from = aim.whole_blocks ? 0 : here;
      sequence += genes[i] >= from ? genes[i] - from : genes[i] + modulus - from;
      if (sequence >= core.sequences_) break;
      out[i] = target.base + sequence;
      if (pick.count++ == 0) pick.first = sequence;
      pick.last = sequence++;
    }
    return pick;
  }
  void write(const SteeredStart&, const Target&, const Pick&, std::span<uint64_t>, LiveCounters&) const {}
};

Snowflake::Snowflake(const Layout& layout, const ClockSettings& clock, const TickWindow& window,
                     const TickSource& ticks)
    : worker_bits_(layout.worker_bits),
      sequence_bits_(layout.sequence_bits),
      unit_(layout.unit),
      worker_(window.worker()),
      sequences_(sequence_count(layout)),
      last_tick_(last_tick(layout)),
      epoch_unix_ms_(layout.epoch_unix_ms),
      clock_(clock),
      window_(window),
      ticks_(ticks),
      untouched_(((window.first() - 1) << layout.sequence_bits) | (sequence_count(layout) - 1)),
      state_(untouched_),
      opening_(untouched_) {}

inline int64_t Snowflake::tick_of_millis(int64_t unix_ms) const {
  const int64_t since_epoch = unix_ms - epoch_unix_ms_;
  if (since_epoch < 0) return -1;
  switch (unit_) {
    case TimeUnit::millisecond:
      return since_epoch;
    case TimeUnit::ten_milliseconds:
      return since_epoch / 10;
    case TimeUnit::second:
      return since_epoch / 1000;
  }
  return since_epoch;
}

// By far the most frequent case, one id in the tick that the clock reads, without the machinery for all
// others. False, with nothing changed, when it is another case or another thread was faster.
inline bool Snowflake::draw_in_open_tick(const SteeringMap& map, uint64_t& id) {
  uint64_t state = state_.load(std::memory_order_relaxed);
  const int64_t now = tick_of_millis(ticks_.unix_millis());
  // The bit that marks a closed word makes this unequal too.
  if (state >> sequence_bits_ != static_cast<uint64_t>(now)) return false;
  const uint64_t base = base_of(static_cast<uint64_t>(now));
  id = map.next_valid(base + sequence_of(state) + 1);
  if (id - base >= sequences_) return false;
  return state_.compare_exchange_weak(state, pack(static_cast<uint64_t>(now), id - base),
                                      std::memory_order_acq_rel, std::memory_order_relaxed);
}

Draw Snowflake::draw(const SteeredStart& start, std::span<uint64_t> out, LiveCounters& counters) {
  if (out.size() == 1 && draw_in_open_tick(start.map, out[0])) [[likely]] {
    counters.ids.add(1);
    return {Draw::Stop::done, 1};
  }
  return draw_steered(start, out, counters);
}

Draw Snowflake::draw_steered(const SteeredStart& start, std::span<uint64_t> out, LiveCounters& counters) {
  SteeredPicker picker;
  return draw_with(picker, start, out, counters);
}

Draw Snowflake::draw_run(const SteeredStart& start, const RunAim& aim, std::span<uint64_t> out,
                         LiveCounters& counters) {
  RunPicker picker{aim, out.size() > sequences_};
  const Draw draw = draw_with(picker, start, out, counters);
  if (picker.longer_than_a_tick && draw.drawn > 0) counters.broken_batches.add(1);
  return draw;
}

Draw Snowflake::draw_genes(const SteeredStart& start, const GeneAim& aim, std::span<uint64_t> out,
                           LiveCounters& counters) {
  GenePicker picker{aim};
  return draw_with(picker, start, out, counters);
}

Draw Snowflake::forecast() const {
  Draw draw;
  const uint64_t state = state_.load(std::memory_order_acquire);
  if ((state & closed_bit) != 0) {
    draw.stop = Draw::Stop::closed;
    return draw;
  }
  const int64_t unix_ms = ticks_.exact_unix_micros() / 1000;
  const int64_t now = tick_of_millis(unix_ms);
  const uint64_t open_tick = tick_of(state);
  if (now < 0) {
    draw.stop = Draw::Stop::before_epoch;
    return draw;
  }
  const bool untouched = open_tick + 1 == window_.first();
  if (static_cast<uint64_t>(now) < open_tick) {
    draw.tick = untouched ? window_.first() : open_tick;
    draw.drift_ms =
        untouched ? 0 : std::max<int64_t>(0, seen_unix_ms_.load(std::memory_order_relaxed) - unix_ms);
    draw.stop = untouched            ? Draw::Stop::window_not_begun
                : draw.drift_ms == 0 ? Draw::Stop::done
                                     : stop_of(action_for(clock_, draw.drift_ms));
    if (draw.stop != Draw::Stop::done) return draw;
  }
  draw.tick = std::max(static_cast<uint64_t>(now), open_tick);
  // A tick that is full goes on in the next one, which a window that ends with it does not have.
  if (draw.tick == open_tick && sequence_of(state) + 1 >= sequences_) ++draw.tick;
  if (draw.tick > last_tick_) {
    draw.stop = Draw::Stop::exhausted;
  } else if (draw.tick > window_.last()) {
    draw.stop = Draw::Stop::window_ended;
  }
  return draw;
}

uint64_t Snowflake::close() { return tick_of(state_.fetch_or(closed_bit, std::memory_order_acq_rel)); }

template <typename Picker>
Draw Snowflake::draw_with(Picker& picker, const SteeredStart& start, std::span<uint64_t> out,
                          LiveCounters& counters) {
  Draw draw;
  while (draw.drawn < out.size())
    if (!draw_in_one_tick(picker, start, out.subspan(draw.drawn), counters, draw)) break;
  counters.ids.add(draw.drawn);
  return draw;
}

// Takes as many ids as one tick gives. False: `draw` says why none could be taken.
template <typename Picker>
bool Snowflake::draw_in_one_tick(Picker& picker, const SteeredStart& start, std::span<uint64_t> out,
                                 LiveCounters& counters, Draw& draw) {
  uint64_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    Target target;
    if (!aim_at_now(state, counters, target, draw)) return false;
    Pick pick = picker.pick(*this, start, target, out);
    while (pick.count == 0) {
      if (!aim_past_full_tick(target, draw)) return false;
      pick = picker.pick(*this, start, target, out);
    }
    if (!state_.compare_exchange_weak(state, pack(target.tick, pick.last), std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
      continue;
    if (target.opening) opened(target, pick.first, start, counters);
    picker.write(start, target, pick, out, counters);
    draw.drawn += pick.count;
    return true;
  }
}

bool Snowflake::aim_at_now(uint64_t state, LiveCounters& counters, Target& target, Draw& draw) {
  if ((state & closed_bit) != 0) {
    draw.stop = Draw::Stop::closed;
    return false;
  }
  target.state = state;
  target.unix_ms = ticks_.unix_millis();
  const uint64_t open_tick = tick_of(state);
  int64_t now = tick_of_millis(target.unix_ms);
  if (now < static_cast<int64_t>(open_tick) && !accept_clock(open_tick, counters, target.unix_ms, now, draw))
    return false;
  if (now > static_cast<int64_t>(open_tick)) {
    target.tick = static_cast<uint64_t>(now);
    target.opening = true;
    return may_open(target, draw);
  }
  target.tick = open_tick;
  target.base = base_of(open_tick);
  target.from = sequence_of(state) + 1;
  return true;
}

// The clock reads less than the tick that is open: because time was borrowed, because the published time is a
// little late, or because the clock stepped back.
bool Snowflake::accept_clock(uint64_t open_tick, LiveCounters& counters, int64_t& unix_ms, int64_t& now,
                             Draw& draw) {
  // The tick before the window is never opened.
  const bool untouched = open_tick + 1 == window_.first();
  const int64_t seen = seen_unix_ms_.load(std::memory_order_relaxed);
  if (!untouched && unix_ms >= seen) return true;
  unix_ms = read_clock(counters);
  now = tick_of_millis(unix_ms);
  if (now >= static_cast<int64_t>(open_tick)) return true;
  draw.tick = window_.first();
  if (untouched) {
    draw.stop = now < 0 ? Draw::Stop::before_epoch : Draw::Stop::window_not_begun;
    return false;
  }
  draw.drift_ms = seen - unix_ms;
  if (draw.drift_ms <= 0) return true;
  draw.stop = stop_of(action_for(clock_, draw.drift_ms));
  if (draw.stop == Draw::Stop::done) return true;
  draw.tick = open_tick;
  return false;
}

// From the clock itself. A step back shows as a reading below one that was taken before; of the threads that
// meet it, the one whose swap succeeds counts it.
int64_t Snowflake::read_clock(LiveCounters& counters) {
  int64_t before = reading_us_.load(std::memory_order_acquire);
  const int64_t now = ticks_.exact_unix_micros();
  if (reading_us_.compare_exchange_strong(before, now, std::memory_order_acq_rel) && now < before)
    counters.count_step(before - now);
  return now / 1000;
}

// The target's tick has no room. The next one is the clock's, or borrowed ahead of it.
bool Snowflake::aim_past_full_tick(Target& target, Draw& draw) const {
  target.unix_ms = ticks_.exact_unix_micros() / 1000;
  const int64_t now = tick_of_millis(target.unix_ms);
  const auto next = static_cast<int64_t>(target.tick) + 1;
  target.opening = true;
  target.after_full = true;
  target.used_order = false;
  target.from = 0;
  target.borrowed = now < next;
  target.tick = static_cast<uint64_t>(std::max(now, next));
  if (target.borrowed) {
    // A frozen clock counts as standing where it was last seen.
    const int64_t seen = seen_unix_ms_.load(std::memory_order_relaxed);
    const int64_t reference = seen == INT64_MIN ? now : std::max(now, tick_of_millis(seen));
    if (next > reference + int64_t{clock_.max_borrow_ticks}) {
      draw.stop = Draw::Stop::wait;
      draw.tick = static_cast<uint64_t>(next - int64_t{clock_.max_borrow_ticks});
      return false;
    }
  }
  return may_open(target, draw);
}

bool Snowflake::may_open(Target& target, Draw& draw) const {
  draw.tick = target.tick;
  if (target.tick > last_tick_) {
    draw.stop = Draw::Stop::exhausted;
    return false;
  }
  if (target.tick < window_.first()) {
    draw.tick = window_.first();
    draw.stop = Draw::Stop::window_not_begun;
    return false;
  }
  if (target.tick > window_.last()) {
    draw.stop = Draw::Stop::window_ended;
    return false;
  }
  target.base = base_of(target.tick);
  return true;
}

void Snowflake::opened(const Target& target, uint64_t first, const SteeredStart& start,
                       LiveCounters& counters) {
  opening_.store(pack(target.tick, first), std::memory_order_relaxed);
  if (target.used_order) start.order.advance();
  counters.ticks_opened.add(1);
  if (target.borrowed) {
    counters.ticks_borrowed.add(1);
    return;
  }
  int64_t seen = seen_unix_ms_.load(std::memory_order_relaxed);
  while (seen < target.unix_ms &&
         !seen_unix_ms_.compare_exchange_weak(seen, target.unix_ms, std::memory_order_relaxed)) {
  }
  reading_us_.store(target.unix_ms * 1'000, std::memory_order_release);
}

// Over how many permitted ranks the start of the target's tick may be drawn. A late start costs room at the
// end of the tick, so the range shrinks with the load of the tick before: all ranks while that was light,
// half of what it left free when it was busy, and the first rank alone once it was full, so that saturation
// loses nothing. After a full tick the first rank also continues the round over the slots.
uint64_t Snowflake::start_range(const SteeringMap& map, const Target& target) const {
  const uint64_t capacity = map.count_in(target.base, sequences_);
  const uint64_t all = std::min<uint64_t>(map.permitted_count(), capacity);
  const uint64_t before = tick_of(target.state);
  if (target.after_full) return std::min<uint64_t>(all, 1);
  if (target.state == untouched_ || target.tick > before + 1) return all;

  const uint64_t last = sequence_of(target.state);
  const uint64_t opening = opening_.load(std::memory_order_relaxed);
  const uint64_t first = tick_of(opening) == before ? std::min(sequence_of(opening), last) : 0;
  const uint64_t base = base_of(before);
  if (map.next_valid(base + last + 1) >= base + sequences_) return std::min<uint64_t>(all, 1);
  const uint64_t used = map.count_in(base + first, last - first + 1);
  const uint64_t left = capacity > used ? capacity - used : 0;
  const uint64_t left_twice = left > used ? left - used : 0;
  return std::min(all, std::max({uint64_t{1}, left_twice, left / 2}));
}

// The sequence at which the target's tick starts, at most `latest`; sequences() when the map permits nothing
// there.
uint64_t Snowflake::start_sequence(const SteeredStart& start, Target& target, uint64_t latest) const {
  const SteeringMap& map = start.map;
  const uint64_t range = std::min(start_range(map, target), map.count_in(target.base, latest + 1));
  if (range == 0) return sequences_;
  const uint64_t all = map.permitted_count();
  uint64_t rank = 0;
  if (range > 1) {
    // The order is one of slots; the tick may start anywhere in the pattern.
    const uint64_t first_rank = map.rank_of_residue(map.residue(target.base)) % all;
    rank = (start.order.peek() + all - first_rank) % all;
    if (range < all) rank = rank * range / all;
    target.used_order = true;
  }
  return map.nth_from(target.base, rank) - target.base;
}

}  // namespace evenkeel::idgen
