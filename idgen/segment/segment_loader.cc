#include "idgen/segment/segment_loader.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/mysql/error_codes.h"

namespace evenkeel::idgen {
namespace {

using std::chrono::nanoseconds;

// A store that failed is asked again after this, then after twice as long, and so on.
constexpr nanoseconds pause_least = std::chrono::milliseconds(20);
constexpr nanoseconds pause_most = std::chrono::seconds(1);
// A complaint that nobody has fetched makes room for later ones.
constexpr size_t complaints_max = 16;

Error loader_error(std::string message) {
  return make_error(ErrorKind::registry, mysql::er::unknown_error, std::move(message));
}

}  // namespace

nanoseconds LatencyRecord::slowest() const { return *std::max_element(last_.begin(), last_.end()); }

void StepControl::resume(uint64_t step) {
  if (step != 0)
    step_ = static_cast<uint32_t>(std::clamp<uint64_t>(step, settings_.step_min, settings_.step_max));
}

uint32_t StepControl::next(nanoseconds now, uint32_t at_least) {
  const nanoseconds target = std::chrono::milliseconds(settings_.target_duration_ms);
  uint64_t step = step_;
  if (last_fetch_ && now - *last_fetch_ < target) step *= 2;
  if (last_fetch_ && now - *last_fetch_ > 2 * target) step /= 2;
  if (at_least > 1) step = std::max<uint64_t>(step, uint64_t{2} * at_least);
  step_ = static_cast<uint32_t>(std::clamp<uint64_t>(step, settings_.step_min, settings_.step_max));
  last_fetch_ = now;
  return step_;
}

SegmentLoader::SegmentLoader(const GeneratorSettings& settings,
                             std::vector<std::unique_ptr<SegmentStore>> stores, const Clock& clock)
    : settings_(settings),
      number_bits_(settings.segment.id_bits - settings.segment.prefix_bits),
      number_max_((uint64_t{1} << number_bits_) - 1),
      clock_(clock) {
  for (size_t i = 0; i < stores.size(); ++i) {
    Allocator& allocator = allocators_.emplace_back();
    allocator.store = std::move(stores[i]);
    allocator.prefix = settings.segment.allocators[i].prefix;
  }
}

SegmentLoader::~SegmentLoader() { stop_thread(); }

void SegmentLoader::start_thread() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void SegmentLoader::stop_thread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SegmentLoader::add(SegmentGenerator& generator, std::string tag) {
  auto client = std::make_unique<Client>(
      Client{&generator, std::move(tag), StepControl(settings_.segment), {}, false, std::nullopt});
  client->rows.resize(allocators_.size());
  const std::lock_guard lock(clients_mutex_);
  clients_.push_back(std::move(client));
}

Status SegmentLoader::await_first(const SegmentGenerator& generator) {
  wake();
  for (;;) {
    std::unique_lock lock(mutex_);
    const uint64_t seen = rounds_;
    lock.unlock();
    {
      const std::lock_guard clients_lock(clients_mutex_);
      for (const auto& client : clients_) {
        if (client->generator != &generator) continue;
        if (client->served) return {};
        if (client->first_error) return fail(*client->first_error);
      }
    }
    lock.lock();
    changed_.wait(lock, [&] { return rounds_ != seen || stopping_; });
    if (stopping_) return fail(internal_error("a segment loader that was stopped while it began"));
  }
}

void SegmentLoader::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (woken_) return;
    woken_ = true;
  }
  changed_.notify_all();
}

void SegmentLoader::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    woken_ = false;
    lock.unlock();
    const auto pause = serve();
    lock.lock();
    ++rounds_;
    changed_.notify_all();
    const auto due = [this] { return woken_ || stopping_; };
    if (pause)
      changed_.wait_for(lock, *pause, due);
    else
      changed_.wait(lock, due);
  }
}

