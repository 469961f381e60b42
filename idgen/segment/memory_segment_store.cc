#include "idgen/segment/memory_segment_store.h"

#include <algorithm>

#include "base/mysql/error_codes.h"

namespace evenkeel::idgen {
namespace {

Error memory_error(std::string message) {
  return make_error(ErrorKind::registry, mysql::er::unknown_error, std::move(message));
}

}  // namespace

void MemorySegmentStore::set_fault(Fault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
}

uint64_t MemorySegmentStore::interactions() const {
  const std::lock_guard lock(mutex_);
  return interactions_;
}

SegmentRow MemorySegmentStore::row(const std::string& tag) const {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find(tag);
  return found == rows_.end() ? SegmentRow{} : found->second;
}

void MemorySegmentStore::set_row(const std::string& tag, const SegmentRow& row) {
  const std::lock_guard lock(mutex_);
  rows_[tag] = row;
}

Status MemorySegmentStore::begin() {
  if (fault_ == Fault::unreachable) return fail(memory_error("segments in memory: unreachable"));
  return {};
}

Status MemorySegmentStore::end() const {
  if (fault_ == Fault::answer_lost) return fail(memory_error("segments in memory: the answer was lost"));
  return {};
}

Result<SegmentRow> MemorySegmentStore::open_row(const std::string& tag) {
  const std::lock_guard lock(mutex_);
  EVENKEEL_TRY(begin());
  SegmentRow& row = rows_[tag];
  if (row.epoch == 0) row.epoch = 1;
  EVENKEEL_TRY(end());
  return row;
}

Result<std::optional<SegmentRow>> MemorySegmentStore::advance(const std::string& tag,
                                                              const SegmentAdvance& advance) {
  if (on_advance_) on_advance_();
  const std::lock_guard lock(mutex_);
  EVENKEEL_TRY(begin());
  ++interactions_;
  SegmentRow& row = rows_[tag];
  const uint64_t from = std::max(row.max_id, advance.above);
  if (row.epoch != advance.epoch || from + advance.step > advance.limit) return std::optional<SegmentRow>();
  row.max_id = from + advance.step;
  row.explicit_id = std::max(row.explicit_id, advance.above);
  row.step = advance.step;
  EVENKEEL_TRY(end());
  return std::optional(row);
}

Result<std::optional<SegmentRow>> MemorySegmentStore::protect(const std::string& tag, uint64_t epoch,
                                                              uint64_t number) {
  const std::lock_guard lock(mutex_);
  EVENKEEL_TRY(begin());
  ++interactions_;
  SegmentRow& row = rows_[tag];
  if (row.epoch != epoch) return std::optional<SegmentRow>();
  row.max_id = std::max(row.max_id, number);
  row.explicit_id = row.max_id;
  EVENKEEL_TRY(end());
  return std::optional(row);
}

Result<bool> MemorySegmentStore::give_back(const std::string& tag, uint64_t epoch, uint64_t expected,
                                           uint64_t max_id) {
  const std::lock_guard lock(mutex_);
  EVENKEEL_TRY(begin());
  ++interactions_;
  SegmentRow& row = rows_[tag];
  if (row.epoch != epoch || row.max_id != expected) return false;
  row.max_id = std::max(max_id, row.explicit_id);
  EVENKEEL_TRY(end());
  return true;
}

}  // namespace evenkeel::idgen
