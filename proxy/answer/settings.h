// Who may ask the program itself, and how much. Plain values: config/ fills them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace evenkeel::answer {

// What an account may do. Each includes the ones before it.
enum class Rights : uint8_t {
  read,     // see
  operate,  // and change: steer, reload, kill
};

struct Account {
  std::string name;
  // As of the proxy's users: both set when the configuration holds a password, at least one otherwise.
  std::optional<std::array<uint8_t, 20>> native_verifier;  // SHA1(SHA1(password))
  std::optional<std::array<uint8_t, 32>> sha2_verifier;    // SHA256(SHA256(password))
  bool empty_password = false;
  std::vector<std::string> hosts;  // addresses or prefixes it may come from; empty: all
  Rights rights = Rights::read;

  bool operator==(const Account&) const = default;
};

struct Limits {
  uint32_t max_clients = 200;                          // above it: error 1040
  std::chrono::milliseconds login_timeout{10'000};     // from accept to the last authentication packet
  std::chrono::milliseconds wait_timeout{28'800'000};  // a client silent so long is closed
  size_t max_packet = 1 << 20;                         // bytes of one client packet
  uint32_t max_prepared_statements = 256;              // of one client
};

}  // namespace evenkeel::answer
