// The stretch of ticks that a worker id may use, reserved in the registry before it is used. Ids are unique
// because windows of successive holders of a worker id never overlap and each holder stays inside its own,
// whatever its clock does and however long it was paused.
#pragma once

#include <atomic>
#include <cstdint>

namespace evenkeel::idgen {

// Shared by a worker lease (which alone extends it, on the control thread) and all generators of that worker
// id (which only read, on any thread). `last` never decreases.
class TickWindow {
 public:
  TickWindow(uint32_t worker, uint64_t first, uint64_t last) : worker_(worker), first_(first), last_(last) {}

  uint32_t worker() const { return worker_; }
  // The first tick that may be used; at least 1.
  uint64_t first() const { return first_; }
  // The last tick that may be used; first()-1 while nothing is reserved yet.
  uint64_t last() const { return last_.load(std::memory_order_acquire); }
  // Only upward; called after the registry has stored the new bound.
  void extend(uint64_t last) {
    if (last > last_.load(std::memory_order_relaxed)) last_.store(last, std::memory_order_release);
  }

 private:
  const uint32_t worker_;
  const uint64_t first_;
  alignas(64) std::atomic<uint64_t> last_;
};

}  // namespace evenkeel::idgen
