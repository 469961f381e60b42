#include "proxy/demo/stop_signal.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace evenkeel::demo {

StopSignal::StopSignal() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  descriptor_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

StopSignal::~StopSignal() { close(descriptor_); }

bool StopSignal::wait_for(std::chrono::milliseconds patience) {
  if (came_) return true;
  pollfd entry{.fd = descriptor_, .events = POLLIN, .revents = 0};
  if (poll(&entry, 1, static_cast<int>(patience.count())) == 1) {
    signalfd_siginfo what;
    came_ = read(descriptor_, &what, sizeof what) == sizeof what;
  }
  return came_;
}

}  // namespace evenkeel::demo
