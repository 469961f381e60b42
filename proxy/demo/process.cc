#include "proxy/demo/process.h"

#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/mysql/error_codes.h"
#include "proxy/demo/io_error.h"

namespace evenkeel::demo {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(5);

// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* argv, char* const* environment, const char* directory, int output,
                         int failure_pipe, pid_t parent) {
  const auto give_up = [&] {
    const int cause = errno;
    [[maybe_unused]] const auto written = write(failure_pipe, &cause, sizeof cause);
    _exit(127);
  };
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  const int input = open("/dev/null", O_RDONLY);
  if (input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) give_up();
  if (*directory != '\0' && chdir(directory) != 0) give_up();
  execvpe(argv[0], argv, environment);
  give_up();
  _exit(127);
}

// For the exec family, which promises not to write to them; ends with a null pointer.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<Process> Process::start(const ProcessOptions& options) {
  const std::vector<char*> argv = pointers_to(options.command);
  std::vector<char*> environment = pointers_to(options.environment);
  environment.pop_back();
  for (char** inherited = environ; *inherited != nullptr; ++inherited) environment.push_back(*inherited);
  environment.push_back(nullptr);
  const std::string directory = options.working_directory.string();

  const int output = open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0) return fail(io_error("open", options.log));
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) {
    const Error error = io_error("pipe for", options.command[0]);
    close(output);
    return fail(error);
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(argv.data(), environment.data(), directory.c_str(), output, failure[1], parent);
  const Error fork_error = io_error("fork for", options.command[0]);
  close(output);
  close(failure[1]);
  int cause = 0;
  const bool failed_to_exec = pid > 0 && read(failure[0], &cause, sizeof cause) == sizeof cause;
  close(failure[0]);
  if (pid < 0) return fail(fork_error);
  if (failed_to_exec) {
    waitpid(pid, nullptr, 0);
    errno = cause;
    return fail(io_error("start", options.command[0]));
  }
  return Process(pid);
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    stop();
    pid_ = std::exchange(other.pid_, -1);
  }
  return *this;
}

Process::~Process() { stop(); }

bool Process::running() {
  if (pid_ < 0) return false;
  const pid_t ended = waitpid(pid_, nullptr, WNOHANG);
  if (ended == pid_ || (ended < 0 && errno == ECHILD)) pid_ = -1;
  return pid_ >= 0;
}

void Process::ask_to_stop() {
  if (running()) ::kill(pid_, SIGTERM);
}

void Process::stop(std::chrono::milliseconds patience) {
  ask_to_stop();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (running() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(poll_interval);
  kill();
}

void Process::kill() {
  if (!running()) return;
  ::kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

Status run_to_end(const ProcessOptions& options) {
  EVENKEEL_ASSIGN(Process process, Process::start(options));
  int status = 0;
  while (waitpid(process.pid(), &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(make_error(
      ErrorKind::io, mysql::er::unknown_error,
      fmt::format("{} failed; its last words:\n{}", options.command[0], last_lines(options.log, 15))));
}

std::string last_lines(const std::filesystem::path& file, size_t lines) {
  std::ifstream in(file);
  std::deque<std::string> kept;
  for (std::string line; std::getline(in, line);) {
    kept.push_back(std::move(line));
    if (kept.size() > lines) kept.pop_front();
  }
  std::string text;
  for (const std::string& line : kept) text += line + "\n";
  return text;
}

}  // namespace evenkeel::demo
