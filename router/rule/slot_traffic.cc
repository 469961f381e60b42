#include "router/rule/slot_traffic.h"

#include <algorithm>

namespace evenkeel::rule {

SlotTraffic::SlotTraffic(std::vector<uint16_t> slot_instances)
    : slot_instances_(std::move(slot_instances)),
      rows_(static_cast<uint32_t>(slot_instances_.size())),
      inserted_(static_cast<uint32_t>(slot_instances_.size())),
      doubts_(std::make_unique<std::atomic<bool>[]>(slot_instances_.size())) {}

void SlotTraffic::doubt(Slot slot) {
  doubts_[slot].store(true, std::memory_order_relaxed);
  any_doubt_.store(true, std::memory_order_release);
}

std::vector<Slot> SlotTraffic::take_doubts() {
  std::vector<Slot> found;
  if (!any_doubt_.exchange(false, std::memory_order_acquire)) return found;
  for (Slot slot = 0; slot < rows_.slots(); ++slot) {
    if (doubts_[slot].exchange(false, std::memory_order_relaxed)) found.push_back(slot);
  }
  return found;
}

void SlotTraffic::set_aim(std::vector<uint64_t> short_of, std::vector<bool> open, uint64_t least) {
  if (short_of.empty()) {
    aim_.store(nullptr, std::memory_order_release);
    return;
  }
  auto aim = std::make_shared<Aim>();
  aim->short_of = std::move(short_of);
  aim->open = std::move(open);
  aim->least = least;
  aim->counted = rows_.snapshot();
  aim_.store(std::move(aim), std::memory_order_release);
}

std::span<const uint64_t> SlotTraffic::worth_now() const {
  const std::shared_ptr<const Aim> aim = aim_.load(std::memory_order_acquire);
  if (aim == nullptr) return {};
  thread_local std::vector<uint64_t> worth;
  worth.assign(aim->short_of.size(), 0);
  for (Slot slot = 0; slot < worth.size(); ++slot) {
    if (!aim->open[slot]) continue;
    const int64_t since = std::max<int64_t>(0, rows_.rows(slot) - aim->counted[slot]);
    const auto filled = static_cast<uint64_t>(since);
    worth[slot] = aim->least + (aim->short_of[slot] > filled ? aim->short_of[slot] - filled : 0);
  }
  return worth;
}

}  // namespace evenkeel::rule
