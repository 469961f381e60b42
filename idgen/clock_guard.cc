#include "idgen/clock_guard.h"

#include <cstdlib>
#include <fmt/format.h>

namespace evenkeel::idgen {

bool ClockGuard::pause_for(std::string reason) {
  const std::lock_guard lock(mutex_);
  good_in_a_row_ = 0;
  reason_ = std::move(reason);
  if (paused_.exchange(true, std::memory_order_relaxed)) return false;
  pauses_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void ClockGuard::pause(int64_t step_ms) {
  pause_for(fmt::format("the clock stepped back by {} ms", step_ms));
}

std::string ClockGuard::fault_of(const Result<ClockHealth>& health) const {
  if (!health) return fmt::format("the clock cannot be judged: {}", health.error().message);
  if (!health->synchronised) return "the kernel says that the clock is not synchronised";
  if (health->max_error_us > watch_.max_error_ms * 1'000)
    return fmt::format("the kernel says that the clock may be wrong by {} ms; {} ms are allowed",
                       health->max_error_us / 1'000, watch_.max_error_ms);
  if (health->registry_offset_ms && std::abs(*health->registry_offset_ms) > watch_.max_offset_ms)
    return fmt::format("the clock is {} ms {} that of the registry; {} ms are allowed",
                       std::abs(*health->registry_offset_ms),
                       *health->registry_offset_ms < 0 ? "behind" : "ahead of", watch_.max_offset_ms);
  return {};
}

bool ClockGuard::judge(const Result<ClockHealth>& health) {
  std::string fault = fault_of(health);
  if (!fault.empty()) return pause_for(std::move(fault));
  const std::lock_guard lock(mutex_);
  if (!paused_.load(std::memory_order_relaxed) || ++good_in_a_row_ < watch_.good_checks) return false;
  paused_.store(false, std::memory_order_relaxed);
  reason_.clear();
  return true;
}

std::string ClockGuard::reason() const {
  const std::lock_guard lock(mutex_);
  return fmt::format("{}; ids are made again after {} checks in a row that find it right", reason_,
                     watch_.good_checks);
}

}  // namespace evenkeel::idgen
