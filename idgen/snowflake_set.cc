#include "idgen/snowflake_set.h"

#include <algorithm>

#include "base/log.h"
#include "base/random.h"
#include "idgen/clock_policy.h"

namespace evenkeel::idgen {
namespace {

constexpr int64_t look_every_ms = 1'000;

}  // namespace

SnowflakeSet::SnowflakeSet(const GeneratorSettings& settings, std::shared_ptr<const TickSource> ticks,
                           std::unique_ptr<ClockProbe> probe)
    : settings_(settings),
      ticks_(std::move(ticks)),
      probe_(std::move(probe)),
      guard_(watches_sync(settings.clock) ? std::make_shared<ClockGuard>(settings.clock.watch) : nullptr) {}

Status SnowflakeSet::begin() {
  if (!guard_) return {};
  if (!probe_) return fail(internal_error("a generator that watches the clock without a probe"));
  if (guard_->judge(probe_->look()))
    log::error("generator {}: no ids are made: {}", settings_.name, guard_->reason());
  return {};
}

void SnowflakeSet::watch_clock(int64_t now_unix_ms) {
  // The subtraction is done unsigned: the first time, and after a step of the clock, it may overflow.
  const auto since =
      static_cast<int64_t>(static_cast<uint64_t>(now_unix_ms) - static_cast<uint64_t>(looked_at_clock_ms_));
  if (!guard_ || (since >= 0 && since < look_every_ms)) return;
  looked_at_clock_ms_ = now_unix_ms;
  if (!guard_->judge(probe_->look())) return;
  if (guard_->paused())
    log::error("generator {}: no ids are made: {}", settings_.name, guard_->reason());
  else
    log::info("generator {}: the clock was found right; ids are made again", settings_.name);
}

Result<KeyGenerator*> SnowflakeSet::add(const std::string& table, uint32_t slots, const Gene& gene,
                                        const Windows& windows, WorkerSupply* supply) {
  if (windows.empty()) return fail(internal_error("a Snowflake generator without a worker id"));
  SnowflakeGenerator::Parts parts;
  parts.settings = settings_;
  parts.table = table;
  parts.slots = slots;
  parts.window = windows.front();
  parts.more_windows.assign(windows.begin() + 1, windows.end());
  parts.ticks = ticks_;
  parts.seed = system_seed();
  parts.gene = gene;
  parts.supply = supply;
  parts.guard = guard_;
  EVENKEEL_ASSIGN(auto generator, SnowflakeGenerator::create(std::move(parts)));
  generators_.push_back(std::move(generator));
  return generators_.back().get();
}

SnowflakeSet::Adoption SnowflakeSet::adopt(uint32_t replaced,
                                           const std::shared_ptr<const TickWindow>& window) {
  Adoption adoption;
  for (const auto& generator : generators_) {
    auto last = generator->adopt(replaced, window);
    if (last)
      adoption.last_used = std::max(adoption.last_used, *last);
    else if (adoption.status)
      adoption.status = fail(std::move(last.error()));
  }
  return adoption;
}

void SnowflakeSet::close() {
  for (const auto& generator : generators_) generator->close();
}

uint64_t SnowflakeSet::last_tick(uint32_t worker) const {
  uint64_t last = 0;
  for (const auto& generator : generators_) last = std::max(last, generator->last_tick(worker));
  return last;
}

}  // namespace evenkeel::idgen
