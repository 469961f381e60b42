// SIGINT, SIGTERM and SIGHUP as something to wait for.
#pragma once

#include <chrono>

namespace evenkeel::demo {

// Make one before any thread is started: the signals are blocked in every thread from then on (children that
// Process starts get them back). They stay blocked when it is destroyed, so that a second Ctrl-C during the
// clean-up does not cut it short.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // True once one of the signals has come, now or before.
  bool came() { return wait_for(std::chrono::milliseconds(0)); }
  // Waits at most `patience` for one.
  bool wait_for(std::chrono::milliseconds patience);
  // Readable when a signal waits; for poll().
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  bool came_ = false;
};

}  // namespace evenkeel::demo
