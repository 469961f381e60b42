#include "base/clock.h"

#include <ctime>

namespace evenkeel {

int64_t SystemClock::unix_micros() const {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

std::chrono::nanoseconds SystemClock::steady() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace evenkeel
