#include "proxy/key_generators.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "base/random.h"
#include "idgen/registry/file_registry.h"

namespace evenkeel {
namespace {

// "evenkeel pid 4711 on db7": how other processes name the holder of a worker id.
std::string holder_name() {
  char host[256] = "?";
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '?';
  return fmt::format("evenkeel pid {} on {}", getpid(), host);
}

}  // namespace

Result<std::unique_ptr<KeyGenerators>> KeyGenerators::start(const config::Config& config,
                                                            const Clock& clock) {
  std::unique_ptr<KeyGenerators> all(new KeyGenerators(clock));
  for (const auto& schema : config.rules->schemas()) {
    for (const auto& table : schema.tables) {
      if (!table->generated_column.empty()) EVENKEEL_TRY(all->add_table(config, *table));
    }
  }
  if (!all->leased_.empty()) all->renewer_ = std::thread([raw = all.get()] { raw->renew_until_stopped(); });
  return all;
}

KeyGenerators::~KeyGenerators() { stop(); }

Status KeyGenerators::open_registry(const std::string& directory) {
  if (registry_ != nullptr) return {};
  EVENKEEL_ASSIGN(registry_, idgen::open_file_registry(directory, clock_));
  ticker_ = std::make_shared<const idgen::Ticker>(clock_);
  return {};
}

Result<KeyGenerators::Leased*> KeyGenerators::leased(const idgen::GeneratorSettings& settings) {
  EVENKEEL_TRY(open_registry(settings.worker.registry_directory));
  Leased& entry = leased_[settings.name];
  if (entry.lease == nullptr) {
    EVENKEEL_ASSIGN(entry.lease, idgen::WorkerLease::acquire(*registry_, settings, holder_name()));
    entry.name = settings.name;
    entry.renew_ms = settings.worker.renew_ms;
    log::info("generator {}: worker id {}", settings.name, entry.lease->worker());
  }
  return &entry;
}

Status KeyGenerators::add_table(const config::Config& config, const rule::LogicalTable& table) {
  const idgen::GeneratorSettings* settings = config.find_generator(table.generator);
  if (settings == nullptr) return fail(internal_error(fmt::format("no generator {}", table.generator)));
  EVENKEEL_ASSIGN(Leased * entry, leased(*settings));
  idgen::KeyGenerator::Parts parts;
  parts.settings = *settings;
  parts.table = table.schema + "." + table.name;
  parts.slots = table.slot_count();
  parts.window = entry->lease->window();
  parts.ticks = ticker_;
  parts.seed = system_seed();
  EVENKEEL_ASSIGN(auto generator, idgen::KeyGenerator::create(std::move(parts)));
  by_table_[&table] = generator.get();
  entry->generators.push_back(std::move(generator));
  return {};
}

void KeyGenerators::renew_all() {
  for (auto& [name, entry] : leased_) {
    if (auto renewed = entry.lease->renew_if_due(clock_.unix_millis()); !renewed) {
      log::error("generator {}: worker id {} not renewed: {}", name, entry.lease->worker(),
                 renewed.error().message);
    }
  }
}

void KeyGenerators::renew_until_stopped() {
  int64_t shortest = 1'000;
  for (const auto& [name, entry] : leased_) shortest = std::min(shortest, entry.renew_ms);
  const std::chrono::milliseconds period(std::max<int64_t>(shortest / 4, 10));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, period, [this] { return stopping_; })) renew_all();
}

void KeyGenerators::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  changed_.notify_all();
  if (renewer_.joinable()) renewer_.join();
  for (auto& [name, entry] : leased_) {
    if (entry.lease == nullptr) continue;
    uint64_t last_used = 0;
    for (auto& generator : entry.generators) last_used = std::max(last_used, generator->close());
    if (auto released = entry.lease->release(last_used); !released) {
      log::warn("generator {}: worker id not given back: {}", name, released.error().message);
    }
  }
}

}  // namespace evenkeel
