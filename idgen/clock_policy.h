// Which action a step back of the clock leads to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "idgen/settings.h"

namespace evenkeel::idgen {

// The action of the smallest step that covers `step_ms` (at least 1); strict when none does.
ClockAction action_for(const ClockSettings& clock, int64_t step_ms);

bool uses(const ClockSettings& clock, ClockAction action);

// Sync is watched: asked for, or needed by pause_until_sync.
bool watches_sync(const ClockSettings& clock);

// "up to 5 ms freeze, up to 200 ms wait, beyond that strict".
std::string describe(const ClockSettings& clock);

// Order and bounds of the steps; whether switch_worker has a worker id to switch to.
std::vector<std::string> check_clock(const GeneratorSettings& settings);

}  // namespace evenkeel::idgen
