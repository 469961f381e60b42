#include "proxy/net/probe.h"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

namespace evenkeel::net {
namespace {

// A socket whose connect() is under way, or -1 and the reason.
int begin_connect(const ProbeTarget& target, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found);
  if (failed != 0) {
    why = gai_strerror(failed);
    return -1;
  }
  const int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor >= 0 && connect(descriptor, found->ai_addr, found->ai_addrlen) != 0 &&
      errno != EINPROGRESS) {
    why = std::strerror(errno);
  }
  freeaddrinfo(found);
  return descriptor;
}

// True when nothing more is to be learnt.
bool look_at(const pollfd& polled, std::string& why) {
  if (polled.revents == 0) return false;
  char first = 0;
  const ssize_t got = recv(polled.fd, &first, 1, 0);
  if (got > 0) {
    why.clear();
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  why = got == 0 ? "it closed the connection" : std::strerror(errno);
  return true;
}

}  // namespace

std::vector<std::string> probe(const std::vector<ProbeTarget>& targets, std::chrono::milliseconds patience) {
  std::vector<std::string> answers(targets.size());
  std::vector<pollfd> polled(targets.size());
  size_t waiting = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    polled[i] = {begin_connect(targets[i], answers[i]), POLLIN, 0};
    if (answers[i].empty() && polled[i].fd >= 0) {
      answers[i] = "no greeting in time";
      ++waiting;
    }
  }
  const SystemClock clock;
  const auto end = clock.steady() + patience;
  std::vector<pollfd> asked = polled;
  while (waiting > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock.steady()).count();
    if (left <= 0 || poll(asked.data(), asked.size(), static_cast<int>(left)) < 0) break;
    for (size_t i = 0; i < asked.size(); ++i) {
      if (asked[i].fd < 0 || !look_at(asked[i], answers[i])) continue;
      asked[i].fd = -1;  // poll passes it over
      --waiting;
    }
  }
  for (const pollfd& one : polled) {
    if (one.fd >= 0) close(one.fd);
  }
  return answers;
}

}  // namespace evenkeel::net
