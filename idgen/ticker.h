// A thread that publishes the time, for programs that make many ids.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "idgen/tick_source.h"

namespace evenkeel::idgen {

// Publishes the clock every `period` while ids are being made at a rate; rests, without a single wake-up,
// while they are few, and every read then goes to the clock. A reader that finds the published time older
// than `stalled_after` (the thread was not given the processor) withdraws it, so all read the clock until the
// thread is back.
class Ticker final : public TickSource {
 public:
  static constexpr std::chrono::microseconds default_period{200};
  static constexpr std::chrono::microseconds default_stalled_after{2'000};

  // Starts the thread. `clock` must outlive this.
  explicit Ticker(const Clock& clock, std::chrono::microseconds period = default_period,
                  std::chrono::microseconds stalled_after = default_stalled_after);
  // Stops the thread; takes up to one period.
  ~Ticker() override;
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  int64_t exact_unix_micros() const override { return clock_.unix_micros(); }
  // The thread publishes at present, rather than rests.
  bool publishing() const { return wake_.load(std::memory_order_relaxed) != 0; }

 protected:
  int64_t verified_millis(int64_t published) const override;

 private:
  void run();
  void publish_while_read();

  const Clock& clock_;
  const std::chrono::microseconds period_;
  const std::chrono::nanoseconds stalled_after_;
  std::atomic<bool> stop_{false};
  // 1: publish. Set by readers, cleared by the thread before it rests.
  mutable std::atomic<uint32_t> wake_{0};
  mutable std::atomic<uint32_t> reads_at_rest_{0};
  mutable std::atomic<bool> was_read_{false};
  std::atomic<int64_t> published_at_{0};  // steady nanoseconds
  std::thread thread_;                    // last: starts when all else is set
};

}  // namespace evenkeel::idgen
