#include "idgen/snowflake_generator.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "base/random.h"
#include "idgen/clock_policy.h"
#include "idgen/layout.h"

namespace evenkeel::idgen {
namespace {

// How soon to come back when the window should have been extended and was not yet, or another worker id is on
// its way.
constexpr int64_t retry_micros = 10'000;

uint64_t next_identity() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

uint64_t ordinal_of_thread() {
  static std::atomic<uint64_t> last{0};
  thread_local const uint64_t ordinal = ++last;
  return ordinal;
}

}  // namespace

struct SnowflakeGenerator::Seat {
  Seat(uint64_t thread_ordinal, size_t place) : thread(thread_ordinal), number(place) {}

  const uint64_t thread;
  const size_t number;  // of this generator's seats: spreads threads over lanes
  uint64_t version = 0;
  std::shared_ptr<const SteeredStart> start;
  std::shared_ptr<Lane> lane;
  LiveCounters counters;
};

Result<std::unique_ptr<SnowflakeGenerator>> SnowflakeGenerator::create(Parts parts) {
  if (!parts.window || !parts.ticks)
    return fail(internal_error("a key generator without a window or a tick source"));
  auto errors = check_layout(parts.settings.layout, parts.ticks->exact_unix_micros() / 1000).errors;
  // A gene that nobody asks for does no harm.
  if (errors.empty() && parts.gene != Gene{})
    errors = check_gene(parts.gene, parts.settings.layout, parts.slots).errors;
  auto windows = parts.more_windows;
  windows.push_back(parts.window);
  for (const auto& window : windows)
    if (window->worker() >= worker_count(parts.settings.layout))
      errors.push_back(fmt::format("worker id {} does not fit {} worker bits", window->worker(),
                                   parts.settings.layout.worker_bits));
  if (!errors.empty())
    return fail(config_error(fmt::format("generator of {}: {}", parts.table, fmt::join(errors, "; "))));
  EVENKEEL_ASSIGN(SteeringMap map, SteeringMap::identity(parts.slots));
  auto generator = std::unique_ptr<SnowflakeGenerator>(new SnowflakeGenerator(std::move(parts)));
  EVENKEEL_TRY(generator->set_map(std::move(map)));
  return generator;
}

SnowflakeGenerator::SnowflakeGenerator(Parts parts) : parts_(std::move(parts)), identity_(next_identity()) {
  lanes_.push_back(make_lane(parts_.window));
  for (const auto& window : parts_.more_windows) lanes_.push_back(make_lane(window));
}

SnowflakeGenerator::~SnowflakeGenerator() = default;

std::shared_ptr<Lane> SnowflakeGenerator::make_lane(std::shared_ptr<const TickWindow> window) const {
  return std::make_shared<Lane>(parts_.settings.layout, parts_.settings.clock, parts_.gene, parts_.slots,
                                std::move(window), *parts_.ticks);
}

Result<DrawnKeys> SnowflakeGenerator::draw(const KeyDemand& demand, std::span<uint64_t> keys) {
  EVENKEEL_TRY(check_demand(demand, keys, parts_.slots, gene_modulus()));
  Seat& seat = seat_of_thread();
  if (parts_.guard && parts_.guard->paused()) [[unlikely]] {
    seat.counters.refusals.add(1);
    return fail(refusal(ErrorKind::clock, parts_.guard->reason(), *seat.lane));
  }
  EVENKEEL_TRY(check_genes(demand.row_slots, *seat.lane));
  const auto out = keys.first(demand.rows);
  DrawnKeys drawn{0, demand.rows, {}};
  for (;;) {
    const Draw draw = draw_from(seat, demand, out.subspan(drawn.drawn));
    drawn.drawn += draw.drawn;
    if (draw.stop == Draw::Stop::done) [[likely]]
      return drawn;
    // The lane ended because another took its place.
    if (draw.stop == Draw::Stop::closed && refresh(seat)) continue;
    return told(seat, draw, drawn);
  }
}

Draw SnowflakeGenerator::draw_from(Seat& seat, const KeyDemand& demand, std::span<uint64_t> out) const {
  const SteeredStart& start = *seat.start;
  if (!demand.row_slots.empty())
    return seat.lane->draw_genes(start, demand.row_slots.last(out.size()), out, seat.counters);
  if (demand.rows == 1 || parts_.settings.batch == BatchMode::steered)
    return seat.lane->core().draw(start, out, seat.counters);
  return seat.lane->core().draw_run(start, {demand.slot_deficits, demand.slot_instances}, out, seat.counters);
}

Result<DrawnKeys> SnowflakeGenerator::told(Seat& seat, const Draw& draw, DrawnKeys drawn) const {
  auto wait = wait_or_refuse(draw, *seat.lane);
  (wait ? seat.counters.waits : seat.counters.refusals).add(1);
  if (!wait) return fail(std::move(wait.error()));
  drawn.wait = *wait;
  return drawn;
}

Status SnowflakeGenerator::check_genes(std::span<const uint32_t> genes, const Lane& lane) const {
  if (genes.empty() && parts_.gene.method == GeneMethod::classes)
    return fail(refusal(ErrorKind::config,
                        "with the gene method classes each id needs a gene; others could repeat one", lane));
  const auto& reachable = lane.reachable_genes();
  if (reachable.empty()) return {};
  for (const uint32_t gene : genes)
    if (!reachable[gene])
      return fail(
          refusal(ErrorKind::config,
                  fmt::format("worker {} cannot make an id for slot {}: layout {} has fewer ids "
                              "a unit than {} slots",
                              lane.worker(), gene, fingerprint(parts_.settings.layout), gene_modulus()),
                  lane));
  return {};
}

Status SnowflakeGenerator::check_map(const SteeringMap& map) const {
  const Lane& first = *lanes_.front();
  if (map.slots() != parts_.slots)
    return fail(refusal(
        ErrorKind::config,
        fmt::format("a steering map of {} slots for a table of {}", map.slots(), parts_.slots), first));
  if (map.period() > first.sequences() && map.period() != map.slots())
    return fail(refusal(
        ErrorKind::config,
        fmt::format("a steering map of period {} is longer than the {} ids of one time unit; some workers "
                    "would never reach the light slots",
                    map.period(), first.sequences()),
        first));
  if (!map.is_identity() && parts_.gene.method == GeneMethod::classes)
    return fail(refusal(
        ErrorKind::config,
        "with the gene method classes the sharding column names the table: steering does not apply", first));
  for (const auto& lane : lanes_) EVENKEEL_TRY(check_lane(map, *lane));
  return {};
}

Status SnowflakeGenerator::check_lane(const SteeringMap& map, const Lane& lane) const {
  const auto& reachable = lane.reachable_slots();
  if (reachable.empty()) return {};
  for (uint32_t slot = 0; slot < parts_.slots; ++slot)
    if (reachable[slot] && map.permits(slot)) return {};
  return fail(
      refusal(ErrorKind::config,
              fmt::format("a steering map that permits no slot in reach of worker {}, which reaches {}",
                          lane.worker(), describe_ranges(reachable, true)),
              lane));
}

Status SnowflakeGenerator::set_map(SteeringMap map) {
  const std::lock_guard lock(mutex_);
  EVENKEEL_TRY(check_map(map));
  // The same map again must not begin a new cycle of starts.
  if (current_ && current_->map == map) return {};
  const uint64_t version = version_.load(std::memory_order_relaxed) + 1;
  current_ = std::make_shared<const SteeredStart>(std::move(map), mix64(parts_.seed ^ mix64(version)));
  version_.store(version, std::memory_order_release);
  return {};
}

std::shared_ptr<const SteeringMap> SnowflakeGenerator::map() const {
  const std::lock_guard lock(mutex_);
  return {current_, &current_->map};
}

Result<uint64_t> SnowflakeGenerator::adopt(uint32_t replaced, std::shared_ptr<const TickWindow> window) {
  if (window->worker() >= worker_count(parts_.settings.layout))
    return fail(config_error(fmt::format("worker id {} does not fit {} worker bits", window->worker(),
                                         parts_.settings.layout.worker_bits)));
  auto fresh = make_lane(std::move(window));
  const std::lock_guard lock(mutex_);
  const auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                                 [&](const auto& known) { return known->worker() == replaced; });
  if (lane == lanes_.end())
    return fail(config_error(fmt::format("table {} has no worker id {}", parts_.table, replaced)));
  EVENKEEL_TRY(check_lane(current_->map, *fresh));
  const auto old = std::exchange(*lane, std::move(fresh));
  ++switches_;
  // A draw that finds the old lane closed must find the new version.
  version_.fetch_add(1, std::memory_order_release);
  old->close();
  return old->last_tick();
}

