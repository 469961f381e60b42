// Time, injected. No other file of the program asks the operating system for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace evenkeel {

// Thread-safe. `unix_micros` is what is shown and stored and may step either way; `steady` is for
// intervals and never goes back.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t unix_micros() const = 0;
  virtual std::chrono::nanoseconds steady() const = 0;

  int64_t unix_millis() const { return unix_micros() / 1000; }
};

class SystemClock final : public Clock {
 public:
  int64_t unix_micros() const override;
  std::chrono::nanoseconds steady() const override;
};

// For tests and the simulation: stands still until moved. `step_wall` moves the wall clock alone.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t unix_micros_start = 1'700'000'000'000'000) : wall_(unix_micros_start) {}

  int64_t unix_micros() const override { return wall_.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds steady() const override {
    return std::chrono::nanoseconds(steady_.load(std::memory_order_relaxed));
  }
  void advance(std::chrono::microseconds by) {
    wall_ += by.count();
    steady_ += by.count() * 1000;
  }
  void step_wall(std::chrono::microseconds by) { wall_ += by.count(); }

 private:
  std::atomic<int64_t> wall_;
  std::atomic<int64_t> steady_{0};
};

}  // namespace evenkeel
