// The look at the clock that a ClockGuard judges: what the kernel says of its synchronisation (adjtimex), and
// how far it stands from the registry's clock.
#pragma once

#include "base/clock.h"
#include "idgen/clock_guard.h"
#include "idgen/registry/registry.h"

namespace evenkeel::idgen {

// Control thread. A registry that cannot be asked leaves the offset open; it is no fault of the clock.
class SystemClockProbe final : public ClockProbe {
 public:
  // Both must outlive it. `registry` may be null: then only the kernel is asked.
  SystemClockProbe(Registry* registry, const Clock& clock) : registry_(registry), clock_(clock) {}
  Result<ClockHealth> look() override;

 private:
  Registry* registry_;
  const Clock& clock_;
};

}  // namespace evenkeel::idgen