void SnowflakeGenerator::close() {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) lane->close();
}

uint64_t SnowflakeGenerator::last_tick(uint32_t worker) const {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_)
    if (lane->worker() == worker) return lane->last_tick();
  return 0;
}

uint64_t SnowflakeGenerator::last_tick() const {
  const std::lock_guard lock(mutex_);
  uint64_t last = 0;
  for (const auto& lane : lanes_) last = std::max(last, lane->last_tick());
  return last;
}

std::vector<uint32_t> SnowflakeGenerator::workers() const {
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> workers;
  for (const auto& lane : lanes_) workers.push_back(lane->worker());
  return workers;
}

Counters SnowflakeGenerator::counters() const {
  const std::lock_guard lock(mutex_);
  Counters sum;
  for (const auto& seat : seats_) sum += seat->counters.read();
  sum.worker_switches = switches_;
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
  if (seat.version != version_.load(std::memory_order_acquire)) [[unlikely]]
    refresh(seat);
  return seat;
}

SnowflakeGenerator::Seat& SnowflakeGenerator::find_or_make_seat() {
  const uint64_t thread = ordinal_of_thread();
  const std::lock_guard lock(mutex_);
  for (const auto& seat : seats_)
    if (seat->thread == thread) return *seat;
  seats_.push_back(std::make_unique<Seat>(thread, seats_.size()));
  return *seats_.back();
}

