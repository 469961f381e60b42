#include "proxy/steering_service.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "base/log.h"
#include "proxy/control/checks.h"
#include "router/rule/names.h"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 1s;
// When there is nothing to be counted, or another proxy counts.
constexpr auto idle_pause = 500ms;

// Ids that a weighted map can be laid over: those of a time unit, or the fewest of a segment.
uint64_t ids_in_a_block(const idgen::GeneratorSettings& generator) {
  return generator.kind == idgen::GeneratorKind::segment ? generator.segment.step_min
                                                         : uint64_t{1} << generator.layout.sequence_bits;
}

// Why new rows of the table cannot be steered; empty: they can.
std::string why_not(const rule::LogicalTable& table, const idgen::GeneratorSettings* generator) {
  if (table.generated_column.empty() || generator == nullptr) {
    return fmt::format(
        "its sharding column {} is given by the application, so that only the application "
        "decides where a row goes",
        table.key_column);
  }
  if (!table.key_is_generated()) {
    return fmt::format("it is sharded by {} and not by the generated {}: a row must go where its {} says",
                       table.key_column, table.generated_column, table.key_column);
  }
  if (!table.algorithm->steerable())
    return fmt::format("its algorithm {} does not tell which ids fall into which table",
                       table.algorithm->name());
  const uint64_t sequences = ids_in_a_block(*generator);
  if (generator->kind != idgen::GeneratorKind::segment && sequences < table.slot_count()) {
    return fmt::format(
        "generator {} has {} sequence numbers in a time unit, fewer than there are tables ({}): a "
        "layout with more sequence bits is needed",
        generator->name, sequences, table.slot_count());
  }
  return {};
}

skew::TableSettings settings_of(const config::Config& config, const rule::LogicalTable& table) {
  for (const skew::TableSettings& settings : config.steering.tables) {
    if (rule::fold_case(settings.schema) == rule::fold_case(table.schema) &&
        rule::fold_case(settings.table) == rule::fold_case(table.name))
      return settings;
  }
  skew::TableSettings settings;
  settings.schema = table.schema;
  settings.table = table.name;
  return settings;
}

}  // namespace

std::unique_ptr<rule::SlotTraffic> make_traffic(const rule::LogicalTable& table) {
  std::vector<uint16_t> instances;
  for (const rule::ActualTable& actual : table.slots) instances.push_back(actual.instance);
  return std::make_unique<rule::SlotTraffic>(std::move(instances));
}

skew::SteeredTable steered_table(const config::Config& config, const rule::LogicalTable& table,
                                 idgen::KeyGenerator* generator, rule::SlotTraffic& traffic) {
  skew::SteeredTable steered;
  steered.table = &table;
  steered.settings = settings_of(config, table);
  const idgen::GeneratorSettings* settings = config.find_generator(table.generator);
  steered.inapplicable = why_not(table, settings);
  steered.traffic = &traffic;
  if (settings != nullptr) {
    const uint64_t sequences = ids_in_a_block(*settings);
    steered.levels = static_cast<uint32_t>(std::min<uint64_t>(sequences / table.slot_count(), 64));
    if (settings->kind == idgen::GeneratorKind::segment) steered.levels = std::max(1U, steered.levels);
    // Segments have as many numbers as anybody fetches.
    steered.ids_per_second = settings->kind == idgen::GeneratorKind::segment
                                 ? 1e12
                                 : static_cast<double>(sequences) * 1000 /
                                       static_cast<double>(idgen::millis_of(settings->layout.unit));
  }
  if (generator != nullptr) {
    steered.set_map = [generator](idgen::SteeringMap map) { return generator->set_map(std::move(map)); };
    steered.ids = [generator] { return generator->counters().ids; };
    steered.rows_outside = [generator] { return generator->counters().rows_outside_map; };
  }
  return steered;
}