std::optional<nanoseconds> SegmentLoader::serve() {
  const std::lock_guard lock(clients_mutex_);
  bool all_served = true;
  for (const auto& client : clients_) all_served = serve_client(*client) && all_served;
  if (all_served) return std::nullopt;
  nanoseconds soonest = pause_most;
  const nanoseconds now = clock_.steady();
  for (const Allocator& allocator : allocators_)
    soonest = std::min(soonest, std::max(pause_least, allocator.asked_again_at - now));
  return soonest;
}

bool SegmentLoader::serve_client(Client& client) {
  const SegmentWish wish = client.generator->wish(latency_.slowest());
  bool served = true;
  if (!wish.explicit_ids.empty()) served = tell_explicit(client, wish);
  // A segment that an explicit id brought may be all that was wanted.
  if (wish.load && client.generator->wish(latency_.slowest()).load) served = load(client, wish) && served;
  return served;
}

// The largest of each allocator's ids speaks for all.
bool SegmentLoader::tell_explicit(Client& client, const SegmentWish& wish) {
  std::map<uint32_t, std::vector<uint64_t>> by_allocator;
  for (const uint64_t id : wish.explicit_ids)
    for (uint32_t i = 0; i < allocators_.size(); ++i)
      if (allocators_[i].prefix == id >> number_bits_) by_allocator[i].push_back(id);
  bool told_all = true;
  for (const auto& [allocator, ids] : by_allocator) {
    const uint64_t number = *std::max_element(ids.begin(), ids.end()) & number_max_;
    const Status told = ask(client, allocator, [&, at = allocator]() -> Status {
      EVENKEEL_ASSIGN(Row * row, open_row(client, at));
      if (number > row->seen.max_id) return advance(client, at, client.step.step(), number);
      return protect(client, at, number);
    });
    told_all = told_all && told.has_value();
    if (told) client.generator->protected_now(ids, allocator, client.rows[allocator].seen.explicit_id);
  }
  return told_all;
}

// From the first allocator that answers.
bool SegmentLoader::load(Client& client, const SegmentWish& wish) {
  std::optional<uint32_t> step;
  for (uint32_t i = 0; i < allocators_.size(); ++i) {
    const Status loaded = ask(client, i, [&]() -> Status {
      EVENKEEL_TRY(open_row(client, i));
      if (!step) step = client.step.next(clock_.steady(), wish.at_least);
      return advance(client, i, *step, 0);
    });
    if (loaded) return true;
  }
  return false;
}

bool SegmentLoader::may_ask(uint32_t allocator) const {
  return clock_.steady() >= allocators_[allocator].asked_again_at;
}

// Calls the store of `allocator` unless it failed a moment ago, and keeps account of failures.
template <typename Call>
Status SegmentLoader::ask(Client& client, uint32_t allocator, Call call) {
  Allocator& asked = allocators_[allocator];
  if (!may_ask(allocator))
    return fail(loader_error(fmt::format("{} is not asked again yet", asked.store->name())));
  const nanoseconds before = clock_.steady();
  Status done = call();
  const nanoseconds after = clock_.steady();
  if (done) {
    latency_.add(after - before);
    asked.failures = 0;
    return done;
  }
  const nanoseconds pause = std::min(pause_most, pause_least * (1U << std::min<uint32_t>(asked.failures, 6)));
  if (asked.failures++ == 0)
    complain(fmt::format("generator {}, {}: {}", settings_.name, client.tag, done.error().message));
  asked.asked_again_at = after + pause;
  client.generator->report(done.error());
  if (!client.served) client.first_error = done.error();
  return done;
}

Result<SegmentLoader::Row*> SegmentLoader::open_row(Client& client, uint32_t allocator) {
  Row& row = client.rows[allocator];
  if (row.open) return &row;
  EVENKEEL_ASSIGN(row.seen, allocators_[allocator].store->open_row(client.tag));
  row.open = true;
  client.step.resume(row.seen.step);
  return &row;
}

