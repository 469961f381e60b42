// Child processes of the demo: started, watched and stopped by pid, and gone when the demo is gone.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/result.h"

namespace evenkeel::demo {

struct ProcessOptions {
  // Program (a path, or a name looked up in PATH) and its arguments.
  std::vector<std::string> command;
  // Receives standard output and standard error; appended to.
  std::filesystem::path log;
  // Empty: the caller's own.
  std::filesystem::path working_directory;
  // "NAME=value", added to the caller's own environment: the way secrets are handed over.
  std::vector<std::string> environment;
};

// Owns one child. The child runs in its own session, so that Ctrl-C at the terminal reaches only the demo,
// and gets SIGTERM when the thread that started it ends: start from a thread that lives as long as the demo.
// Destroying stops it as stop() does. Movable, not thread-safe.
class Process {
 public:
  static Result<Process> start(const ProcessOptions& options);

  Process() = default;
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  // False once the child has ended; reaps it then.
  bool running();
  // SIGTERM without waiting: several children then stop at the same time.
  void ask_to_stop();
  // SIGTERM, then SIGKILL when it has not ended within `patience`. Returns when the child is gone.
  void stop(std::chrono::milliseconds patience = std::chrono::seconds(30));
  // SIGKILL at once: what a crash looks like to others.
  void kill();

 private:
  explicit Process(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;
};

// Runs a short program to its end; its output goes to `options.log`. Fails (kind io) when it cannot be
// started or ends with a status other than 0; the message holds the last lines of the log.
Status run_to_end(const ProcessOptions& options);

// The last `lines` lines of a text file; empty when it cannot be read.
std::string last_lines(const std::filesystem::path& file, size_t lines);

}  // namespace evenkeel::demo
