// The operator's port: HTTP with /healthz and /metrics. Plain values: config/ fills them.
#pragma once

#include <cstdint>
#include <string>

namespace evenkeel::admin {

struct Settings {
  bool enabled = false;
  std::string address = "127.0.0.1";  // it has no login of its own: keep it on loopback or a private network
  uint16_t port = 9306;
};

}  // namespace evenkeel::admin
