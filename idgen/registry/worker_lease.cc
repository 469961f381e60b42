#include "idgen/registry/worker_lease.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "idgen/layout.h"
#include "idgen/worker_field.h"

namespace evenkeel::idgen {
namespace {

constexpr std::string_view equal_ids_warning = "two holders would make equal ids, so this one makes none";

std::string layout_record(const Layout& layout) { return fmt::format("layout {}\n", fingerprint(layout)); }

// " (js_safe_wide)" for the fingerprint of a layout that has a name.
std::string named(const std::string& stored) {
  for (const std::string_view name : layout_names())
    if (fingerprint(*named_layout(name)) == stored) return fmt::format(" ({})", name);
  return {};
}

}  // namespace

WorkerLease::WorkerLease(Registry& registry, const Clock& clock, const GeneratorSettings& settings,
                         Holder holder)
    : registry_(registry), clock_(clock), settings_(settings), holder_(std::move(holder)) {}

WorkerLease::~WorkerLease() = default;

Result<std::unique_ptr<WorkerLease>> WorkerLease::acquire(Registry& registry, const Clock& clock,
                                                          const GeneratorSettings& settings, Holder holder) {
  auto lease = std::unique_ptr<WorkerLease>(new WorkerLease(registry, clock, settings, std::move(holder)));
  EVENKEEL_TRY(lease->read_clock());
  EVENKEEL_TRY(lease->check_generator_layout());
  if (settings.worker.fixed_id) {
    EVENKEEL_TRY(lease->take_fixed_id(*settings.worker.fixed_id));
  } else {
    EVENKEEL_TRY(lease->take_free_id());
  }
  return lease;
}

// Grants follow the registry's clock, so that a wrong clock of this machine reserves no years; and a registry
// whose own clock is wrong by more than any outage is not believed.
Status WorkerLease::read_clock() {
  EVENKEEL_ASSIGN(offset_, sample_clock_offset(registry_, clock_));
  const int64_t offset = offset_.offset_ms;
  if (offset <= clock_ahead_max_ms && -offset < settings_.worker.window_ms) return {};
  return fail(registry_error(
      fmt::format("generator {}: the registry's clock reads {}, this machine's {}; {}. Set the wrong one "
                  "right, then try again",
                  settings_.name, format_utc(registry_unix_ms()), format_utc(clock_.unix_millis()),
                  offset > 0 ? "time reserved by such a clock could keep a worker id from use for as long"
                             : "time reserved by the registry's clock would already be over")));
}

// All holders of one generator must cut ids alike, whichever worker ids they have.
Status WorkerLease::check_generator_layout() {
  const std::string key = generator_key(settings_.name);
  EVENKEEL_ASSIGN(auto record, registry_.get(key));
  if (!record) {
    EVENKEEL_ASSIGN(const Put put, registry_.compare_and_put(key, 0, layout_record(settings_.layout)));
    if (put.stored) return {};
    EVENKEEL_ASSIGN(record, registry_.get(key));
  }
  std::string_view stored = record ? std::string_view(record->value) : std::string_view();
  if (!stored.starts_with("layout ") || !stored.ends_with('\n'))
    return fail(registry_error(fmt::format("registry record {} does not name a layout", key)));
  stored.remove_prefix(std::string_view("layout ").size());
  stored.remove_suffix(1);
  return check_layout(fmt::format("generator {}", settings_.name), std::string(stored));
}

Status WorkerLease::check_layout(const std::string& where, const std::string& stored) const {
  const std::string configured = fingerprint(settings_.layout);
  if (stored == configured) return {};
  return fail(registry_error(fmt::format(
      "{} was used with layout {}{}, now configured is {}: new ids could equal old ones. Configure "
      "the old layout, or use another generator name, but only if its tables hold no ids of the old one",
      where, stored, named(stored), configured)));
}

Status WorkerLease::take_fixed_id(uint32_t number) {
  if (number >= worker_numbers(settings_.layout))
    return fail(registry_error(
        fmt::format("worker id {} does not fit: there are {}", number, worker_numbers(settings_.layout))));
  const uint32_t worker = worker_id_of(settings_.layout, number);
  EVENKEEL_ASSIGN(const auto occupied, try_take(worker));
  if (!occupied) return {};
  const std::string remedy =
      occupied->until_unix_ms
          ? fmt::format(
                "If that process has ended for good, the id is free at {}; `worker: {{id: lease}}` takes "
                "another one at once",
                format_utc(*occupied->until_unix_ms))
          : std::string("Stop that process, or give this one another worker id");
  return fail(registry_error(fmt::format("worker id {} of generator {} is held by {}; {}. {}", worker,
                                         settings_.name, occupied->holder, equal_ids_warning, remedy)));
}

// Ids that were never used come first, then the one whose bound lies furthest back: it is the safest from
// clocks that differ.
Status WorkerLease::take_free_id() {
  EVENKEEL_ASSIGN(const auto records, registry_.list(worker_prefix(settings_.name)));
  std::map<uint32_t, WorkerRecord> known;
  for (const auto& keyed : records) {
    EVENKEEL_ASSIGN(WorkerRecord record, decode_worker(keyed.key, keyed.record.value));
    if (const auto worker = worker_of_key(settings_.name, keyed.key)) known[*worker] = std::move(record);
  }
  const std::set<uint32_t> reserved(settings_.worker.peer_ids.begin(), settings_.worker.peer_ids.end());
  std::vector<std::pair<uint64_t, uint32_t>> candidates;  // bound (0: never used), worker
  for (uint32_t number = 0; number < worker_numbers(settings_.layout); ++number) {
    if (reserved.contains(number)) continue;
    const uint32_t worker = worker_id_of(settings_.layout, number);
    const auto found = known.find(worker);
    candidates.emplace_back(found == known.end() ? 0 : found->second.bound, worker);
  }
  std::sort(candidates.begin(), candidates.end());
  std::optional<Occupied> first_to_free;
  for (const auto& [bound, worker] : candidates) {
    std::optional<Occupied> occupied;
    // Where only the time tells, the list has told it already; asking again would be one round trip an id.
    if (const auto found = known.find(worker); found != known.end()) occupied = occupied_by(found->second);
    if (!occupied) {
      EVENKEEL_ASSIGN(occupied, try_take(worker));
      if (!occupied) return {};
    }
    const bool sooner =
        !first_to_free ||
        (occupied->until_unix_ms &&
         (!first_to_free->until_unix_ms || *occupied->until_unix_ms < *first_to_free->until_unix_ms));
    if (sooner) first_to_free = std::move(occupied);
  }
  return fail(none_free(candidates.size(), first_to_free));
}

Error WorkerLease::none_free(size_t workers, const std::optional<Occupied>& first_to_free) const {
  std::string text =
      fmt::format("generator {} has no free worker id: all {} are held", settings_.name, workers);
  if (first_to_free) {
    text += fmt::format(", one of them by {}", first_to_free->holder);
    if (first_to_free->until_unix_ms)
      text += fmt::format(", which is the first to become free, at {}",
                          format_utc(*first_to_free->until_unix_ms));
  }
  return registry_error(text + ". Stop a process that is not needed, or use a layout with more worker bits");
}

// The record says that its holder's time is not over, and nothing else can tell.
std::optional<WorkerLease::Occupied> WorkerLease::occupied_by(const WorkerRecord& record) const {
  if (registry_.proves_life() || record.released) return std::nullopt;
  const int64_t until = tick_start_unix_ms(settings_.layout, record.bound + 1);
  if (until <= registry_unix_ms()) return std::nullopt;
  return Occupied{record.holder, until};
}

Result<std::optional<WorkerLease::Occupied>> WorkerLease::try_take(uint32_t worker) {
  const std::string key = worker_key(settings_.name, worker);
  if (registry_.proves_life()) {
    EVENKEEL_ASSIGN(HoldAttempt attempt, registry_.try_hold(key, holder_.name));
    if (attempt.hold == nullptr) return Occupied{std::move(attempt.holder), std::nullopt};
    hold_ = std::move(attempt.hold);
  }
  EVENKEEL_ASSIGN(const auto present, registry_.get(key));
  std::optional<WorkerRecord> before;
  if (present) {
    EVENKEEL_ASSIGN(before, decode_worker(key, present->value));
    EVENKEEL_TRY(
        check_layout(fmt::format("worker id {} of generator {}", worker, settings_.name), before->layout));
    if (auto occupied = occupied_by(*before)) return occupied;
  }
  key_ = key;
  record_version_ = present ? present->version : 0;
  lost_ = false;
  EVENKEEL_TRY(begin_window(worker, before));
  if (!lost_) return std::nullopt;
  hold_.reset();
  return Occupied{"a process that has just started", std::nullopt};
}

// Written in any case: a process that still believes in an older lease finds a version that is not its own.
Status WorkerLease::begin_window(uint32_t worker, const std::optional<WorkerRecord>& before) {
  // A short first window would be over already for a clock that is that much ahead of the registry's.
  const bool clocks_agree = -offset_.offset_ms < first_window_ms / 2;
  const int64_t whole = settings_.worker.window_ms;
  const int64_t window_ms = clocks_agree ? std::min(whole, first_window_ms) : whole;
  stored_bound_ = before ? before->bound : 0;
  const uint64_t first = stored_bound_ + 1;
  if (auto stored = store(std::max(stored_bound_, bound_ahead(window_ms)), false); !stored && !lost_)
    return stored;
  if (lost_) return {};
  window_ = std::make_shared<TickWindow>(worker, first, stored_bound_);
  taken_at_ = renewed_at_ = clock_.steady();
  settled_ = window_ms == whole;
  return {};
}

// A put may be answered with "not stored" although the record is this lease's: an earlier put whose answer
// was lost has been stored, or the store lost its last moments in a crash. Then it is put again over what is
// there. A record with another token ends the lease.
Status WorkerLease::store(uint64_t bound, bool released) {
  const WorkerRecord record{fingerprint(settings_.layout), bound, holder_.name, holder_.token, released};
  const std::string value = encode_worker(record, settings_.layout);
  EVENKEEL_ASSIGN(Put put, registry_.compare_and_put(key_, record_version_, value));
  if (!put.stored) {
    EVENKEEL_ASSIGN(const auto version, own_version());
    if (version) {
      EVENKEEL_ASSIGN(put, registry_.compare_and_put(key_, *version, value));
    }
  }
  if (!put.stored) {
    lost_ = true;
    return fail(registry_error(fmt::format(
        "registry record {} was changed by another process (version {} instead of {}): it has taken the "
        "worker id "
        "over. This one makes no ids beyond what it had reserved; start it again to take a worker id anew",
        key_, put.version, record_version_)));
  }
  record_version_ = put.version;
  stored_bound_ = bound;
  return {};
}

Result<std::optional<uint64_t>> WorkerLease::own_version() const {
  EVENKEEL_ASSIGN(const auto present, registry_.get(key_));
  // Gone, though it once stood there: only the store can have lost it.
  if (!present) return window_ != nullptr ? std::optional<uint64_t>(0) : std::nullopt;
  EVENKEEL_ASSIGN(const WorkerRecord record, decode_worker(key_, present->value));
  return record.token == holder_.token ? std::optional<uint64_t>(present->version) : std::nullopt;
}

uint64_t WorkerLease::bound_ahead(int64_t ms) const {
  const int64_t tick = tick_at(settings_.layout, registry_unix_ms() + ms);
  return std::min(static_cast<uint64_t>(std::max<int64_t>(tick, 0)), last_tick(settings_.layout));
}

int64_t WorkerLease::reserved_until_unix_ms() const {
  return tick_start_unix_ms(settings_.layout, stored_bound_ + 1);
}

// By the registry's time as far as it is known, and by the steady clock, which no one sets.
bool WorkerLease::is_due() const {
  const auto lived = clock_.steady() - taken_at_;
  if (!settled_ && lived < std::chrono::milliseconds(settle_ms)) return false;
  if (!settled_) return true;
  const auto since = clock_.steady() - renewed_at_;
  if (since >= std::chrono::milliseconds(settings_.worker.renew_ms)) return true;
  return bound_ahead(settings_.worker.window_ms - settings_.worker.renew_ms) >= stored_bound_;
}

Status WorkerLease::renew_if_due() {
  if (lost_)
    return fail(registry_error(
        fmt::format("worker id {} of generator {} is no longer held", worker(), settings_.name)));
  if (!is_due()) return {};
  EVENKEEL_TRY(read_clock());
  // A registry whose time stands, or went back, reserves nothing new; the old window stands.
  const uint64_t bound = bound_ahead(settings_.worker.window_ms);
  if (bound > stored_bound_) {
    EVENKEEL_TRY(store(bound, false));
    window_->extend(bound);
  }
  settled_ = true;
  renewed_at_ = clock_.steady();
  return {};
}

Status WorkerLease::release(uint64_t last_used_tick) {
  if (lost_)
    return fail(registry_error(
        fmt::format("worker id {} of generator {} is no longer held", worker(), settings_.name)));
  const Status stored = store(std::clamp(last_used_tick, window_->first() - 1, stored_bound_), true);
  lost_ = true;
  hold_.reset();
  return stored;
}

}  // namespace evenkeel::idgen
