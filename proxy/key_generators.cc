#include "proxy/key_generators.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "idgen/clock_policy.h"
#include "idgen/layout.h"
#include "idgen/registry/clock_probe.h"
#include "idgen/registry/open_registry.h"
#include "idgen/registry/snowflake_source.h"
#ifdef EVENKEEL_WITH_MYSQL_SEGMENTS
#include "idgen/segment/hybrid_source.h"
#include "idgen/segment/mysql_segment_store.h"
#include "idgen/segment/segment_source.h"
#endif

namespace evenkeel {

namespace {

using namespace std::chrono_literals;

#ifndef EVENKEEL_WITH_MYSQL_SEGMENTS
Error without_segments(const std::string& generator) {
  return config_error(fmt::format(
      "generator {}: this program was built without segments (EVENKEEL_SEGMENT_MYSQL); build it with "
      "libmysqlcppconn-dev present",
      generator));
}
#endif

// Longer than a call to a store with the default timeout; all threads are waited for at the same time.
constexpr std::chrono::milliseconds stop_patience = 5s;
// How often the registry is asked for its time: that it cannot be reached is then known long before a
// reserved time ends.
constexpr std::chrono::milliseconds clock_period = 10s;

// Messages differ in their numbers (times, versions) while nothing has changed.
std::string without_digits(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return text;
}

// Says a failure when it begins or becomes another one, and its end; not each time.
class Complaint {
 public:
  explicit Complaint(const Clock& clock) : clock_(clock) {}

  // `consequence` follows the message.
  void failed(const Error& error, std::string_view consequence) {
    ++failures_;
    const std::string kind = without_digits(error.message);
    if (kind == said_) return;
    if (said_.empty()) since_ = clock_.steady();
    said_ = kind;
    log::error("{}{}", error.message, consequence);
  }
  void went_well(std::string_view what) {
    if (said_.empty()) return;
    const auto lasted = std::chrono::duration_cast<std::chrono::seconds>(clock_.steady() - since_);
    log::info("{} again, after {} attempts in {} s", what, failures_, lasted.count());
    said_.clear();
    failures_ = 0;
  }
  bool is_failing() const { return !said_.empty(); }

 private:
  const Clock& clock_;
  std::string said_;
  std::chrono::nanoseconds since_{0};
  uint64_t failures_ = 0;
};

idgen::Gene gene_of(const rule::LogicalTable& table) {
  using Method = rule::GeneSettings::Method;
  idgen::Gene gene;
  gene.modulus = table.gene.modulus;
  switch (table.gene.method) {
    case Method::shared:
      gene.method = idgen::GeneMethod::shared;
      break;
    case Method::blocks:
      gene.method = idgen::GeneMethod::blocks;
      break;
    case Method::classes:
      gene.method = idgen::GeneMethod::classes;
      break;
  }
  return gene;
}

}  // namespace

class KeyGenerators::Tended {
 public:
  Tended(std::string name, std::unique_ptr<idgen::KeySource> source,
         std::shared_ptr<idgen::Registry> registry, const Clock& clock)
      : name_(std::move(name)),
        registry_(std::move(registry)),
        source_(std::move(source)),
        clock_(clock),
        complaint_(clock) {}

  idgen::KeySource& source() { return *source_; }
  uint64_t failures() const { return failures_; }
  bool is_failing() const { return failing_; }

  void tend() {
    if (auto tended = source_->tend(clock_.unix_millis()); !tended) {
      ++failures_;
      complaint_.failed(tended.error(), "; keys are made until the time already reserved ends");
    } else {
      complaint_.went_well(fmt::format("generator {}: renewed", name_));
    }
    failing_ = complaint_.is_failing();
  }
  void close() {
    if (auto closed = source_->close(); !closed) log::warn("{}", closed.error().message);
  }

 private:
  const std::string name_;
  const std::shared_ptr<idgen::Registry> registry_;  // the source refers to it
  const std::unique_ptr<idgen::KeySource> source_;
  const Clock& clock_;
  Complaint complaint_;
  std::atomic<uint64_t> failures_{0};
  std::atomic<bool> failing_{false};
};

class KeyGenerators::ClockWatch {
 public:
  ClockWatch(std::shared_ptr<idgen::Registry> registry, const Clock& clock)
      : registry_(std::move(registry)), clock_(clock), complaint_(clock) {}