// False when the seat was up to date.
bool SnowflakeGenerator::refresh(Seat& seat) {
  const std::lock_guard lock(mutex_);
  const uint64_t version = version_.load(std::memory_order_relaxed);
  if (seat.version == version) return false;
  seat.start = current_;
  seat.lane = lanes_[seat.number % lanes_.size()];
  seat.version = version;
  return true;
}

Result<KeyWait> SnowflakeGenerator::wait_or_refuse(const Draw& draw, Lane& lane) const {
  switch (draw.stop) {
    case Draw::Stop::done:
      break;
    case Draw::Stop::wait:
      return wait_for_tick(draw.tick, "its time units are used up ahead of the clock", lane);
    case Draw::Stop::window_not_begun:
      return wait_for_tick(draw.tick,
                           "the clock stands before the last time that the worker id was reserved for", lane);
    case Draw::Stop::window_ended:
      return wait_for_renewal(draw.tick, lane);
    case Draw::Stop::clock_wait:
      return KeyWait{draw.tick, draw.drift_ms * 1000};
    case Draw::Stop::clock_wants_switch:
      if (parts_.supply != nullptr) return wait_for_switch(draw, lane);
      break;
    case Draw::Stop::clock_wants_pause:
      if (parts_.guard) parts_.guard->pause(draw.drift_ms);
      break;
    case Draw::Stop::clock_behind:
      break;
    case Draw::Stop::before_epoch:
    case Draw::Stop::exhausted:
    case Draw::Stop::closed:
      return fail(never_refusal(draw, lane));
  }
  if (draw.drift_ms <= 0) return fail(internal_error("a draw that stopped without a reason"));
  return fail(clock_refusal(draw, lane));
}

Error SnowflakeGenerator::clock_refusal(const Draw& draw, const Lane& lane) const {
  return refusal(ErrorKind::clock,
                 fmt::format("the clock stepped back by {} ms; the clock policy is: {}", draw.drift_ms,
                             describe(parts_.settings.clock)),
                 lane);
}

// What no wait can mend.
Error SnowflakeGenerator::never_refusal(const Draw& draw, const Lane& lane) const {
  const auto& layout = parts_.settings.layout;
  if (draw.stop == Draw::Stop::closed) return refusal(ErrorKind::registry, "the generator was closed", lane);
  if (draw.stop == Draw::Stop::before_epoch) {
    return refusal(ErrorKind::clock,
                   fmt::format("the clock stands before the epoch {}", format_utc(layout.epoch_unix_ms)),
                   lane);
  }
  return refusal(ErrorKind::clock,
                 fmt::format("the time field of layout {} ended at {}", fingerprint(layout),
                             format_utc(exhaustion_unix_ms(layout))),
                 lane);
}

