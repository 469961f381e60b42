// A pid on disk that cannot be mistaken for another process's: the pid and the moment its process began.
#pragma once

#include <chrono>
#include <filesystem>
#include <sys/types.h>

#include "base/result.h"

namespace evenkeel::demo {

// Writes "PID START" (the start in clock ticks since boot, from /proc).
Status record_pid(const std::filesystem::path& file, pid_t pid);

// Stops the recorded process if it is still that process (SIGTERM, then SIGKILL) and removes the record. A
// pid that was given to another process since, or a record that cannot be read, is left alone.
void stop_recorded(const std::filesystem::path& file, std::chrono::milliseconds patience);

}  // namespace evenkeel::demo
