#include "proxy/skew/steering.h"

#include <algorithm>
#include <fmt/format.h>

namespace evenkeel::skew {
namespace {

constexpr std::string_view leader_key = "skew/leader";
constexpr std::string_view steering_prefix = "skew/steering/";
constexpr std::string_view sizes_prefix = "skew/sizes/";
constexpr std::string_view counts_prefix = "skew/counts/";
// Between two records of one proxy's counts: while something is counted, and otherwise.
constexpr int64_t counts_pause_ms = 1'000;
constexpr int64_t counts_heartbeat_ms = 10'000;
constexpr int64_t sizes_pause_ms = 5'000;
constexpr int64_t retry_pause_ms = 60'000;
constexpr int64_t leader_renewal_ms = 3'000;
constexpr int64_t leader_silence_ms = 15'000;

std::string key_of(std::string_view prefix, const TableSteering& table) {
  return std::string(prefix) + key_part(table.name());
}

}  // namespace

Steering::Steering(Parts parts) : parts_(std::move(parts)) {
  const int64_t began = now();
  for (SteeredTable& table : parts_.tables) {
    tables_.push_back(std::make_unique<TableSteering>(std::move(table), parts_.settings.sampling,
                                                      parts_.instances, parts_.process, began));
  }
  parts_.tables.clear();
  told_counts_ms_.resize(tables_.size(), 0);
  told_versions_.resize(tables_.size(), 0);
  looked_ms_.resize(tables_.size(), 0);
  told_sizes_ms_.resize(tables_.size(), 0);
  unstored_.resize(tables_.size(), false);
}

Steering::~Steering() = default;

void Steering::tell(const std::string& text) const {
  if (parts_.tell) parts_.tell(text);
}

double Steering::seconds_ahead() const {
  // A map is made of counts that may be a second old, and the others obey it a second later.
  return static_cast<double>(parts_.settings.reweight_interval.count()) / 1000 + 1;
}

void Steering::poll() {
  const std::lock_guard lock(mutex_);
  const int64_t at = now();
  for (auto& table : tables_) table->take_own_counts(at);
  if (parts_.registry != nullptr) {
    if (number_hold_ == nullptr) take_number();
    lead_if_free();
    tell_counts();
    hear();
  }
  if (leading()) {
    decide_all();
    if (parts_.registry != nullptr) tell_sizes();
  }
  for (auto& table : tables_) {
    if (auto obeyed = table->obey(at); !obeyed)
      tell(fmt::format("{}: the map cannot be drawn by: {}", table->name(), obeyed.error().message));
  }
}

void Steering::take_settings(Settings settings, const std::vector<TableSettings>& of_tables) {
  const std::lock_guard lock(mutex_);
  parts_.settings = std::move(settings);
  for (size_t i = 0; i < tables_.size(); ++i) {
    tables_[i]->set_settings(of_tables[i]);
    tables_[i]->samples().set_estimate_error(parts_.settings.sampling.estimate_error);
  }
}

SamplingSettings Steering::sampling() const {
  const std::lock_guard lock(mutex_);
  return parts_.settings.sampling;
}

bool Steering::leads() const {
  const std::lock_guard lock(mutex_);
  return leading();
}

void Steering::note_registry(const Status& outcome) {
  if (outcome.has_value() != registry_lost_) return;
  registry_lost_ = !outcome.has_value();
  tell(registry_lost_
           ? fmt::format("the registry is lost: {}; going on by the last maps", outcome.error().message)
           : "the registry is back");
}

// Numbers are taken over from processes that ended, so that there are no more records than processes.
void Steering::take_number() {
  if (!parts_.registry->proves_life()) {
    for (auto& table : tables_) table->set_proxy(key_part(parts_.process));
    return;
  }
  constexpr int processes_max = 1'024;
  for (int number = 1; number_hold_ == nullptr && number <= processes_max; ++number) {
    auto attempt = parts_.registry->try_hold(fmt::format("skew/proxy/{}", number), parts_.process);
    if (!attempt) return note_registry(fail(std::move(attempt.error())));
    if (attempt->hold == nullptr) continue;
    number_hold_ = std::move(attempt->hold);
    for (auto& table : tables_) table->set_proxy(fmt::format("{}", number));
  }
}

void Steering::lead_if_free() {
  if (leadership_ != nullptr) return;
  if (!parts_.registry->proves_life()) return lead_by_renewal();
  auto attempt = parts_.registry->try_hold(leader_key, parts_.process);
  if (!attempt) return note_registry(fail(std::move(attempt.error())));
  leader_ = attempt->holder;
  leadership_ = std::move(attempt->hold);
  if (leadership_ != nullptr) tell("this proxy measures the tables and decides on steering");
}

// Where the store cannot tell who lives: the leader writes its name anew every few seconds, and who sees that
// name unchanged for longer takes its place. Nobody's clock is compared with another's, and two leaders for a
// moment do no harm: each map is stored by compare-and-put.
void Steering::lead_by_renewal() {
  const int64_t at = std::chrono::duration_cast<std::chrono::milliseconds>(parts_.clock->steady()).count();
  auto record = parts_.registry->get(leader_key);
  if (!record) {
    if (at - renewed_ms_ > leader_silence_ms / 2) renews_ = false;
    return note_registry(fail(std::move(record.error())));
  }
  const uint64_t version = *record ? (*record)->version : 0;
  if (version != leader_version_) {
    leader_version_ = version;
    leader_seen_ms_ = at;
  }
  leader_ = *record ? (*record)->value : std::string();
  const bool mine = leader_ == parts_.process;
  const bool fresh = version != 0 && at - (mine ? renewed_ms_ : leader_seen_ms_) <
                                         (mine ? leader_renewal_ms : leader_silence_ms);
  if (fresh) {
    renews_ = mine;
    return;
  }
  auto put = parts_.registry->compare_and_put(leader_key, version, parts_.process);
  if (!put) return note_registry(fail(std::move(put.error())));
  if (put->stored && !renews_) tell("this proxy measures the tables and decides on steering");
  renews_ = put->stored;
  leader_version_ = put->version;
  leader_seen_ms_ = renewed_ms_ = at;
}

// Writes of one process alone: whoever else wrote there has ended, and its version is taken over.
void Steering::tell_counts() {
  for (size_t i = 0; i < tables_.size(); ++i) {
    TableSteering& table = *tables_[i];
    if (table.proxy().empty()) continue;
    const CountsRecord& counts = table.own_counts();
    const bool news = table.rows_per_second() > 0.01 || counts.map_version != told_versions_[i];
    if (counts.unix_ms - told_counts_ms_[i] < (news ? counts_pause_ms : counts_heartbeat_ms)) continue;
    const std::string key = key_of(counts_prefix, table) + "/" + key_part(table.proxy());
    for (int attempt = 0; attempt < 2; ++attempt) {
      uint64_t& version = versions_[key];
      auto put = parts_.registry->compare_and_put(key, version, encode(counts));
      if (!put) return note_registry(fail(std::move(put.error())));
      version = put->version;
      if (put->stored) break;
    }
    told_counts_ms_[i] = counts.unix_ms;
    told_versions_[i] = counts.map_version;
  }
}

void Steering::hear() {
  hear_counts();
  hear_records();
  hear_sizes();
}

// "shop.orders/3" -> that table and "3".
TableSteering* Steering::find_part(std::string_view part, std::string_view& rest) const {
  const size_t slash = part.find('/');
  rest = slash == std::string_view::npos ? std::string_view() : part.substr(slash + 1);
  const std::string_view name = part.substr(0, slash);
  for (const auto& table : tables_) {
    if (key_part(table->name()) == name) return table.get();
  }
  return nullptr;
}

void Steering::hear_counts() {
  auto changed = parts_.registry->changes(counts_prefix, seen_counts_);
  if (!changed) return note_registry(fail(std::move(changed.error())));
  note_registry({});
  for (const auto& [key, record] : *changed) {
    std::string_view proxy;
    TableSteering* table = find_part(std::string_view(key).substr(counts_prefix.size()), proxy);
    if (table == nullptr || proxy == key_part(table->proxy())) continue;
    if (auto counts = decode_counts(record.value)) table->note_counts(std::string(proxy), *counts);
  }
}

void Steering::hear_records() {
  auto changed = parts_.registry->changes(steering_prefix, seen_records_);
  if (!changed) return note_registry(fail(std::move(changed.error())));
  for (const auto& [key, record] : *changed) {
    std::string_view rest;
    TableSteering* table = find_part(std::string_view(key).substr(steering_prefix.size()), rest);
    if (table == nullptr || record.version <= table->record_version()) continue;
    auto decoded = decode_steering(record.value);
    if (!decoded) {
      tell(fmt::format("{}: {}", table->name(), decoded.error().message));
      continue;
    }
    const bool other_map = decoded->map_version != table->record().map_version;
    table->take_record(std::move(*decoded), record.version);
    if (other_map && !table->record().history.empty()) {
      const Change& change = table->record().history.back();
      tell(fmt::format("{}: map {} ({}): {} [{}, by {}]", table->name(), change.map_version, change.map,
                       change.reason, change.what, change.who));
    }
  }
}

void Steering::hear_sizes() {
  auto changed = parts_.registry->changes(sizes_prefix, seen_sizes_);
  if (!changed) return note_registry(fail(std::move(changed.error())));
  for (const auto& [key, record] : *changed) {
    std::string_view rest;
    TableSteering* table = find_part(std::string_view(key).substr(sizes_prefix.size()), rest);
    if (table == nullptr) continue;
    versions_[key] = record.version;
    if (auto sizes = decode_sizes(record.value); sizes && sizes->by != parts_.process)
      table->take_sizes(*sizes, leading());
  }
}

void Steering::decide_all() {
  const int64_t at = now();
  const std::string who = fmt::format("controller of {}", parts_.process);
  for (size_t i = 0; i < tables_.size(); ++i) {
    TableSteering& table = *tables_[i];
    if (!table.steerable()) continue;
    if (at - looked_ms_[i] < parts_.settings.reweight_interval.count()) continue;
    looked_ms_[i] = at;
    Decision decision = table.look(at, parts_.settings.sampling, seconds_ahead(), who);
    if (!decision.standing.empty()) table.set_standing(decision.standing);
    if (!decision.record && unstored_[i]) decision.record = table.record();
    if (!decision.record) continue;
    if (decision.standing.empty()) table.set_standing(decision.record->history.back().reason);
    unstored_[i] = !store(table, std::move(*decision.record));
  }
}

// Somebody else's change goes before: it is heard the next time, and decided on then. Without the registry
// this process alone goes by its decision (false).
bool Steering::store(TableSteering& table, SteeringRecord record) {
  uint64_t version = table.record_version();
  bool stored = true;
  if (parts_.registry != nullptr) {
    auto put = parts_.registry->compare_and_put(key_of(steering_prefix, table), version, encode(record));
    if (put && !put->stored) {
      tell(fmt::format("{}: another proxy has changed the map; looking at it first", table.name()));
      return true;
    }
    note_registry(put ? Status{} : fail(put.error()));
    stored = put.has_value();
    if (put) version = put->version;
  }
  if (record.history != table.record().history) {
    const Change& change = record.history.back();
    tell(fmt::format("{}: {}, map {} ({}): {}", table.name(), change.what, record.map_version, change.map,
                     change.reason));
  }
  table.take_record(std::move(record), version);
  return stored;
}

void Steering::tell_sizes() {
  for (size_t i = 0; i < tables_.size(); ++i) {
    TableSteering& table = *tables_[i];
    if (now() - told_sizes_ms_[i] < sizes_pause_ms || table.samples().known(Source::estimate) == 0) continue;
    const std::string key = key_of(sizes_prefix, table);
    uint64_t& version = versions_[key];
    auto put = parts_.registry->compare_and_put(key, version, encode(table.sizes(now(), parts_.process)));
    if (!put) return note_registry(fail(std::move(put.error())));
    version = put->version;
    if (put->stored) seen_sizes_[key] = put->version;
    told_sizes_ms_[i] = now();
  }
}

std::optional<CountTask> Steering::next_count() {
  const std::lock_guard lock(mutex_);
  if (!leading()) return std::nullopt;
  const int64_t interval = parts_.settings.sampling.exact_interval.count();
  if (interval <= 0) return std::nullopt;
  for (size_t turn = 0; turn < tables_.size(); ++turn) {
    const size_t table = (count_next_ + turn) % tables_.size();
    const auto slot = tables_[table]->samples().due(now(), interval);
    if (!slot) continue;
    count_next_ = table + 1;
    return CountTask{table, *slot, tables_[table]->counted(*slot)};
  }
  return std::nullopt;
}

void Steering::note_count(const CountTask& task, uint64_t rows) {
  const std::lock_guard lock(mutex_);
  tables_[task.table]->samples().note_exact(task.slot, rows, now(), task.counted);
}

void Steering::note_failure(const CountTask& task) {
  const std::lock_guard lock(mutex_);
  tables_[task.table]->samples().note_failure(task.slot, now() + retry_pause_ms);
}

void Steering::note_estimate(size_t table, rule::Slot slot, uint64_t rows, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  tables_[table]->samples().note_estimate(slot, rows, bytes, now());
}

}  // namespace evenkeel::skew
