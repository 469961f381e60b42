// The hot word of segment mode: which segment is in use, and how much of it is used.
//
//   word = [generation:32 | offset:32]
//
// One fetch_add takes ids: it returns the generation and the offset together, so a thread that was overtaken
// by the next segment still knows which segment its offsets belong to. Offsets past the segment's count are
// simply not issued. What a generation stands for lies in one of a few views; a thread that slept until its
// view was used again sees another generation there and drops its offsets. So no id can be issued twice, and
// nothing is ever freed under a reader.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace evenkeel::idgen {

// Ids first .. first+count-1, in order or, with a key, permuted.
struct SegmentView {
  uint64_t first = 0;
  uint32_t count = 0;
  uint32_t generation = 0;
  uint64_t shuffle_key = 0;  // 0: in order
};

// Offsets from .. from+count-1 of a segment; they belong to the caller alone.
struct TakenOffsets {
  SegmentView segment;
  uint32_t from = 0;
  uint32_t count = 0;
  bool passed_mark = false;  // by exactly one take of a mark: the loader wants to know
};

// Thread-safe; take() and the like by any thread, what changes the segment by one at a time (the owner's
// lock).
class SegmentCursor {
 public:
  // The most that one take() may ask for, so that offsets of threads that came too late cannot overflow.
  static constexpr uint32_t take_max = 65'536;

  // Up to `wanted` offsets; false when the segment in use has none left. 1 <= wanted <= take_max.
  bool take(uint32_t wanted, TakenOffsets& taken) {
    if (dry_.load(std::memory_order_relaxed)) [[unlikely]]
      return false;
    const uint64_t word = word_.fetch_add(wanted, std::memory_order_acq_rel);
    const auto from = static_cast<uint32_t>(word);
    uint32_t mark = 0;
    if (!read_view(static_cast<uint32_t>(word >> 32), taken.segment, mark)) [[unlikely]]
      return false;
    if (from >= taken.segment.count) [[unlikely]]
      return false;
    taken.from = from;
    taken.count = wanted <= taken.segment.count - from ? wanted : taken.segment.count - from;
    taken.passed_mark = from < mark && from + taken.count >= mark;
    return true;
  }

  // The segment in use and the first free offset, for callers that choose; false when it is used up.
  bool peek(SegmentView& segment, uint32_t& offset) const;
  // Takes everything from `offset` up to, without, `end` if `offset` is still the first free one of
  // `segment`.
  bool take_exactly(const SegmentView& segment, uint32_t offset, uint32_t end, TakenOffsets& taken);

  // Puts a new segment in use; returns the first offset of the old one that nobody has taken. `mark`: the
  // number of used offsets at which passed_mark is to be reported.
  uint32_t install(uint64_t first, uint32_t count, uint64_t shuffle_key, uint32_t mark);
  // Moves the mark of the segment in use; true when it has been passed already.
  bool move_mark(uint32_t generation, uint32_t mark);
  // Nothing can be taken until the next install(), and takes cost nothing.
  void set_dry() { dry_.store(true, std::memory_order_relaxed); }

  uint32_t generation() const { return static_cast<uint32_t>(word_.load(std::memory_order_acquire) >> 32); }
  // Rises whenever ids that threads have put by must be dropped. On a line that draws only read.
  uint64_t stamp() const { return stamp_.load(std::memory_order_acquire); }
  void void_blocks() { stamp_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> first{0};
    std::atomic<uint64_t> shuffle_key{0};
    std::atomic<uint32_t> count{0};
    std::atomic<uint32_t> mark{0};
    std::atomic<uint64_t> generation{UINT64_MAX};
  };
  static constexpr size_t slot_count = 8;

  bool read_view(uint32_t generation, SegmentView& view, uint32_t& mark) const {
    const Slot& slot = slots_[generation % slot_count];
    // Should install() have written any of what is read here, then the store of its that voids the slot is
    // seen below: its stores release, these loads acquire.
    view.first = slot.first.load(std::memory_order_acquire);
    view.shuffle_key = slot.shuffle_key.load(std::memory_order_acquire);
    view.count = slot.count.load(std::memory_order_acquire);
    view.generation = generation;
    mark = slot.mark.load(std::memory_order_acquire);
    return slot.generation.load(std::memory_order_relaxed) == generation;
  }

  alignas(64) std::atomic<uint64_t> word_{0};
  alignas(64) std::atomic<bool> dry_{true};
  std::atomic<uint64_t> stamp_{0};
  std::array<Slot, slot_count> slots_;
};

}  // namespace evenkeel::idgen
