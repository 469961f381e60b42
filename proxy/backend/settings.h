// The instances and the pools of connections to them. Plain values: config/ fills them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::backend {

struct InstanceTls {
  enum class Mode : uint8_t {
    off,        // never asked for
    preferred,  // used when the instance offers it, its certificate not checked
    required,   // no connection without it, its certificate not checked
    verify,     // required, certificate checked against `ca` and the host's name
  } mode = Mode::preferred;
  std::string ca;  // PEM file; empty with `verify`: the system's store
};

struct Instance {
  std::string name;  // as rules, plans and messages name it
  std::string host;
  uint16_t port = 3306;
  InstanceTls tls;
};

struct Settings {
  std::vector<Instance> instances;  // same order as rule::RuleSet::instances(): index = InstanceId
  std::chrono::milliseconds connect_timeout{5'000};  // TCP, TLS and login together
  // Connections to one instance, all worker threads, accounts and capability classes together. Shared out
  // evenly over the worker threads, at least one each.
  uint32_t max_connections = 256;
  std::chrono::milliseconds lease_timeout{10'000};    // a session waits so long for a free connection
  std::chrono::milliseconds idle_lifetime{300'000};   // unused so long: closed
  std::chrono::milliseconds max_lifetime{3'600'000};  // closed at its next return; 0: never
};

}  // namespace evenkeel::backend