// A row whose epoch is another one is adopted, then asked once more.
Status SegmentLoader::advance(Client& client, uint32_t allocator, uint32_t step, uint64_t above) {
  SegmentStore& store = *allocators_[allocator].store;
  Row& row = client.rows[allocator];
  std::optional<SegmentRow> after;
  for (int attempt = 0; attempt < 2 && !after; ++attempt) {
    if (attempt > 0 || row.went_back) EVENKEEL_TRY(adopt_new_epoch(client, allocator));
    EVENKEEL_ASSIGN(after, store.advance(client.tag, {row.seen.epoch, step, above, number_max_}));
  }
  if (!after) return adopt_new_epoch(client, allocator);
  const uint64_t first = after->max_id - step + 1;
  if (first <= row.last_granted) {
    row.went_back = true;
    row.seen.max_id = first - 1;
    return fail(went_back(client, allocator));
  }
  row.seen = *after;
  row.last_granted = after->max_id;
  const uint64_t prefix = allocators_[allocator].prefix << number_bits_;
  client.generator->deliver({prefix | first, prefix | after->max_id, allocator});
  client.served = true;
  return {};
}

Status SegmentLoader::protect(Client& client, uint32_t allocator, uint64_t number) {
  SegmentStore& store = *allocators_[allocator].store;
  Row& row = client.rows[allocator];
  std::optional<SegmentRow> after;
  for (int attempt = 0; attempt < 2 && !after; ++attempt) {
    if (attempt > 0) EVENKEEL_TRY(adopt_new_epoch(client, allocator));
    EVENKEEL_ASSIGN(after, store.protect(client.tag, row.seen.epoch, number));
  }
  if (!after) return adopt_new_epoch(client, allocator);
  row.seen = *after;
  return {};
}

Error SegmentLoader::went_back(const Client& client, uint32_t allocator) const {
  const Row& row = client.rows[allocator];
  return loader_error(fmt::format(
      "{}: row {} went back: it stood at {} although {} had been given before; was it restored, or lost in a "
      "failover? Set max_id above every id in use and raise epoch",
      allocators_[allocator].store->name(), client.tag, row.seen.max_id, row.last_granted));
}

// The row was not changed: an operator has reset it, or else it has no numbers left.
Status SegmentLoader::adopt_new_epoch(Client& client, uint32_t allocator) {
  SegmentStore& store = *allocators_[allocator].store;
  Row& row = client.rows[allocator];
  EVENKEEL_ASSIGN(const SegmentRow now, store.open_row(client.tag));
  if (now.epoch == row.seen.epoch && row.went_back) return fail(went_back(client, allocator));
  if (now.epoch == row.seen.epoch)
    return fail(loader_error(
        fmt::format("{}: row {} has no numbers left: max_id is {}, its ids have {} bits without the prefix",
                    store.name(), client.tag, now.max_id, number_bits_)));
  complain(fmt::format("{}: row {} was reset (epoch {}): the segments fetched before are void", store.name(),
                       client.tag, now.epoch));
  client.generator->drop_segments();
  row = {now, true, 0, false};
  return {};
}

Status SegmentLoader::give_back() {
  const std::lock_guard lock(clients_mutex_);
  Status outcome;
  for (const auto& client : clients_) {
    for (const Segment& left : client->generator->leftovers()) {
      Allocator& allocator = allocators_[left.allocator];
      const auto given = allocator.store->give_back(client->tag, client->rows[left.allocator].seen.epoch,
                                                    left.last & number_max_, (left.first & number_max_) - 1);
      if (!given) outcome = fail(given.error());
    }
  }
  return outcome;
}

void SegmentLoader::complain(std::string text) {
  const std::lock_guard lock(mutex_);
  if (complaints_.size() < complaints_max) complaints_.push_back(std::move(text));
}

std::vector<std::string> SegmentLoader::take_complaints() {
  const std::lock_guard lock(mutex_);
  return std::exchange(complaints_, {});
}

}  // namespace evenkeel::idgen
