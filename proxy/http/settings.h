// Who may use an HTTP listener. Plain values: config/ fills them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/answer/settings.h"

namespace evenkeel::http {

// "Authorization: Bearer <secret>"; the configuration holds the secret's place in the environment only.
struct Token {
  std::string name;
  std::array<uint8_t, 32> digest{};  // SHA256(secret)
  answer::Rights rights = answer::Rights::read;

  bool operator==(const Token&) const = default;
};

struct Settings {
  std::vector<Token> tokens;
  // Names beside addresses and localhost under which browsers may come; others are refused, so that a foreign
  // page whose name is made to point here (DNS rebinding) reaches nothing.
  std::vector<std::string> hosts;
  size_t max_header_bytes = 16 << 10;
  size_t max_body_bytes = 64 << 10;
  std::chrono::seconds timeout{30};  // a client that sends or takes nothing so long is closed
};

}  // namespace evenkeel::http