  void sample() {
    auto offset = idgen::sample_clock_offset(*registry_, clock_);
    if (!offset)
      complaint_.failed(offset.error(),
                        "; worker ids that are held stay usable until their reserved time ends");
    else
      complaint_.went_well("the registry answers");
    const std::lock_guard lock(mutex_);
    reachable_ = offset.has_value();
    if (offset)
      latest_ = *offset;
    else
      ++failures_;
  }
  void report(RegistryHealth& health) const {
    const std::lock_guard lock(mutex_);
    health.clock_failures = failures_;
    health.reachable = reachable_;
    health.clock_offset = latest_;
  }

 private:
  const std::shared_ptr<idgen::Registry> registry_;
  const Clock& clock_;
  Complaint complaint_;
  mutable std::mutex mutex_;  // guards what follows
  std::optional<idgen::ClockOffset> latest_;
  bool reachable_ = true;
  uint64_t failures_ = 0;
};

std::string process_name() {
  char host[256] = "?";
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '?';
  return fmt::format("evenkeel pid {} on {}", getpid(), host);
}

Result<std::unique_ptr<KeyGenerators>> KeyGenerators::start(const config::Config& config,
                                                            const Clock& clock) {
  std::unique_ptr<KeyGenerators> all(new KeyGenerators(clock));
  for (const auto& schema : config.rules->schemas()) {
    for (const auto& table : schema.tables) {
      if (table->generated_column.empty()) continue;
      EVENKEEL_ASSIGN(all->by_table_[table.get()],
                      all->add(config, table->generator, table->schema + "." + table->name,
                               table->slot_count(), gene_of(*table)));
    }
  }
  all->start_threads();
  return all;
}

Result<std::unique_ptr<KeyGenerators>> KeyGenerators::start_spaces(const config::Config& config,
                                                                   const Clock& clock) {
  std::unique_ptr<KeyGenerators> all(new KeyGenerators(clock));
  for (const auto& space : config.ids.service.key_spaces) {
    EVENKEEL_ASSIGN(all->by_space_[space.name],
                    all->add(config, space.generator, space.name, space.slots, idgen::Gene{}));
  }
  all->start_threads();
  return all;
}

KeyGenerators::~KeyGenerators() { stop(); }

Status KeyGenerators::open_registry(const idgen::RegistrySettings& settings) {
  if (registry_ != nullptr) return {};
  EVENKEEL_ASSIGN(auto opened, idgen::open_registry(settings, clock_));
  EVENKEEL_ASSIGN(const auto shortcomings, opened->shortcomings());
  for (const auto& text : shortcomings) log::warn("registry: {}", text);
  registry_ = std::move(opened);
  clock_watch_ = std::make_shared<ClockWatch>(registry_, clock_);
  if (ticker_ == nullptr) ticker_ = std::make_shared<const idgen::Ticker>(clock_);
  return {};
}

Result<std::unique_ptr<idgen::KeySource>> KeyGenerators::open_segments(
    const idgen::GeneratorSettings& settings) {
#ifdef EVENKEEL_WITH_MYSQL_SEGMENTS
  log::info("generator {}: segments from {} allocators", settings.name, settings.segment.allocators.size());
  return idgen::SegmentSource::open(settings, idgen::make_mysql_segment_store, clock_);
#else
  return fail(without_segments(settings.name));
#endif
}

Result<std::unique_ptr<idgen::KeySource>> KeyGenerators::open_hybrid(
    const idgen::GeneratorSettings& settings) {
#ifdef EVENKEEL_WITH_MYSQL_SEGMENTS
  std::vector<std::unique_ptr<idgen::SegmentStore>> stores;
  for (const auto& allocator : settings.segment.allocators)
    stores.push_back(idgen::make_mysql_segment_store(allocator, settings.segment.timeout_ms));
  if (ticker_ == nullptr) ticker_ = std::make_shared<const idgen::Ticker>(clock_);
  EVENKEEL_ASSIGN(auto source,
                  idgen::HybridSource::open(settings, std::move(stores), ticker_, clock_,
                                            std::make_unique<idgen::SystemClockProbe>(nullptr, clock_)));
  log::info("generator {}: worker id {} from the store of segments; layout {}; clock: {}", settings.name,
            source->worker(), idgen::describe(settings.layout), idgen::describe(settings.clock));
  return std::unique_ptr<idgen::KeySource>(std::move(source));
#else
  return fail(without_segments(settings.name));
#endif
}

Result<std::unique_ptr<idgen::KeySource>> KeyGenerators::open_source(
    const idgen::GeneratorSettings& settings) {
  if (settings.kind == idgen::GeneratorKind::segment) return open_segments(settings);
  if (settings.kind == idgen::GeneratorKind::hybrid) return open_hybrid(settings);
  EVENKEEL_ASSIGN(auto source, idgen::SnowflakeSource::open(
                                   *registry_, clock_, settings, ticker_,
                                   std::make_unique<idgen::SystemClockProbe>(registry_.get(), clock_)));
  log::info("generator {}: worker id {}; layout {}; clock: {}", settings.name,
            fmt::join(source->workers(), ", "), idgen::describe(settings.layout),
            idgen::describe(settings.clock));
  return std::unique_ptr<idgen::KeySource>(std::move(source));
}

Result<idgen::KeyGenerator*> KeyGenerators::add(const config::Config& config, const std::string& generator,
                                                const std::string& label, uint32_t slots,
                                                const idgen::Gene& gene) {
  const idgen::GeneratorSettings* settings = config.find_generator(generator);
  if (settings == nullptr) return fail(internal_error(fmt::format("no generator {}", generator)));
  if (settings->kind == idgen::GeneratorKind::snowflake) EVENKEEL_TRY(open_registry(config.registry));
  auto& tended = sources_[settings->name];
  if (tended == nullptr) {
    EVENKEEL_ASSIGN(auto source, open_source(*settings));
    tended = std::make_shared<Tended>(settings->name, std::move(source), registry_, clock_);
  }
  return tended->source().add_gene_table(label, slots, gene);
}

void KeyGenerators::start_threads() {
  for (const auto& [name, tended] : sources_) {
    const std::chrono::milliseconds period(tended->source().tend_every_ms());
    tenders_.push_back(std::make_unique<idgen::Tender>(idgen::Tender::Work{
        [tended = tended] { tended->tend(); }, period, [tended = tended] { tended->close(); }}));
  }
  if (clock_watch_ == nullptr) return;
  clock_watch_->sample();
  tenders_.push_back(std::make_unique<idgen::Tender>(
      idgen::Tender::Work{[watch = clock_watch_] { watch->sample(); }, clock_period}));
}

std::optional<std::string> KeyGenerators::reason_not_ready() const {
  for (const auto& [table, generator] : by_table_) {
    if (const Status ready = generator->ready(); !ready) return ready.error().message;
  }
  for (const auto& [space, generator] : by_space_) {
    if (const Status ready = generator->ready(); !ready) return ready.error().message;
  }
  return std::nullopt;
}

RegistryHealth KeyGenerators::health() const {
  RegistryHealth health;
  for (const auto& [name, tended] : sources_) {
    health.renewal_failures += tended->failures();
    if (tended->is_failing()) ++health.sources_failing;
  }
  if (clock_watch_ != nullptr) clock_watch_->report(health);
  return health;
}

void KeyGenerators::stop() {
  if (stopped_) return;
  stopped_ = true;
  for (const auto& tender : tenders_) tender->ask_to_stop();
  const auto deadline = clock_.steady() + stop_patience;
  for (const auto& tender : tenders_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_.steady());
    if (!tender->stop(std::max(left, 0ms)))
      log::warn(
          "the registry does not answer: a worker id was not given back and stays reserved until its time "
          "ends");
  }
}

}  // namespace evenkeel
