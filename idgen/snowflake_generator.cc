#include "idgen/snowflake_generator.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "base/random.h"
#include "idgen/layout.h"

namespace evenkeel::idgen {
namespace {

// How soon to come back when the window should have been extended and was not yet.
constexpr int64_t renewal_retry_micros = 10'000;

uint64_t next_identity() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

uint64_t ordinal_of_thread() {
  static std::atomic<uint64_t> last{0};
  thread_local const uint64_t ordinal = ++last;
  return ordinal;
}

std::vector<bool> slots_in_reach(const SnowflakeGenerator::Parts& parts) {
  if (sequence_count(parts.settings.layout) >= parts.slots) return {};
  const uint32_t worker = parts.window->worker();
  return reachable_slots(parts.settings.layout, std::span(&worker, 1), parts.slots);
}

}  // namespace

struct SnowflakeGenerator::Seat {
  explicit Seat(uint64_t thread_ordinal) : thread(thread_ordinal) {}

  const uint64_t thread;
  uint64_t version = 0;
  std::shared_ptr<const SteeredStart> start;
  LiveCounters counters;
};

Result<std::unique_ptr<SnowflakeGenerator>> SnowflakeGenerator::create(Parts parts) {
  if (!parts.window || !parts.ticks)
    return fail(internal_error("a key generator without a window or a tick source"));
  const auto report = check_layout(parts.settings.layout, parts.ticks->exact_unix_micros() / 1000);
  if (!report.errors.empty())
    return fail(
        config_error(fmt::format("generator of {}: {}", parts.table, fmt::join(report.errors, "; "))));
  if (parts.window->worker() >= worker_count(parts.settings.layout))
    return fail(
        config_error(fmt::format("generator of {}: worker id {} does not fit {} worker bits", parts.table,
                                 parts.window->worker(), parts.settings.layout.worker_bits)));
  EVENKEEL_ASSIGN(SteeringMap map, SteeringMap::identity(parts.slots));
  auto generator = std::unique_ptr<SnowflakeGenerator>(new SnowflakeGenerator(std::move(parts)));
  EVENKEEL_TRY(generator->set_map(std::move(map)));
  return generator;
}

SnowflakeGenerator::SnowflakeGenerator(Parts parts)
    : parts_(std::move(parts)),
      identity_(next_identity()),
      reachable_(slots_in_reach(parts_)),
      snowflake_(parts_.settings.layout, parts_.settings.clock, *parts_.window, *parts_.ticks) {}

SnowflakeGenerator::~SnowflakeGenerator() = default;

Result<DrawnKeys> SnowflakeGenerator::draw(const KeyDemand& demand, std::span<uint64_t> keys) {
  EVENKEEL_TRY(check_demand(demand, keys, parts_.slots));
  EVENKEEL_TRY(check_reach(demand.row_slots));
  Seat& seat = seat_of_thread();
  const SteeredStart& start = *seat.start;
  const auto out = keys.first(demand.rows);
  Draw draw;
  if (!demand.row_slots.empty()) {
    draw = snowflake_.draw_slots(start, demand.row_slots, out, seat.counters);
  } else if (demand.rows == 1 || parts_.settings.batch == BatchMode::steered) {
    draw = snowflake_.draw(start, out, seat.counters);
  } else {
    draw = snowflake_.draw_run(start, {demand.slot_deficits, demand.slot_instances}, out, seat.counters);
  }
  DrawnKeys drawn{draw.drawn, demand.rows, {}};
  if (draw.stop == Draw::Stop::done) [[likely]]
    return drawn;

  auto wait = wait_or_refuse(draw);
  (wait ? seat.counters.waits : seat.counters.refusals).add(1);
  if (!wait) return fail(std::move(wait.error()));
  drawn.wait = *wait;
  return drawn;
}

Status SnowflakeGenerator::check_reach(std::span<const uint32_t> row_slots) const {
  if (reachable_.empty()) return {};
  for (const uint32_t slot : row_slots)
    if (!reachable_[slot])
      return fail(refusal(ErrorKind::config,
                          fmt::format("worker {} cannot make an id for slot {}: layout {} has fewer ids "
                                      "a unit than {} slots",
                                      worker(), slot, fingerprint(parts_.settings.layout), parts_.slots)));
  return {};
}

Status SnowflakeGenerator::check_map(const SteeringMap& map) const {
  if (map.slots() != parts_.slots)
    return fail(refusal(ErrorKind::config, fmt::format("a steering map of {} slots for a table of {}",
                                                       map.slots(), parts_.slots)));
  if (map.period() > snowflake_.sequences() && map.period() != map.slots())
    return fail(refusal(
        ErrorKind::config,
        fmt::format("a steering map of period {} is longer than the {} ids of one time unit; some workers "
                    "would never reach the light slots",
                    map.period(), snowflake_.sequences())));
  if (reachable_.empty()) return {};
  for (uint32_t slot = 0; slot < parts_.slots; ++slot)
    if (reachable_[slot] && map.permits(slot)) return {};
  return fail(
      refusal(ErrorKind::config,
              fmt::format("a steering map that permits no slot in reach of worker {}, which reaches {}",
                          worker(), describe_ranges(reachable_, true))));
}

Status SnowflakeGenerator::set_map(SteeringMap map) {
  EVENKEEL_TRY(check_map(map));
  const std::lock_guard lock(mutex_);
  // The same map again must not begin a new cycle of starts.
  if (current_ && current_->map == map) return {};
  const uint64_t version = map_version_.load(std::memory_order_relaxed) + 1;
  current_ = std::make_shared<const SteeredStart>(std::move(map), mix64(parts_.seed ^ mix64(version)));
  map_version_.store(version, std::memory_order_release);
  return {};
}

std::shared_ptr<const SteeringMap> SnowflakeGenerator::map() const {
  const std::lock_guard lock(mutex_);
  return {current_, &current_->map};
}

void SnowflakeGenerator::close() { snowflake_.close(); }

Counters SnowflakeGenerator::counters() const {
  const std::lock_guard lock(mutex_);
  Counters sum;
  for (const auto& seat : seats_) sum += seat->counters.read();
  return sum;
}

// A thread finds its seat in a small cache of its own; the map and the counters in it are then its own too,
// so a draw shares nothing with other threads but the generator's one word.
SnowflakeGenerator::Seat& SnowflakeGenerator::seat_of_thread() {
  struct Cached {
    uint64_t generator = 0;
    Seat* seat = nullptr;
  };
  constexpr size_t cache_size = 256;
  thread_local std::array<Cached, cache_size> cache;
  Cached& cached = cache[identity_ % cache_size];
  if (cached.generator != identity_) [[unlikely]]
    cached = {identity_, &find_or_make_seat()};
  Seat& seat = *cached.seat;
  if (seat.version != map_version_.load(std::memory_order_acquire)) [[unlikely]]
    refresh(seat);
  return seat;
}

SnowflakeGenerator::Seat& SnowflakeGenerator::find_or_make_seat() {
  const uint64_t thread = ordinal_of_thread();
  const std::lock_guard lock(mutex_);
  for (const auto& seat : seats_)
    if (seat->thread == thread) return *seat;
  seats_.push_back(std::make_unique<Seat>(thread));
  return *seats_.back();
}

void SnowflakeGenerator::refresh(Seat& seat) {
  const std::lock_guard lock(mutex_);
  seat.start = current_;
  seat.version = map_version_.load(std::memory_order_relaxed);
}

Result<KeyWait> SnowflakeGenerator::wait_or_refuse(const Draw& draw) const {
  const auto& layout = parts_.settings.layout;
  switch (draw.stop) {
    case Draw::Stop::done:
      break;
    case Draw::Stop::wait:
      return wait_for_tick(draw.tick, "its time units are used up ahead of the clock");
    case Draw::Stop::window_not_begun:
      return wait_for_tick(draw.tick,
                           "the clock stands before the last time that the worker id was reserved for");
    case Draw::Stop::window_ended:
      return wait_for_renewal(draw.tick);
    case Draw::Stop::clock_behind:
      return fail(refusal(ErrorKind::clock,
                          fmt::format("the clock stepped back by {} ms; at most {} ms are tolerated",
                                      draw.drift_ms, parts_.settings.clock.freeze_tolerance_ms)));
    case Draw::Stop::before_epoch:
      return fail(refusal(ErrorKind::clock, fmt::format("the clock stands before the epoch {}",
                                                        format_utc(layout.epoch_unix_ms))));
    case Draw::Stop::exhausted:
      return fail(refusal(ErrorKind::clock,
                          fmt::format("the time field of layout {} ended at {}", fingerprint(layout),
                                      format_utc(exhaustion_unix_ms(layout)))));
    case Draw::Stop::closed:
      return fail(refusal(ErrorKind::registry, "the generator was closed"));
  }
  return fail(internal_error("a draw that stopped without a reason"));
}

Result<KeyWait> SnowflakeGenerator::wait_for_tick(uint64_t tick, std::string_view why) const {
  const int64_t now = parts_.ticks->exact_unix_micros();
  const int64_t start = tick_start_unix_ms(parts_.settings.layout, tick);
  const int64_t wait_ms = start - now / 1000;
  if (wait_ms > parts_.settings.clock.max_wait_ms)
    return fail(refusal(ErrorKind::clock,
                        fmt::format("{}: the next id may be made at {}, the clock reads {} ({} ms earlier)",
                                    why, format_utc(start), format_utc(now / 1000), wait_ms)));
  return KeyWait{tick, std::max<int64_t>(1, start * 1000 - now)};
}

Result<KeyWait> SnowflakeGenerator::wait_for_renewal(uint64_t tick) const {
  const int64_t now = parts_.ticks->exact_unix_micros() / 1000;
  const int64_t end = tick_start_unix_ms(parts_.settings.layout, parts_.window->last() + 1);
  if (now - end > parts_.settings.clock.max_wait_ms)
    return fail(refusal(
        ErrorKind::registry,
        fmt::format("the time reserved for the worker id ended at {} and was not extended; see the log of "
                    "the registry",
                    format_utc(end))));
  return KeyWait{tick, renewal_retry_micros};
}

Error SnowflakeGenerator::refusal(ErrorKind kind, std::string_view why) const {
  return make_error(kind, mysql::er::unknown_error,
                    fmt::format("no key for table {} (generator {}, worker {}): {}", parts_.table,
                                parts_.settings.name, worker(), why));
}

}  // namespace evenkeel::idgen
