// A process of its own that holds a worker id (lease_holder.cc), as a test drives it.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace evenkeel::idgen {

// Whatever hangs longer is a failure.
constexpr std::chrono::seconds holder_patience{60};

struct Answer {
  std::vector<uint64_t> ids;
  std::string error;
};

class HolderProcess {
 public:
  HolderProcess(const std::string& program, std::vector<std::string> words) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    words.insert(words.begin(), program);
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execv(program.c_str(), arguments.data());
      _exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    first_ = read_line();
  }
  ~HolderProcess() {
    kill();
    ::close(to_);
    ::close(from_);
  }
  HolderProcess(const HolderProcess&) = delete;
  HolderProcess& operator=(const HolderProcess&) = delete;

  pid_t pid() const { return pid_; }
  // "open", or "refused …".
  const std::string& first() const { return first_; }
  bool is_open() const { return first_ == "open"; }

  std::string ask(const std::string& line) {
    const std::string text = line + "\n";
    if (write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return "";
    return read_line();
  }
  Answer draw(int count) {
    std::istringstream line(ask(fmt::format("draw {}", count)));
    Answer answer;
    std::string word;
    line >> word;
    EXPECT_EQ(word, "ids");
    while (line >> word && word != "error") answer.ids.push_back(std::stoull(word));
    std::getline(line, answer.error);
    return answer;
  }
  void set_offset(std::chrono::milliseconds offset) {
    EXPECT_EQ(ask(fmt::format("offset {}", offset.count())), "ok");
  }

  // Returns when all of its threads stand.
  void stop() {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    ASSERT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void go_on() { ::kill(pid_, SIGCONT); }
  // kill -9; returns when it is gone.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  std::string read_line() {
    const auto deadline = std::chrono::steady_clock::now() + holder_patience;
    std::string line;
    char c = 0;
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd ready{from_, POLLIN, 0};
      if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
        ADD_FAILURE() << "process " << pid_ << " does not answer; so far: " << line;
        return line;
      }
      if (read(from_, &c, 1) != 1) return line;
      if (c == '\n') return line;
      line += c;
    }
  }

  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string first_;
};

// All ids that the processes of one test drew: none may come twice.
class DrawnIds {
 public:
  // The answer's ids, in their order.
  void add(const Answer& answer) {
    for (const uint64_t id : answer.ids) EXPECT_TRUE(seen_.insert(id).second) << "id " << id << " came twice";
  }
  size_t count() const { return seen_.size(); }
  uint64_t largest() const { return seen_.empty() ? 0 : *seen_.rbegin(); }

 private:
  std::set<uint64_t> seen_;
};

// Calls `done` until it is true; false when it did not become so in time. Each call waits for another
// process, so that nothing spins.
template <typename Done>
bool becomes_true(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + holder_patience;
  while (!done())
    if (std::chrono::steady_clock::now() > deadline) return false;
  return true;
}

}  // namespace evenkeel::idgen
