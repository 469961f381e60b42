#include "idgen/library/leased_generator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

#include "idgen/registry/clock_probe.h"
#include "idgen/registry/file_registry.h"
#include "idgen/registry/snowflake_source.h"
#include "idgen/registry/tender.h"
#include "idgen/ticker.h"

namespace evenkeel::idgen {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds close_patience = 5s;
// Of one draw, so that a large batch does not keep others from theirs.
constexpr size_t rows_at_once = 65'536;

// How often this process was forked off since the program began.
std::atomic<uint32_t> forks{0};

void count_forks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

Error refusal(const std::string& name, std::string_view why) {
  return internal_error(fmt::format("ids of {}: {}", name, why));
}

Status check(const LeasedGeneratorOptions& options, const SettingsReport& report) {
  std::vector<std::string> errors = report.errors;
  if (options.settings.kind != GeneratorKind::snowflake)
    errors.emplace_back("the library makes ids of kind snowflake only");
  if (options.registry == nullptr && options.directory.empty())
    errors.emplace_back("name a directory that keeps worker ids and reserved times, or a registry");
  if (options.registry != nullptr && !options.directory.empty())
    errors.emplace_back("name either a directory or a registry, not both");
  if (errors.empty()) return {};
  return fail(config_error(fmt::format("ids of {}: {}", options.settings.name, fmt::join(errors, "; "))));
}

}  // namespace

// What the renewing thread keeps alive when it hangs in a store and is left behind.
class LeasedGenerator::Core {
 public:
  static Result<std::shared_ptr<Core>> open(LeasedGeneratorOptions options) {
    auto core = std::make_shared<Core>();
    core->clock_ = options.clock ? options.clock : std::make_shared<const SystemClock>();
    auto report = check_settings(options.settings, options.slots, core->clock_->unix_millis());
    EVENKEEL_TRY(check(options, report));
    core->warnings_ = std::move(report.warnings);
    core->registry_ = options.registry;
    if (core->registry_ == nullptr) {
      EVENKEEL_ASSIGN(core->registry_, open_file_registry(options.directory, *core->clock_));
    }
    core->settings_ = std::move(options.settings);
    const auto ticks = std::make_shared<const Ticker>(*core->clock_);
    EVENKEEL_ASSIGN(
        core->source_,
        SnowflakeSource::open(*core->registry_, *core->clock_, core->settings_, ticks,
                              std::make_unique<SystemClockProbe>(core->registry_.get(), *core->clock_)));
    EVENKEEL_ASSIGN(core->generator_, core->source_->add_table(core->settings_.name, options.slots));
    core->start_tending(core);
    return core;
  }

  Status draw(std::span<uint64_t> ids) {
    while (!ids.empty()) {
      const auto rows = static_cast<uint32_t>(std::min(ids.size(), rows_at_once));
      EVENKEEL_ASSIGN(const DrawnKeys drawn, generator_->draw({.rows = rows}, ids));
      ids = ids.subspan(drawn.drawn);
      if (!drawn.complete()) std::this_thread::sleep_for(std::chrono::microseconds(drawn.wait.micros));
    }
    return {};
  }

  Status close() {
    if (tender_ == nullptr) return closed_;
    const bool finished = tender_->stop(close_patience);
    tender_.reset();
    const std::lock_guard lock(mutex_);
    if (!finished)
      closed_ = fail(registry_error(
          fmt::format("ids of {}: the registry does not answer; the worker id was not given back and stays "
                      "reserved until its time ends",
                      settings_.name)));
    return closed_;
  }

  KeyGenerator& generator() { return *generator_; }
  const GeneratorSettings& settings() const { return settings_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  uint32_t forks_at_open() const { return forks_at_open_; }
  Status renewal() const {
    const std::lock_guard lock(mutex_);
    return renewal_;
  }

 private:
  void start_tending(const std::shared_ptr<Core>& self) {
    Tender::Work work;
    work.step = [self] { self->tend(); };
    work.period = std::chrono::milliseconds(source_->tend_every_ms());
    work.finish = [self] { self->give_back(); };
    tender_ = std::make_unique<Tender>(std::move(work));
  }
  void tend() {
    auto tended = source_->tend(clock_->unix_millis());
    const std::lock_guard lock(mutex_);
    renewal_ = std::move(tended);
  }
  void give_back() {
    auto closed = source_->close();
    const std::lock_guard lock(mutex_);
    closed_ = std::move(closed);
  }

  const uint32_t forks_at_open_ = forks.load(std::memory_order_relaxed);
  GeneratorSettings settings_;
  std::vector<std::string> warnings_;
  std::shared_ptr<const Clock> clock_;
  std::shared_ptr<Registry> registry_;
  std::unique_ptr<KeySource> source_;
  KeyGenerator* generator_ = nullptr;
  mutable std::mutex mutex_;  // guards the two below, which the renewing thread writes
  Status renewal_;
  Status closed_;
  std::unique_ptr<Tender> tender_;  // used by the owner alone
};

Result<std::unique_ptr<LeasedGenerator>> LeasedGenerator::open(LeasedGeneratorOptions options) {
  count_forks();
  EVENKEEL_ASSIGN(auto core, Core::open(std::move(options)));
  return std::unique_ptr<LeasedGenerator>(new LeasedGenerator(std::move(core)));
}

LeasedGenerator::LeasedGenerator(std::shared_ptr<Core> core) : core_(std::move(core)) {}

LeasedGenerator::~LeasedGenerator() {
  if (check_process()) {
    static_cast<void>(core_->close());
    return;
  }
  // The threads and locks in there are the parent's: a child can neither stop nor join them.
  static_cast<void>(new std::shared_ptr<Core>(std::move(core_)));
}

Status LeasedGenerator::check_process() const {
  if (forks.load(std::memory_order_relaxed) == core_->forks_at_open()) [[likely]]
    return {};
  return fail(refusal(core_->settings().name,
                      "this process was forked off after they were opened and would repeat its parent's; "
                      "open them in the child"));
}

Result<uint64_t> LeasedGenerator::next() {
  uint64_t id = 0;
  EVENKEEL_TRY(next_batch({&id, 1}));
  return id;
}

Status LeasedGenerator::next_batch(std::span<uint64_t> ids) {
  EVENKEEL_TRY(check_process());
  return core_->draw(ids);
}

KeyGenerator& LeasedGenerator::generator() { return core_->generator(); }

Result<DecodedId> LeasedGenerator::decode(uint64_t id) const {
  return idgen::decode(core_->settings().layout, id);
}

const GeneratorSettings& LeasedGenerator::settings() const { return core_->settings(); }

const std::vector<std::string>& LeasedGenerator::warnings() const { return core_->warnings(); }

Status LeasedGenerator::renewal() const { return core_->renewal(); }

Status LeasedGenerator::close() {
  EVENKEEL_TRY(check_process());
  return core_->close();
}

}  // namespace evenkeel::idgen
