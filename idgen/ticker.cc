#include "idgen/ticker.h"

namespace evenkeel::idgen {
namespace {

// Reads of the clock at rest before publishing pays: at a few ids a second that takes minutes.
constexpr uint32_t reads_before_waking = 256;
// Periods without a verified read (each reader verifies one in verify_every) before the thread rests.
constexpr int quiet_periods_before_rest = 50;

}  // namespace

Ticker::Ticker(const Clock& clock, std::chrono::microseconds period, std::chrono::microseconds stalled_after)
    : clock_(clock), period_(period), stalled_after_(stalled_after), thread_([this] { run(); }) {}

Ticker::~Ticker() {
  stop_.store(true);
  wake_.store(1);
  wake_.notify_one();
  thread_.join();
}

int64_t Ticker::verified_millis(int64_t published) const {
  if (published == unpublished) {
    if (reads_at_rest_.fetch_add(1, std::memory_order_relaxed) + 1 == reads_before_waking) {
      wake_.store(1);
      wake_.notify_one();
    }
    return clock_.unix_millis();
  }
  was_read_.store(true, std::memory_order_relaxed);
  const std::chrono::nanoseconds published_at(published_at_.load(std::memory_order_relaxed));
  if (clock_.steady() - published_at <= stalled_after_) return published;
  withdraw();
  return clock_.unix_millis();
}

void Ticker::run() {
  while (!stop_.load()) {
    wake_.wait(0);
    publish_while_read();
  }
}

void Ticker::publish_while_read() {
  int quiet = 0;
  while (!stop_.load() && quiet < quiet_periods_before_rest) {
    published_at_.store(clock_.steady().count(), std::memory_order_relaxed);
    publish(clock_.unix_millis());
    std::this_thread::sleep_for(period_);
    quiet = was_read_.exchange(false, std::memory_order_relaxed) ? 0 : quiet + 1;
  }
  wake_.store(0);
  withdraw();
  reads_at_rest_.store(0, std::memory_order_relaxed);
}

}  // namespace evenkeel::idgen
