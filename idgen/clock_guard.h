// Whether ids may be made at all, as far as the clock is concerned.
//
// The control thread looks at the clock from outside (what the kernel says of its synchronisation, what the
// registry's clock reads) and judges; generators read one flag. A step back whose action is
// pause_until_sync asks for a pause at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "idgen/settings.h"

namespace evenkeel::idgen {

// One look at the clock.
struct ClockHealth {
  // As the kernel sees it (adjtimex): STA_UNSYNC is clear; its bound of the error.
  bool synchronised = true;
  int64_t max_error_us = 0;
  // This clock minus the registry's, as far as the time that the asking took leaves no doubt; nothing when
  // the registry could not be asked.
  std::optional<int64_t> registry_offset_ms;
};

// Takes the look. Called by the control thread alone; may block on IO.
class ClockProbe {
 public:
  virtual ~ClockProbe() = default;
  virtual Result<ClockHealth> look() = 0;
};

class ClockGuard {
 public:
  // Begins unpaused; `judge` once before ids are made, so that a clock that is wrong from the start is seen.
  explicit ClockGuard(const ClockWatch& watch) : watch_(watch) {}

  // Any thread; one relaxed load.
  bool paused() const { return paused_.load(std::memory_order_relaxed); }
  // Any thread: the clock stepped back by `step_ms`.
  void pause(int64_t step_ms);
  // Control thread: out of range pauses; `good_checks` looks in a row within it end a pause. True when this
  // call changed whether ids may be made.
  bool judge(const Result<ClockHealth>& health);
  // Why ids are paused, for errors and the log.
  std::string reason() const;
  // For metrics: pauses so far.
  uint64_t pauses() const { return pauses_.load(std::memory_order_relaxed); }

 private:
  std::string fault_of(const Result<ClockHealth>& health) const;
  bool pause_for(std::string reason);

  const ClockWatch watch_;
  std::atomic<bool> paused_{false};
  std::atomic<uint64_t> pauses_{0};
  mutable std::mutex mutex_;  // guards what follows, and changes of `paused_`
  std::string reason_;
  uint32_t good_in_a_row_ = 0;
};

}  // namespace evenkeel::idgen
