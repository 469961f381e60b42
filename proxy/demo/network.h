// Loopback ports: free ones, and whether a MySQL server answers on one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>

#include "base/random.h"
#include "base/result.h"

namespace evenkeel::demo {

// Ports below 32768 are never handed out by the kernel to a client's socket, so one found free stays free
// unless another server takes it; whoever listens on it must still be ready to try another. Adds the port to
// `taken` and never gives one that is in it.
Result<uint16_t> find_free_port(Random& random, std::set<uint16_t>& taken);

// Connects to 127.0.0.1:port and reads the first byte of a server's greeting, until `deadline` passes
// or `still_starting` turns false. True when it answered.
bool wait_for_greeting(uint16_t port, std::chrono::steady_clock::time_point deadline,
                       const std::function<bool()>& still_starting);

}  // namespace evenkeel::demo
