#include "idgen/registry/snowflake_source.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/random.h"

namespace evenkeel::idgen {

Result<std::unique_ptr<SnowflakeSource>> SnowflakeSource::open(Registry& registry, const Clock& clock,
                                                               const GeneratorSettings& settings,
                                                               std::shared_ptr<const TickSource> ticks) {
  EVENKEEL_ASSIGN(auto lease, WorkerLease::acquire(registry, clock, settings));
  return std::unique_ptr<SnowflakeSource>(new SnowflakeSource(settings, std::move(lease), std::move(ticks)));
}

Result<KeyGenerator*> SnowflakeSource::add_table(const std::string& table, uint32_t slots) {
  SnowflakeGenerator::Parts parts;
  parts.settings = settings_;
  parts.table = table;
  parts.slots = slots;
  parts.window = lease_->window();
  parts.ticks = ticks_;
  parts.seed = system_seed();
  EVENKEEL_ASSIGN(auto generator, SnowflakeGenerator::create(std::move(parts)));
  generators_.push_back(std::move(generator));
  return generators_.back().get();
}

Status SnowflakeSource::tend(int64_t) {
  auto renewed = lease_->renew_if_due();
  if (renewed) return {};
  return fail(registry_error(fmt::format("generator {}: worker id {} not renewed: {}", settings_.name,
                                         lease_->worker(), renewed.error().message)));
}

int64_t SnowflakeSource::tend_every_ms() const {
  return std::clamp<int64_t>(settings_.worker.renew_ms / 4, 10, 250);
}

Status SnowflakeSource::close() {
  if (closed_) return {};
  closed_ = true;
  uint64_t last_used = 0;
  for (const auto& generator : generators_) {
    generator->close();
    last_used = std::max(last_used, generator->last_tick());
  }
  auto released = lease_->release(last_used);
  if (released) return {};
  return fail(registry_error(
      fmt::format("generator {}: worker id not given back: {}", settings_.name, released.error().message)));
}

}  // namespace evenkeel::idgen
