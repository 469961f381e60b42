#include "idgen/segment/segment_generator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "idgen/run_start.h"
#include "idgen/start_order.h"

namespace evenkeel::idgen {
namespace {

using std::chrono::nanoseconds;

// How often, at most, a segment asks how fast it is being used up.
constexpr uint32_t looks_per_segment = 8;
// Time for the store to answer late, in multiples of its slowest call.
constexpr double latencies_ahead = 5;
// Segments kept beside the one in use: the next one, and one that an explicit id made necessary.
constexpr size_t ready_max = 2;
constexpr nanoseconds wait_least = std::chrono::milliseconds(1);
constexpr nanoseconds wait_most = std::chrono::milliseconds(50);

// The id at an offset of a segment.
class IdAt {
 public:
  explicit IdAt(const SegmentView& segment)
      : first_(segment.first),
        shuffled_(segment.shuffle_key != 0),
        permutation_(std::max<uint32_t>(1, segment.count), segment.shuffle_key) {}
  uint64_t operator()(uint32_t offset) const { return first_ + (shuffled_ ? permutation_(offset) : offset); }

 private:
  uint64_t first_;
  bool shuffled_;
  KeyedPermutation permutation_;
};

void write_ids(const TakenOffsets& taken, std::span<uint64_t> keys) {
  if (taken.segment.shuffle_key == 0) {
    for (uint32_t i = 0; i < taken.count; ++i) keys[i] = taken.segment.first + taken.from + i;
    return;
  }
  const IdAt id_at(taken.segment);
  for (uint32_t i = 0; i < taken.count; ++i) keys[i] = id_at(taken.from + i);
}

}  // namespace

Result<std::unique_ptr<SegmentGenerator>> SegmentGenerator::create(Parts parts) {
  if (parts.clock == nullptr || !parts.wake)
    return fail(internal_error("a segment generator without a clock or a loader"));
  const auto errors = check_segment(parts.settings.segment, parts.settings.batch == BatchMode::consecutive);
  if (!errors.empty())
    return fail(config_error(fmt::format("generator of {}: {}", parts.table, fmt::join(errors, "; "))));
  EVENKEEL_ASSIGN(SteeringMap map, SteeringMap::identity(parts.slots));
  auto generator = std::unique_ptr<SegmentGenerator>(new SegmentGenerator(std::move(parts)));
  EVENKEEL_TRY(generator->set_map(std::move(map)));
  return generator;
}

SegmentGenerator::SegmentGenerator(Parts parts)
    : parts_(std::move(parts)),
      number_mask_((uint64_t{1} << (parts_.settings.segment.id_bits - parts_.settings.segment.prefix_bits)) -
                   1),
      random_(parts_.seed),
      protected_numbers_(parts_.settings.segment.allocators.size(), 0) {}

Result<DrawnKeys> SegmentGenerator::draw(const KeyDemand& demand, std::span<uint64_t> keys) {
  EVENKEEL_TRY(check_demand(demand, keys, parts_.slots, gene_modulus()));
  Seat& seat = seats_.mine();
  if (seat.map_version != map_version_.load(std::memory_order_acquire)) [[unlikely]] {
    const std::lock_guard lock(mutex_);
    seat.map = map_;
    seat.map_version = map_version_.load(std::memory_order_relaxed);
  }
  const bool bound = !demand.row_slots.empty();
  const bool run = !bound && demand.rows > 1 && parts_.settings.batch == BatchMode::consecutive;
  const bool choosy = bound || !seat.map->is_identity();
  uint32_t drawn = 0;
  while (drawn < demand.rows) {
    const auto rest = keys.subspan(drawn, demand.rows - drawn);
    uint32_t got = 0;
    if (run) {
      got = draw_run(seat, demand, rest);
    } else if (choosy) {
      got = draw_permitted(seat, bound ? demand.row_slots.subspan(drawn) : demand.row_slots, rest);
    } else if (demand.rows == 1 && draw_from_block(seat, keys[0])) [[likely]] {
      got = 1;
    } else {
      got = draw_in_order(rest);
    }
    drawn += got;
    if (got == 0 && next_segment(run ? demand.rows - drawn : 1) == Supply::none) break;
  }
  seat.counters.ids.add(drawn);
  DrawnKeys answer{drawn, demand.rows, {}};
  if (answer.complete()) [[likely]]
    return answer;

  std::unique_lock lock(mutex_);
  auto wait = wait_or_refuse(starved_since_, "its segments are used up");
  lock.unlock();
  (wait ? seat.counters.waits : seat.counters.refusals).add(1);
  if (!wait) return fail(std::move(wait.error()));
  answer.wait = *wait;
  return answer;
}

// One row at a time out of what the thread has put by.
bool SegmentGenerator::draw_from_block(Seat& seat, uint64_t& key) {
  const uint32_t size = parts_.settings.segment.thread_block;
  if (size == 0) return false;
  const uint64_t stamp = cursor_.stamp();
  if (seat.stamp != stamp || seat.block_next == seat.block_end) [[unlikely]] {
    TakenOffsets taken;
    if (!cursor_.take(size, taken)) return false;
    if (taken.passed_mark) parts_.wake();
    seat.stamp = stamp;
    seat.block = taken.segment;
    seat.block_next = taken.from;
    seat.block_end = taken.from + taken.count;
  }
  const uint32_t offset = seat.block_next++;
  key = seat.block.shuffle_key == 0 ? seat.block.first + offset : IdAt(seat.block)(offset);
  return true;
}

uint32_t SegmentGenerator::draw_in_order(std::span<uint64_t> keys) {
  TakenOffsets taken;
  const auto wanted = static_cast<uint32_t>(std::min<size_t>(keys.size(), SegmentCursor::take_max));
  if (!cursor_.take(wanted, taken)) return 0;
  write_ids(taken, keys);
  if (taken.passed_mark) [[unlikely]]
    parts_.wake();
  return taken.count;
}

// Rows that may not have just any id: each takes the next that suits it, and the ids passed over are gone.
uint32_t SegmentGenerator::draw_permitted(const Seat& seat, std::span<const uint32_t> row_slots,
                                          std::span<uint64_t> keys) {
  const SteeringMap& map = *seat.map;
  SegmentView segment;
  uint32_t offset = 0;
  TakenOffsets taken;
  while (cursor_.peek(segment, offset)) {
    const IdAt id_at(segment);
    uint32_t at = offset;
    uint32_t found = 0;
    for (; found < keys.size(); ++found) {
      const auto suits = [&](uint64_t id) {
        return row_slots.empty() ? map.permits(id) : map.slot_of(id) == row_slots[found];
      };
      if (segment.shuffle_key == 0 && row_slots.empty() && at < segment.count)
        at = static_cast<uint32_t>(
            std::min<uint64_t>(map.next_valid(segment.first + at) - segment.first, segment.count));
      while (at < segment.count && !suits(id_at(at))) ++at;
      if (at == segment.count) break;
      keys[found] = id_at(at++);
    }
    if (cursor_.take_exactly(segment, offset, at, taken)) {
      note_taken(taken);
      return found;
    }
  }
  return 0;
}

// Consecutive ids. A run that does not fit what is left of a segment starts in the next one; only one that no
// segment can hold is broken.
uint32_t SegmentGenerator::draw_run(Seat& seat, const KeyDemand& demand, std::span<uint64_t> keys) {
  const auto rows = static_cast<uint32_t>(keys.size());
  SegmentView segment;
  uint32_t offset = 0;
  TakenOffsets taken;
  while (cursor_.peek(segment, offset)) {
    const uint32_t left = segment.count - offset;
    if (left < rows && rows <= parts_.settings.segment.step_max) return 0;
    const uint32_t count = std::min(left, rows);
    uint64_t first = offset;
    if (count == rows && !(seat.map->is_identity() && demand.slot_deficits.empty()))
      first = choose_run_start(*seat.map, segment.first, offset, segment.count - rows, rows,
                               {demand.slot_deficits, demand.slot_instances}, 0, 0);
    if (!cursor_.take_exactly(segment, offset, static_cast<uint32_t>(first) + count, taken)) continue;
    note_taken(taken);
    for (uint32_t i = 0; i < count; ++i) keys[i] = segment.first + first + i;
    seat.counters.rows_outside_map.add(count - seat.map->count_in(keys[0], count));
    if (count < rows) seat.counters.broken_batches.add(1);
    return count;
  }
  return 0;
}

void SegmentGenerator::note_taken(const TakenOffsets& taken) {
  if (taken.passed_mark) parts_.wake();
}

// A draw of `at_least` ids got nothing: puts the next segment in use, if that is needed still and one is
// there.
SegmentGenerator::Supply SegmentGenerator::next_segment(uint32_t at_least) {
  const std::lock_guard lock(mutex_);
  if (closed_.load(std::memory_order_relaxed)) return Supply::none;
  // What no segment can hold is drawn in parts.
  const uint32_t needed = at_least > parts_.settings.segment.step_max ? 1 : at_least;
  SegmentView segment;
  uint32_t offset = 0;
  if (cursor_.peek(segment, offset) && segment.count - offset >= needed) return Supply::again;
  largest_batch_ = std::max(largest_batch_, needed);
  // One that is too short for the batch would break it; a longer one is on its way.
  while (!ready_.empty() && ready_.front().count() < needed) ready_.pop_front();
  if (ready_.empty()) {
    starve();
    return Supply::none;
  }
  use_next();
  return Supply::again;
}

void SegmentGenerator::use_next() {
  const nanoseconds now = parts_.clock->steady();
  if (in_use_ && now > in_use_since_)
    ids_per_ns_ = static_cast<double>(in_use_->count()) / static_cast<double>((now - in_use_since_).count());
  in_use_ = ready_.front();
  ready_.pop_front();
  const uint64_t key = parts_.settings.segment.shuffle ? random_.next() | 1 : 0;
  in_use_since_ = now;
  cursor_.install(in_use_->first, in_use_->count(), key, next_mark(0));
}

void SegmentGenerator::starve() {
  // A run that does not fit leaves the rest of the segment to single rows.
  SegmentView segment;
  uint32_t offset = 0;
  if (!cursor_.peek(segment, offset)) cursor_.set_dry();
  if (starved_since_.count() == 0) starved_since_ = std::max(parts_.clock->steady(), nanoseconds(1));
  parts_.wake();
}

// With the lock.
Result<KeyWait> SegmentGenerator::wait_or_refuse(nanoseconds since, std::string_view why) const {
  if (closed_.load(std::memory_order_relaxed))
    return fail(refusal(ErrorKind::registry, "the generator was closed"));
  const nanoseconds waited = since.count() == 0 ? nanoseconds(0) : parts_.clock->steady() - since;
  if (waited > std::chrono::milliseconds(parts_.settings.segment.max_wait_ms)) {
    const std::string last = last_error_ ? last_error_->message : "no answer from " + store_names();
    return fail(
        refusal(ErrorKind::registry,
                fmt::format("{} and no store has answered for {} ms ({}); inserts go on by themselves "
                            "when one answers",
                            why, waited / std::chrono::milliseconds(1), last)));
  }
  const nanoseconds wait = std::clamp(waited / 4, wait_least, wait_most);
  return KeyWait{0, wait / std::chrono::microseconds(1)};
}

std::string SegmentGenerator::store_names() const {
  std::string names;
  for (const auto& allocator : parts_.settings.segment.allocators)
    names += fmt::format("{}{}:{}", names.empty() ? "" : ", ", allocator.host, allocator.port);
  return names;
}

Result<KeyWait> SegmentGenerator::admit_explicit(std::span<const uint64_t> ids) {
  const std::lock_guard lock(mutex_);
  bool told_all = true;
  bool ask = false;
  for (const uint64_t id : ids) {
    const uint32_t allocator = allocator_of(id);
    if (id == 0 || allocator == protected_numbers_.size()) continue;  // nothing here makes such an id
    if (admit_within_segments(id) || number_of(id) <= protected_numbers_[allocator]) continue;
    if (number_of(id) > number_mask_ - SegmentSettings::step_most)
      return fail(refusal(ErrorKind::config,
                          fmt::format("the explicit id {} leaves no room above it for generated ids", id)));
    told_all = false;
    ask = explicit_ids_.insert(id).second || ask;
  }
  if (told_all) return KeyWait{};
  if (ask || explicit_since_.count() == 0) {
    if (explicit_since_.count() == 0) explicit_since_ = std::max(parts_.clock->steady(), nanoseconds(1));
    parts_.wake();
  }
  return wait_or_refuse(explicit_since_, "the store must know of an explicit id before the row is written");
}

// With the lock. Whether the id lies in a segment at hand: then it is passed over there, or was before.
bool SegmentGenerator::admit_within_segments(uint64_t id) {
  for (Segment& segment : ready_) {
    if (id < segment.first || id > segment.last) continue;
    segment.first = id + 1;
    std::erase_if(ready_, [](const Segment& other) { return other.first > other.last; });
    return true;
  }
  if (!in_use_ || id < in_use_->first || id > in_use_->last) return false;
  SegmentView segment;
  uint32_t offset = 0;
  while (cursor_.peek(segment, offset)) {
    const uint32_t end =
        segment.shuffle_key != 0 ? segment.count : static_cast<uint32_t>(id - segment.first) + 1;
    TakenOffsets taken;
    if (end <= offset || cursor_.take_exactly(segment, offset, end, taken)) break;
  }
  cursor_.void_blocks();
  return true;
}

uint32_t SegmentGenerator::allocator_of(uint64_t id) const {
  const SegmentSettings& settings = parts_.settings.segment;
  const uint64_t prefix = id >> (settings.id_bits - settings.prefix_bits);
  for (uint32_t i = 0; i < settings.allocators.size(); ++i)
    if (settings.allocators[i].prefix == prefix) return i;
  return static_cast<uint32_t>(settings.allocators.size());
}

Status SegmentGenerator::set_map(SteeringMap map) {
  if (map.slots() != parts_.slots)
    return fail(refusal(ErrorKind::config, fmt::format("a steering map of {} slots for a table of {}",
                                                       map.slots(), parts_.slots)));
  if (map.period() > parts_.settings.segment.step_min && map.period() != map.slots())
    return fail(
        refusal(ErrorKind::config,
                fmt::format("a steering map of period {} is longer than the {} ids that a segment may "
                            "have; raise step_min",
                            map.period(), parts_.settings.segment.step_min)));
  const std::lock_guard lock(mutex_);
  map_ = std::make_shared<const SteeringMap>(std::move(map));
  map_version_.fetch_add(1, std::memory_order_release);
  return {};
}

std::shared_ptr<const SteeringMap> SegmentGenerator::map() const {
  const std::lock_guard lock(mutex_);
  return map_;
}

void SegmentGenerator::close() {
  const std::lock_guard lock(mutex_);
  if (closed_.exchange(true)) return;
  last_offset_ = cursor_.install(0, 0, 0, UINT32_MAX);
}

std::vector<Segment> SegmentGenerator::leftovers() {
  const std::lock_guard lock(mutex_);
  std::vector<Segment> left(ready_.rbegin(), ready_.rend());
  // Of a shuffled segment every part has been used a little.
  const bool whole = last_offset_ == 0 || !parts_.settings.segment.shuffle;
  if (in_use_ && whole && last_offset_ < in_use_->count())
    left.push_back({in_use_->first + last_offset_, in_use_->last, in_use_->allocator});
  return left;
}

Status SegmentGenerator::ready() const {
  const std::lock_guard lock(mutex_);
  if (closed_.load(std::memory_order_relaxed))
    return fail(refusal(ErrorKind::registry, "the generator was closed"));
  SegmentView segment;
  uint32_t offset = 0;
  if (!ready_.empty() || cursor_.peek(segment, offset)) return {};
  const std::string last = last_error_ ? last_error_->message : "no answer from " + store_names() + " yet";
  return fail(
      refusal(ErrorKind::registry, fmt::format("its segment is used up and no other has come: {}", last)));
}

Counters SegmentGenerator::counters() const {
  Counters sum;
  seats_.for_each([&](const Seat& seat) { sum += seat.counters.read(); });
  return sum;
}

// The number of used offsets at which the next segment is fetched in any case.
uint32_t SegmentGenerator::prefetch_at() const {
  const double count = in_use_->count();
  return static_cast<uint32_t>(
      std::max(1.0, std::floor(parts_.settings.segment.prefetch_used_ratio * count)));
}

// At how many to look again, when so many are used.
uint32_t SegmentGenerator::next_mark(uint32_t used) const {
  const uint32_t stretch = std::max<uint32_t>(1, in_use_->count() / looks_per_segment);
  return std::min(prefetch_at(), (used / stretch + 1) * stretch);
}

SegmentWish SegmentGenerator::wish(nanoseconds latency) {
  const std::lock_guard lock(mutex_);
  SegmentWish wish;
  wish.at_least = largest_batch_;
  wish.explicit_ids.assign(explicit_ids_.begin(), explicit_ids_.end());
  if (closed_.load(std::memory_order_relaxed)) return {};
  if (!ready_.empty()) return wish;
  wish.load = true;
  SegmentView segment;
  uint32_t used = 0;
  if (starved_since_.count() != 0) return wish;
  while (cursor_.peek(segment, used)) {
    const auto left = static_cast<double>(segment.count - used);
    if (used >= prefetch_at()) return wish;
    const nanoseconds lasted = parts_.clock->steady() - in_use_since_;
    const double rate =
        lasted.count() > 0 ? static_cast<double>(used) / static_cast<double>(lasted.count()) : ids_per_ns_;
    if (left < rate * latencies_ahead * static_cast<double>(latency.count())) return wish;
    if (!cursor_.move_mark(segment.generation, next_mark(used))) {
      wish.load = false;
      return wish;
    }
  }
  return wish;
}

void SegmentGenerator::deliver(const Segment& segment) {
  const std::lock_guard lock(mutex_);
  if (ready_.size() == ready_max) ready_.pop_front();
  ready_.push_back(segment);
  starved_since_ = nanoseconds(0);
  last_error_.reset();
  SegmentView in_use;
  uint32_t offset = 0;
  if (!closed_.load(std::memory_order_relaxed) && !cursor_.peek(in_use, offset)) use_next();
}

void SegmentGenerator::protected_now(std::span<const uint64_t> ids, uint32_t allocator, uint64_t number) {
  const std::lock_guard lock(mutex_);
  protected_numbers_[allocator] = std::max(protected_numbers_[allocator], number);
  for (const uint64_t id : ids) {
    // A segment that was on its way when the id came may hold it.
    admit_within_segments(id);
    explicit_ids_.erase(id);
  }
  if (explicit_ids_.empty()) explicit_since_ = nanoseconds(0);
  last_error_.reset();
}

void SegmentGenerator::drop_segments() {
  const std::lock_guard lock(mutex_);
  ready_.clear();
  std::fill(protected_numbers_.begin(), protected_numbers_.end(), 0);
  cursor_.install(0, 0, 0, UINT32_MAX);
  in_use_.reset();
}

void SegmentGenerator::report(const Error& error) {
  const std::lock_guard lock(mutex_);
  last_error_ = error;
}

Error SegmentGenerator::refusal(ErrorKind kind, std::string_view why) const {
  return make_error(
      kind, mysql::er::unknown_error,
      fmt::format("no key for table {} (generator {}): {}", parts_.table, parts_.settings.name, why));
}

}  // namespace evenkeel::idgen
