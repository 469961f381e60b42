#include "idgen/registry/snowflake_source.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/log.h"
#include "idgen/layout.h"

namespace evenkeel::idgen {

SnowflakeSource::SnowflakeSource(Registry& registry, const Clock& clock, const GeneratorSettings& settings,
                                 std::shared_ptr<const TickSource> ticks, std::unique_ptr<ClockProbe> probe)
    : registry_(registry),
      clock_(clock),
      settings_(settings),
      generators_(settings, std::move(ticks), std::move(probe)) {}

Result<std::unique_ptr<SnowflakeSource>> SnowflakeSource::open(Registry& registry, const Clock& clock,
                                                               const GeneratorSettings& settings,
                                                               std::shared_ptr<const TickSource> ticks,
                                                               std::unique_ptr<ClockProbe> probe) {
  std::unique_ptr<SnowflakeSource> source(
      new SnowflakeSource(registry, clock, settings, std::move(ticks), std::move(probe)));
  EVENKEEL_TRY(source->generators_.begin());
  for (uint32_t lane = 0; lane < settings.worker.lanes; ++lane) {
    EVENKEEL_ASSIGN(auto lease, source->acquire_lane(lane));
    source->leases_.push_back(std::move(lease));
  }
  return source;
}

Result<std::unique_ptr<WorkerLease>> SnowflakeSource::acquire_lane(uint32_t lane) {
  GeneratorSettings settings = settings_;
  if (settings.worker.fixed_id) *settings.worker.fixed_id += lane;
  return WorkerLease::acquire(registry_, clock_, settings);
}

std::vector<uint32_t> SnowflakeSource::workers() const {
  std::vector<uint32_t> workers;
  for (const auto& lease : leases_) workers.push_back(lease->worker());
  return workers;
}

Result<KeyGenerator*> SnowflakeSource::add_gene_table(const std::string& table, uint32_t slots,
                                                      const Gene& gene) {
  SnowflakeSet::Windows windows;
  for (const auto& lease : leases_) windows.push_back(lease->window());
  return generators_.add(table, slots, gene, windows, this);
}

Status SnowflakeSource::tend(int64_t now_unix_ms) {
  generators_.watch_clock(now_unix_ms);
  Status done;
  for (const auto& lease : leases_) {
    auto renewed = lease->renew_if_due();
    if (!renewed && done) done = fail(about(lease->worker(), "not renewed", renewed.error()));
  }
  const uint64_t wanted = switch_wanted_.exchange(0);
  if (wanted != 0) {
    const auto workers = this->workers();
    // An ask that came late may speak of an id that was given up already.
    if (std::find(workers.begin(), workers.end(), wanted - 1) != workers.end())
      if (auto switched = switch_workers(now_unix_ms); !switched && done) done = std::move(switched);
  }
  return done;
}

void SnowflakeSource::ask_for_switch(uint32_t worker) { switch_wanted_.store(uint64_t{worker} + 1); }

// All lanes read one clock: what made one of no use did so to all.
Status SnowflakeSource::switch_workers(int64_t now_unix_ms) {
  for (auto& lease : leases_) EVENKEEL_TRY(switch_lane(lease, now_unix_ms));
  return {};
}

Status SnowflakeSource::switch_lane(std::unique_ptr<WorkerLease>& lease, int64_t now_unix_ms) {
  const uint32_t old = lease->worker();
  auto other = acquire_other(now_unix_ms);
  if (!other) return fail(about(old, "not given up", other.error()));
  auto adopted = generators_.adopt(old, (*other)->window());
  log::warn("generator {}: the clock stepped back; worker id {} takes the place of {}", settings_.name,
            (*other)->worker(), old);
  std::swap(lease, *other);
  // A generator that kept the old id stays within what is reserved of it.
  if (!adopted.status) return fail(about(old, "not given up", adopted.status.error()));
  auto released = (*other)->release(adopted.last_used);
  return released ? Status() : fail(about(old, "not given back", released.error()));
}

// A worker id whose reserved time the clock has passed: any free one, or one of the spares.
Result<std::unique_ptr<WorkerLease>> SnowflakeSource::acquire_other(int64_t now_unix_ms) {
  std::vector<std::optional<uint32_t>> candidates = {std::nullopt};
  if (settings_.worker.fixed_id) {
    candidates.assign(settings_.worker.spare_ids.begin(), settings_.worker.spare_ids.end());
    for (uint32_t lane = 0; lane < settings_.worker.lanes; ++lane)
      candidates.emplace_back(*settings_.worker.fixed_id + lane);
  }
  Error last = registry_error("there is no spare worker id");
  for (const auto& candidate : candidates) {
    GeneratorSettings settings = settings_;
    settings.worker.fixed_id = candidate;
    auto lease = WorkerLease::acquire(registry_, clock_, settings);
    if (!lease) {
      last = lease.error();
      continue;
    }
    const uint64_t first = (*lease)->window()->first();
    if (tick_at(settings_.layout, now_unix_ms) >= static_cast<int64_t>(first)) return lease;
    last = registry_error(fmt::format("worker id {} is reserved until {}, which the clock has not reached",
                                      (*lease)->worker(),
                                      format_utc(tick_start_unix_ms(settings_.layout, first))));
    if (auto released = (*lease)->release(first - 1); !released) last = released.error();
  }
  return fail(std::move(last));
}

int64_t SnowflakeSource::tend_every_ms() const {
  return std::clamp<int64_t>(settings_.worker.renew_ms / 4, 10, 250);
}

Status SnowflakeSource::close() {
  if (closed_) return {};
  closed_ = true;
  generators_.close();
  Status done;
  for (const auto& lease : leases_) {
    auto released = lease->release(generators_.last_tick(lease->worker()));
    if (!released && done) done = fail(about(lease->worker(), "not given back", released.error()));
  }
  return done;
}

Error SnowflakeSource::about(uint32_t worker, std::string_view what, const Error& why) const {
  return registry_error(
      fmt::format("generator {}: worker id {} {}: {}", settings_.name, worker, what, why.message));
}

}  // namespace evenkeel::idgen
