// What sessions tell of one logical table's slots, and what they are told: how many rows went in and out,
// where that is not known, and which slots a batch should be aimed at.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "router/rule/slot_counts.h"

namespace evenkeel::rule {

// Thread-safe. Sessions of all loops share one; the counting is lock-free.
class SlotTraffic {
 public:
  // The instance of each slot.
  explicit SlotTraffic(std::vector<uint16_t> slot_instances);

  std::span<const uint16_t> slot_instances() const { return slot_instances_; }

  // `slot` < slots. Rows were put in, or taken out.
  void inserted(Slot slot, int64_t rows) {
    inserted_.add(slot, rows);
    rows_.add(slot, rows);
  }
  void deleted(Slot slot, int64_t rows) { rows_.add(slot, -rows); }

  // Put in less taken out, and put in, since the process began.
  const SlotCounts& rows() const { return rows_; }
  const SlotCounts& inserted() const { return inserted_; }

  // Rows changed in this slot, and how many is not known (ON DUPLICATE KEY UPDATE, a connection lost on the
  // way).
  void doubt(Slot slot);
  // Slots that were doubted since the last call.
  std::vector<Slot> take_doubts();

  // What each slot is short of as of now; every slot that may get rows is worth `least` more than that, so
  // that a batch first of all stays within the map. Empty: batches are not aimed.
  void set_aim(std::vector<uint64_t> short_of, std::vector<bool> open, uint64_t least);
  // For one draw: what each slot is worth now, less what was counted since. Empty when batches are not aimed.
  // The memory belongs to the calling thread and holds until its next call.
  std::span<const uint64_t> worth_now() const;

 private:
  struct Aim {
    std::vector<uint64_t> short_of;
    std::vector<bool> open;
    uint64_t least = 0;
    std::vector<int64_t> counted;
  };

  const std::vector<uint16_t> slot_instances_;
  SlotCounts rows_;
  SlotCounts inserted_;
  std::unique_ptr<std::atomic<bool>[]> doubts_;
  std::atomic<bool> any_doubt_{false};
  std::atomic<std::shared_ptr<const Aim>> aim_;
};

}  // namespace evenkeel::rule
