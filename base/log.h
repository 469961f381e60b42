// The log: one line an event on standard error, through spdlog. Never SQL literals, passwords or
// authentication bytes; statements only as their fingerprint.
#pragma once

#include <spdlog/spdlog.h>
#include <string>

namespace evenkeel::log {

// The first time before threads start; later calls, of any thread, change the level alone. Levels: trace,
// debug, info, warn, error, off. False when the name is not a level.
bool set_up(const std::string& level);

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

}  // namespace evenkeel::log
