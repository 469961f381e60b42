#include "proxy/signals.h"

#include <pthread.h>

namespace evenkeel {

sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return set;
}

int await_signal(const sigset_t& set) {
  int number = 0;
  while (sigwait(&set, &number) != 0) {
  }
  return number;
}

void await_stop(const sigset_t& set, const std::function<void()>& reload) {
  for (int signal = await_signal(set); signal != SIGTERM && signal != SIGINT; signal = await_signal(set)) {
    if (signal == SIGHUP) reload();
  }
}

}  // namespace evenkeel
