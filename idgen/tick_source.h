// Where a generator reads the time: a published word instead of a call to the operating system, because the
// clock call costs ten times the compare-and-swap that makes an id.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace evenkeel::idgen {

// Thread-safe. A late published time only makes ids a little older than they could be, never equal:
// uniqueness rests on the generator's state and window alone.
class TickSource {
 public:
  virtual ~TickSource() = default;

  // The time in Unix milliseconds. Reads the published word; every `verify_every` reads of a thread, or when
  // nothing is published, asks the subclass.
  int64_t unix_millis() const {
    const int64_t published = published_.load(std::memory_order_relaxed);
    if (published != unpublished && ++reads_of_thread_ % verify_every != 0) [[likely]]
      return published;
    return verified_millis(published);
  }
  // Straight from the clock, to compute waits.
  virtual int64_t exact_unix_micros() const = 0;

 protected:
  static constexpr int64_t unpublished = INT64_MIN;
  static constexpr uint32_t verify_every = 64;

  // `published` may be `unpublished` or stale.
  virtual int64_t verified_millis(int64_t published) const = 0;
  void publish(int64_t unix_millis) { published_.store(unix_millis, std::memory_order_relaxed); }
  // Sends all readers to verified_millis() until the next publish().
  void withdraw() const { published_.store(unpublished, std::memory_order_relaxed); }

 private:
  inline static thread_local uint32_t reads_of_thread_ = 0;
  alignas(64) mutable std::atomic<int64_t> published_{unpublished};
};

// Every read goes to the clock: for tests, the simulation and tools that make few ids.
class DirectTicks final : public TickSource {
 public:
  // `clock` must outlive this.
  explicit DirectTicks(const Clock& clock) : clock_(clock) {}
  int64_t exact_unix_micros() const override { return clock_.unix_micros(); }

 protected:
  int64_t verified_millis(int64_t) const override { return clock_.unix_millis(); }

 private:
  const Clock& clock_;
};

}  // namespace evenkeel::idgen
