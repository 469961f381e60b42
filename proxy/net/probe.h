// Whether servers answer at all: a TCP connection and the first byte of a greeting.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::net {

struct ProbeTarget {
  std::string host;  // a name or an address
  uint16_t port = 0;
};

// One answer a target, all asked at the same time; empty: it greets, else why not. Blocks, at most `patience`
// and the time in which names are resolved.
std::vector<std::string> probe(const std::vector<ProbeTarget>& targets, std::chrono::milliseconds patience);

}  // namespace evenkeel::net
