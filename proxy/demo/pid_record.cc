#include "proxy/demo/pid_record.h"

#include <fmt/format.h>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <string>
#include <thread>

#include "proxy/demo/folders.h"

namespace evenkeel::demo {
namespace {

// Field 22 of /proc/PID/stat; the name in field 2 may hold spaces and parentheses. 0 when there is no
// process.
uint64_t start_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(in, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  char state = 0;
  fields >> state;
  for (int field = 4; field <= 21; ++field) fields >> skipped;
  uint64_t start = 0;
  fields >> start;
  return state == 'Z' ? 0 : start;
}

}  // namespace

Status record_pid(const std::filesystem::path& file, pid_t pid) {
  return write_private_file(file, fmt::format("{} {}\n", pid, start_of(pid)));
}

void stop_recorded(const std::filesystem::path& file, std::chrono::milliseconds patience) {
  pid_t pid = 0;
  uint64_t start = 0;
  if (!(std::ifstream(file) >> pid >> start) || pid <= 1 || start == 0) return;
  if (start_of(pid) == start) kill(pid, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (start_of(pid) == start && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (start_of(pid) == start) kill(pid, SIGKILL);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

}  // namespace evenkeel::demo
