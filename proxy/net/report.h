// What the loops are doing, for those who look from outside.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/metrics/histogram.h"
#include "proxy/session/timings.h"

namespace evenkeel::net {

struct SessionFacts {
  uint64_t id = 0;
  std::string user;  // empty during the login
  std::string host;
  std::string schema;
  const char* state = "login";  // login, idle, busy
  bool in_transaction = false;
  std::chrono::seconds since{0};  // since the client last said something
};

struct PoolFacts {
  size_t limit = 0;  // of connections, all loops together
  size_t idle = 0;
  size_t lent = 0;
  size_t opening = 0;
  size_t waiting = 0;  // sessions that wait for a connection
};

struct LoopReport {
  std::vector<SessionFacts> sessions;
  std::vector<PoolFacts> pools;  // by instance
  std::vector<session::SlowShape> slow;
};

// Name and sum over the loops.
struct Total {
  std::string name;
  uint64_t value = 0;
};

using Latencies = std::array<metrics::LatencyCounts, session::statement_classes>;

}  // namespace evenkeel::net
