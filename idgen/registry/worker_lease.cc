#include "idgen/registry/worker_lease.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <set>

#include "idgen/layout.h"

namespace evenkeel::idgen {
namespace {

// What the record of a worker id says, as lines "name value".
struct WorkerRecord {
  std::string layout;  // fingerprint
  uint64_t bound = 0;  // the last tick ever reserved
  std::string holder;  // who reserved it; empty after a clean release
};

std::string encode(const WorkerRecord& record, const Layout& layout) {
  return fmt::format("layout {}\nbound {}\nbound_time {}\nholder {}\n", record.layout, record.bound,
                     format_utc(tick_start_unix_ms(layout, record.bound)), record.holder);
}

std::optional<std::string_view> take_line(std::string_view& text, std::string_view name) {
  if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != ' ') return std::nullopt;
  text.remove_prefix(name.size() + 1);
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view value = text.substr(0, end);
  text.remove_prefix(end + 1);
  return value;
}

Result<WorkerRecord> decode_worker(const std::string& key, std::string_view text) {
  const auto layout = take_line(text, "layout");
  const auto bound_text = layout ? take_line(text, "bound") : std::nullopt;
  const auto time = bound_text ? take_line(text, "bound_time") : std::nullopt;
  const auto holder = time ? take_line(text, "holder") : std::nullopt;
  uint64_t bound = 0;
  bool whole = holder.has_value() && text.empty();
  if (whole) {
    const char* end = bound_text->data() + bound_text->size();
    const auto [stop, error] = std::from_chars(bound_text->data(), end, bound);
    whole = error == std::errc() && stop == end;
  }
  if (!whole) return fail(registry_error(fmt::format("registry record {} is not a worker record", key)));
  return WorkerRecord{std::string(*layout), bound, std::string(*holder)};
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

WorkerLease::WorkerLease(Registry& registry, const GeneratorSettings& settings, std::string holder)
    : registry_(registry), settings_(settings), holder_(one_line(std::move(holder))) {}

WorkerLease::~WorkerLease() = default;

Result<std::unique_ptr<WorkerLease>> WorkerLease::acquire(Registry& registry,
                                                          const GeneratorSettings& settings,
                                                          const std::string& holder) {
  auto lease = std::unique_ptr<WorkerLease>(new WorkerLease(registry, settings, holder));
  if (settings.worker.fixed_id) {
    EVENKEEL_TRY(lease->take_fixed_id(*settings.worker.fixed_id));
  } else {
    EVENKEEL_TRY(lease->take_free_id());
  }
  return lease;
}

Status WorkerLease::take_fixed_id(uint32_t worker) {
  if (worker >= worker_count(settings_.layout))
    return fail(registry_error(
        fmt::format("worker id {} does not fit {} worker bits", worker, settings_.layout.worker_bits)));
  std::string present;
  EVENKEEL_ASSIGN(const bool taken, try_take(worker, present));
  if (taken) return {};
  return fail(registry_error(fmt::format(
      "worker id {} of generator {} is held by {}; two holders would make equal ids, so this one makes none",
      worker, settings_.name, present)));
}

// Ids that were never used come first, then the one whose bound lies furthest back: it is the safest from
// clocks that differ.
Status WorkerLease::take_free_id() {
  EVENKEEL_ASSIGN(const auto records, registry_.list(prefix()));
  std::map<std::string, uint64_t> bounds;
  for (const auto& keyed : records) {
    EVENKEEL_ASSIGN(const WorkerRecord record, decode_worker(keyed.key, keyed.record.value));
    bounds[keyed.key] = record.bound;
  }
  const std::set<uint32_t> reserved(settings_.worker.peer_ids.begin(), settings_.worker.peer_ids.end());
  std::vector<std::pair<uint64_t, uint32_t>> used;
  std::string present;
  const auto workers = static_cast<uint32_t>(worker_count(settings_.layout));
  for (uint32_t worker = 0; worker < workers; ++worker) {
    if (reserved.contains(worker)) continue;
    if (const auto found = bounds.find(key_of(worker)); found != bounds.end()) {
      used.emplace_back(found->second, worker);
      continue;
    }
    EVENKEEL_ASSIGN(const bool taken, try_take(worker, present));
    if (taken) return {};
  }
  std::sort(used.begin(), used.end());
  for (const auto& [bound, worker] : used) {
    EVENKEEL_ASSIGN(const bool taken, try_take(worker, present));
    if (taken) return {};
  }
  return fail(
      registry_error(fmt::format("generator {} has no free worker id: all {} are held, one of them by {}",
                                 settings_.name, workers - reserved.size(), present)));
}

Result<bool> WorkerLease::try_take(uint32_t worker, std::string& present_holder) {
  EVENKEEL_ASSIGN(HoldAttempt attempt, registry_.try_hold(key_of(worker), holder_));
  if (!attempt.hold) {
    present_holder = std::move(attempt.holder);
    return false;
  }
  hold_ = std::move(attempt.hold);
  EVENKEEL_TRY(begin_window(worker));
  return true;
}

Status WorkerLease::begin_window(uint32_t worker) {
  key_ = key_of(worker);
  EVENKEEL_ASSIGN(const auto record, registry_.get(key_));
  if (record) {
    EVENKEEL_ASSIGN(const WorkerRecord stored, decode_worker(key_, record->value));
    if (stored.layout != fingerprint(settings_.layout))
      return fail(registry_error(
          fmt::format("worker id {} of generator {} was used with layout {}, now configured is {}: new ids "
                      "could equal old ones. Use "
                      "another generator name only if its tables hold no ids of the old layout",
                      worker, settings_.name, stored.layout, fingerprint(settings_.layout))));
    stored_bound_ = stored.bound;
    record_version_ = record->version;
  }
  const uint64_t first = stored_bound_ + 1;
  EVENKEEL_ASSIGN(const uint64_t bound, bound_from_now());
  // Written in any case: a process that still believes in an older hold finds a version that is not its own.
  EVENKEEL_TRY(store(std::max(stored_bound_, bound), holder_));
  window_ = std::make_shared<TickWindow>(worker, first, stored_bound_);
  return {};
}

Status WorkerLease::store(uint64_t bound, std::string_view holder) {
  const WorkerRecord record{fingerprint(settings_.layout), bound, std::string(holder)};
  const std::string value = encode(record, settings_.layout);
  EVENKEEL_TRY(settle_doubt());
  in_doubt_ = value;
  EVENKEEL_ASSIGN(const Put put, registry_.compare_and_put(key_, record_version_, value));
  in_doubt_.clear();
  if (!put.stored) {
    lost_ = true;
    return fail(registry_error(fmt::format(
        "registry record {} was changed by another process (version {} instead of {}); this one makes no ids "
        "beyond what it had reserved",
        key_, put.version, record_version_)));
  }
  record_version_ = put.version;
  stored_bound_ = bound;
  return {};
}

// A put that failed with an error may have been stored all the same.
Status WorkerLease::settle_doubt() {
  if (in_doubt_.empty()) return {};
  EVENKEEL_ASSIGN(const auto record, registry_.get(key_));
  if (record && record->version == record_version_ + 1 && record->value == in_doubt_)
    record_version_ = record->version;
  in_doubt_.clear();
  return {};
}

// The bound that reserves a whole window from the registry's time on, so that a wrong local clock reserves no
// years.
Result<uint64_t> WorkerLease::bound_from_now() const {
  EVENKEEL_ASSIGN(const int64_t now, registry_.now_unix_ms());
  const int64_t tick = tick_at(settings_.layout, now + settings_.worker.window_ms);
  return std::min(static_cast<uint64_t>(std::max<int64_t>(tick, 0)), last_tick(settings_.layout));
}

Status WorkerLease::renew_if_due(int64_t now_unix_ms) {
  if (lost_ || !hold_)
    return fail(registry_error(
        fmt::format("worker id {} of generator {} is no longer held", worker(), settings_.name)));
  const int64_t ahead = settings_.worker.window_ms - settings_.worker.renew_ms;
  if (tick_at(settings_.layout, now_unix_ms + ahead) < static_cast<int64_t>(stored_bound_)) return {};
  EVENKEEL_ASSIGN(const uint64_t bound, bound_from_now());
  if (bound <= stored_bound_) return {};
  EVENKEEL_TRY(store(bound, holder_));
  window_->extend(bound);
  return {};
}

Status WorkerLease::release(uint64_t last_used_tick) {
  if (lost_ || !hold_)
    return fail(registry_error(
        fmt::format("worker id {} of generator {} is no longer held", worker(), settings_.name)));
  const uint64_t bound = std::clamp(last_used_tick, window_->first() - 1, stored_bound_);
  const Status stored = store(bound, "");
  hold_.reset();
  return stored;
}

std::string WorkerLease::prefix() const { return fmt::format("workers/{}/", settings_.name); }

std::string WorkerLease::key_of(uint32_t worker) const { return fmt::format("{}{}", prefix(), worker); }

}  // namespace evenkeel::idgen
