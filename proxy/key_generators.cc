#include "proxy/key_generators.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "idgen/registry/file_registry.h"
#include "idgen/registry/snowflake_source.h"

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
      if (table->generated_column.empty()) continue;
      EVENKEEL_ASSIGN(
          all->by_table_[table.get()],
          all->add(config, table->generator, table->schema + "." + table->name, table->slot_count()));
    }
  }
  all->start_tending();
  return all;
}

Result<std::unique_ptr<KeyGenerators>> KeyGenerators::start_spaces(const config::Config& config,
                                                                   const Clock& clock) {
  std::unique_ptr<KeyGenerators> all(new KeyGenerators(clock));
  for (const auto& space : config.ids.service.key_spaces) {
    EVENKEEL_ASSIGN(all->by_space_[space.name], all->add(config, space.generator, space.name, space.slots));
  }
  all->start_tending();
  return all;
}

void KeyGenerators::start_tending() {
  if (!sources_.empty()) tender_ = std::thread([this] { tend_until_stopped(); });
}

KeyGenerators::~KeyGenerators() { stop(); }

Status KeyGenerators::open_registry(const std::string& directory) {
  if (registry_ != nullptr) return {};
  EVENKEEL_ASSIGN(registry_, idgen::open_file_registry(directory, clock_));
  ticker_ = std::make_shared<const idgen::Ticker>(clock_);
  return {};
}

Result<std::unique_ptr<idgen::KeySource>> KeyGenerators::open_source(
    const idgen::GeneratorSettings& settings) {
  EVENKEEL_TRY(open_registry(settings.worker.registry_directory));
  EVENKEEL_ASSIGN(auto source, idgen::SnowflakeSource::open(*registry_, settings, holder_name(), ticker_));
  log::info("generator {}: worker id {}", settings.name, source->worker());
  return std::unique_ptr<idgen::KeySource>(std::move(source));
}

Result<idgen::KeyGenerator*> KeyGenerators::add(const config::Config& config, const std::string& generator,
                                                const std::string& label, uint32_t slots) {
  const idgen::GeneratorSettings* settings = config.find_generator(generator);
  if (settings == nullptr) return fail(internal_error(fmt::format("no generator {}", generator)));
  auto& source = sources_[settings->name];
  if (source == nullptr) {
    EVENKEEL_ASSIGN(source, open_source(*settings));
  }
  return source->add_table(label, slots);
}

void KeyGenerators::tend_until_stopped() {
  int64_t shortest = INT64_MAX;
  for (const auto& [name, source] : sources_) shortest = std::min(shortest, source->tend_every_ms());
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(shortest), [this] { return stopping_; })) {
    for (const auto& [name, source] : sources_) {
      if (auto tended = source->tend(clock_.unix_millis()); !tended) log::error("{}", tended.error().message);
    }
  }
}

void KeyGenerators::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  changed_.notify_all();
  if (tender_.joinable()) tender_.join();
  for (const auto& [name, source] : sources_) {
    if (source == nullptr) continue;
    if (auto closed = source->close(); !closed) log::warn("{}", closed.error().message);
  }
}

}  // namespace evenkeel