Status SnowflakeGenerator::ready() const {
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    const std::lock_guard lock(mutex_);
    lanes = lanes_;
  }
  if (parts_.guard && parts_.guard->paused())
    return fail(refusal(ErrorKind::clock, parts_.guard->reason(), *lanes.front()));
  // Each thread draws from one of them.
  for (const auto& lane : lanes) EVENKEEL_TRY(ready(*lane));
  return {};
}

Status SnowflakeGenerator::ready(const Lane& lane) const {
  const Draw draw = lane.core().forecast();
  switch (draw.stop) {
    case Draw::Stop::done:
    case Draw::Stop::wait:
      return {};
    case Draw::Stop::window_not_begun:
      EVENKEEL_TRY(wait_for_tick(
          draw.tick, "the clock stands before the last time that the worker id was reserved for", lane));
      return {};
    case Draw::Stop::window_ended:
      // A draw would wait for a renewal of which nobody knows whether it comes.
      return fail(window_refusal(lane));
    case Draw::Stop::clock_wait:
      if (draw.drift_ms <= parts_.settings.clock.max_wait_ms) return {};
      return fail(clock_refusal(draw, lane));
    case Draw::Stop::clock_wants_switch:
    case Draw::Stop::clock_wants_pause:
    case Draw::Stop::clock_behind:
      return fail(clock_refusal(draw, lane));
    case Draw::Stop::before_epoch:
    case Draw::Stop::exhausted:
    case Draw::Stop::closed:
      return fail(never_refusal(draw, lane));
  }
  return {};
}

Result<KeyWait> SnowflakeGenerator::wait_for_switch(const Draw& draw, Lane& lane) const {
  parts_.supply->ask_for_switch(lane.worker());
  const int64_t now = parts_.ticks->exact_unix_micros();
  const int64_t waited_ms = std::abs(now - lane.switch_wanted_since(now)) / 1000;
  if (waited_ms <= parts_.settings.clock.max_wait_ms) return KeyWait{draw.tick, retry_micros};
  return fail(
      refusal(ErrorKind::clock,
              fmt::format("the clock stepped back by {} ms, and no other worker id has come for {} ms; see "
                          "the log of the registry",
                          draw.drift_ms, waited_ms),
              lane));
}

Result<KeyWait> SnowflakeGenerator::wait_for_tick(uint64_t tick, std::string_view why,
                                                  const Lane& lane) const {
  const int64_t now = parts_.ticks->exact_unix_micros();
  const int64_t start = tick_start_unix_ms(parts_.settings.layout, tick);
  const int64_t wait_ms = start - now / 1000;
  if (wait_ms > parts_.settings.clock.max_wait_ms)
    return fail(refusal(ErrorKind::clock,
                        fmt::format("{}: the next id may be made at {}, the clock reads {} ({} ms earlier)",
                                    why, format_utc(start), format_utc(now / 1000), wait_ms),
                        lane));
  return KeyWait{tick, std::max<int64_t>(1, start * 1000 - now)};
}

Result<KeyWait> SnowflakeGenerator::wait_for_renewal(uint64_t tick, const Lane& lane) const {
  const int64_t now = parts_.ticks->exact_unix_micros() / 1000;
  const int64_t end = tick_start_unix_ms(parts_.settings.layout, lane.window().last() + 1);
  if (now - end > parts_.settings.clock.max_wait_ms) return fail(window_refusal(lane));
  return KeyWait{tick, retry_micros};
}

Error SnowflakeGenerator::window_refusal(const Lane& lane) const {
  const int64_t end = tick_start_unix_ms(parts_.settings.layout, lane.window().last() + 1);
  return refusal(
      ErrorKind::registry,
      fmt::format(
          "the time reserved for the worker id ended at {} and was not extended; see the log of the registry",
          format_utc(end)),
      lane);
}

Error SnowflakeGenerator::refusal(ErrorKind kind, std::string_view why, const Lane& lane) const {
  return make_error(kind, mysql::er::unknown_error,
                    fmt::format("no key for table {} (generator {}, worker {}): {}", parts_.table,
                                parts_.settings.name, lane.worker(), why));
}

}  // namespace evenkeel::idgen
