// Rows that this proxy put into and took out of each slot of one logical table: what skew is judged by
// between exact counts of the tables.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "router/rule/algorithm.h"

namespace evenkeel::rule {

// Thread-safe and lock-free; a reader may see some of a concurrent statement's rows.
class SlotCounts {
 public:
  explicit SlotCounts(uint32_t slots)
      : slots_(slots), rows_(std::make_unique<std::atomic<int64_t>[]>(slots)) {}

  uint32_t slots() const { return slots_; }
  // Negative for rows deleted. `slot` < slots().
  void add(Slot slot, int64_t rows) { rows_[slot].fetch_add(rows, std::memory_order_relaxed); }
  int64_t rows(Slot slot) const { return rows_[slot].load(std::memory_order_relaxed); }
  std::vector<int64_t> snapshot() const {
    std::vector<int64_t> copy(slots_);
    for (Slot slot = 0; slot < slots_; ++slot) copy[slot] = rows(slot);
    return copy;
  }

 private:
  uint32_t slots_;
  std::unique_ptr<std::atomic<int64_t>[]> rows_;
};

}  // namespace evenkeel::rule
