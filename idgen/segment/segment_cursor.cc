#include "idgen/segment/segment_cursor.h"

namespace evenkeel::idgen {

bool SegmentCursor::peek(SegmentView& segment, uint32_t& offset) const {
  if (dry_.load(std::memory_order_relaxed)) return false;
  const uint64_t word = word_.load(std::memory_order_acquire);
  offset = static_cast<uint32_t>(word);
  uint32_t mark = 0;
  return read_view(static_cast<uint32_t>(word >> 32), segment, mark) && offset < segment.count;
}

bool SegmentCursor::take_exactly(const SegmentView& segment, uint32_t offset, uint32_t end,
                                 TakenOffsets& taken) {
  const uint64_t generation = uint64_t{segment.generation} << 32;
  uint64_t expected = generation | offset;
  if (!word_.compare_exchange_strong(expected, generation | end, std::memory_order_acq_rel)) return false;
  const uint32_t mark = slots_[segment.generation % slot_count].mark.load(std::memory_order_relaxed);
  taken.segment = segment;
  taken.from = offset;
  taken.count = end - offset;
  taken.passed_mark = offset < mark && end >= mark;
  return true;
}

uint32_t SegmentCursor::install(uint64_t first, uint32_t count, uint64_t shuffle_key, uint32_t mark) {
  const uint32_t next = generation() + 1;
  Slot& slot = slots_[next % slot_count];
  slot.generation.store(UINT64_MAX, std::memory_order_relaxed);
  slot.first.store(first, std::memory_order_release);
  slot.shuffle_key.store(shuffle_key, std::memory_order_release);
  slot.count.store(count, std::memory_order_release);
  slot.mark.store(mark, std::memory_order_release);
  slot.generation.store(next, std::memory_order_release);
  const uint64_t before = word_.exchange(uint64_t{next} << 32, std::memory_order_acq_rel);
  void_blocks();
  dry_.store(count == 0, std::memory_order_release);
  return static_cast<uint32_t>(before);
}

bool SegmentCursor::move_mark(uint32_t generation, uint32_t mark) {
  slots_[generation % slot_count].mark.store(mark, std::memory_order_seq_cst);
  const uint64_t word = word_.load(std::memory_order_seq_cst);
  return static_cast<uint32_t>(word >> 32) != generation || static_cast<uint32_t>(word) >= mark;
}

}  // namespace evenkeel::idgen
