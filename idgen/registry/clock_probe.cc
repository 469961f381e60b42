#include "idgen/registry/clock_probe.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/timex.h>

namespace evenkeel::idgen {

Result<ClockHealth> SystemClockProbe::look() {
  timex state{};  // modes 0: asks and changes nothing
  if (adjtimex(&state) < 0) return fail(registry_error(fmt::format("adjtimex: {}", std::strerror(errno))));
  ClockHealth health;
  health.synchronised = (state.status & STA_UNSYNC) == 0;
  health.max_error_us = state.maxerror;
  if (registry_ == nullptr) return health;
  const int64_t before = clock_.unix_millis();
  const auto registry_now = registry_->now_unix_ms();
  const int64_t after = clock_.unix_millis();
  if (!registry_now) return health;
  // The registry read its clock somewhere between the two; only what lies outside is an offset for certain.
  if (*registry_now < std::min(before, after))
    health.registry_offset_ms = std::min(before, after) - *registry_now;
  else if (*registry_now > std::max(before, after))
    health.registry_offset_ms = std::max(before, after) - *registry_now;
  else
    health.registry_offset_ms = 0;
  return health;
}

}  // namespace evenkeel::idgen