SteeringService::SteeringService(const config::Config& config, KeyGenerators& generators, const Clock& clock)
    : clock_(clock),
      rules_(config.rules),
      sampler_(config.rules, config.backend, control::reading_accounts(config.session, config.control)) {
  skew::Steering::Parts parts;
  parts.settings = config.steering;
  parts.instances = config.rules->instances();
  parts.process = process_name();
  registry_ = generators.registry();
  parts.registry = registry_.get();
  parts.clock = &clock;
  parts.tell = [](const std::string& text) { log::info("steering: {}", text); };
  for (const auto& schema : config.rules->schemas()) {
    for (const auto& table : schema.tables) {
      owned_.push_back(make_traffic(*table));
      traffic_[table.get()] = owned_.back().get();
      places_[table.get()] = parts.tables.size();
      const auto generator = generators.by_table().find(table.get());
      parts.tables.push_back(steered_table(
          config, *table, generator == generators.by_table().end() ? nullptr : generator->second,
          *owned_.back()));
    }
  }
  steering_ = std::make_unique<skew::Steering>(std::move(parts));
}

std::unique_ptr<SteeringService> SteeringService::start(const config::Config& config,
                                                        KeyGenerators& generators, const Clock& clock) {
  std::unique_ptr<SteeringService> service(new SteeringService(config, generators, clock));
  service->steering_->begin();
  SteeringService* raw = service.get();
  service->poller_ = std::thread([raw] { raw->poll_until_stopped(); });
  service->asker_ = std::thread([raw] { raw->sample_until_stopped(); });
  return service;
}

SteeringService::~SteeringService() { stop(); }

void SteeringService::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (poller_.joinable()) poller_.join();
  if (asker_.joinable()) asker_.join();
}

// False: it is time to stop.
bool SteeringService::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

void SteeringService::poll_until_stopped() {
  while (pause(poll_interval)) steering_->poll();
}

void SteeringService::take_settings(const config::Config& config) {
  std::vector<skew::TableSettings> of_tables;
  for (size_t i = 0; i < steering_->size(); ++i)
    of_tables.push_back(settings_of(config, steering_->rules_of(i)));
  steering_->take_settings(config.steering, of_tables);
  const std::lock_guard lock(mutex_);
  new_accounts_ = control::reading_accounts(config.session, config.control);
}

void SteeringService::take_new_accounts() {
  const std::lock_guard lock(mutex_);
  if (new_accounts_) sampler_.take_accounts(*std::exchange(new_accounts_, std::nullopt));
}

void SteeringService::told_once(const std::string& problem) {
  if (problem == last_problem_) return;
  last_problem_ = problem;
  log::warn("sampling: {}", problem);
}

void SteeringService::sample_until_stopped() {
  std::chrono::nanoseconds estimated_at{0};
  bool never = true;
  std::chrono::milliseconds rest = 0ms;
  while (pause(rest)) {
    if (!steering_->leads()) {
      rest = idle_pause;
      continue;
    }
    take_new_accounts();
    const std::chrono::milliseconds interval = steering_->sampling().estimate_interval;
    if (interval.count() > 0 && (never || clock_.steady() - estimated_at >= interval)) {
      read_estimates();
      estimated_at = clock_.steady();
      never = false;
    }
    rest = count_one();
  }
}

void SteeringService::read_estimates() {
  for (size_t instance = 0; instance < sampler_.instances(); ++instance) {
    const auto found = sampler_.estimates(static_cast<rule::InstanceId>(instance));
    if (!found) {
      told_once(found.error().message);
      continue;
    }
    for (const control::TableEstimate& each : *found)
      steering_->note_estimate(places_.at(each.table), each.slot, each.rows, each.bytes);
  }
}

// Counts the table that needs it most, and returns how long to rest.
std::chrono::milliseconds SteeringService::count_one() {
  const auto task = steering_->next_count();
  if (!task) return idle_pause;
  const skew::SamplingSettings sampling = steering_->sampling();
  const auto begun = clock_.steady();
  const auto rows = sampler_.count(steering_->rules_of(task->table), task->slot);
  if (rows) {
    steering_->note_count(*task, *rows);
  } else {
    steering_->note_failure(*task);
    told_once(rows.error().message);
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - begun);
  const std::chrono::milliseconds pace(1000 / std::max<uint32_t>(1, sampling.exact_per_second));
  return std::max(pace - took, took * sampling.rest);
}

}  // namespace evenkeel
