// Who may log in, and the rules and limits of a session. Plain values: config/ fills them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace evenkeel::session {

// An account on the instances. Its grants are the real barrier. Never logged.
struct BackendAccount {
  std::string user;
  std::string password;
  bool operator==(const BackendAccount&) const = default;
};

// What a client proves its password against. A plugin without a verifier is not offered.
using NativeVerifier = std::array<uint8_t, 20>;  // SHA1(SHA1(password)), mysql_native_password
using Sha2Verifier = std::array<uint8_t, 32>;    // SHA256(SHA256(password)), caching_sha2_password

struct User {
  std::string name;
  // Both set when the configuration holds a password; at least one otherwise. Neither with `empty_password`.
  std::optional<NativeVerifier> native_verifier;
  std::optional<Sha2Verifier> sha2_verifier;
  bool empty_password = false;
  std::vector<std::string> hosts;  // client addresses allowed: literals or prefixes "10.0.0.0/8"; empty: all
  BackendAccount backend;          // on every instance …
  std::map<std::string, BackendAccount> backend_by_instance;  // … but those named here

  const BackendAccount& account_on(const std::string& instance) const {
    auto found = backend_by_instance.find(instance);
    return found == backend_by_instance.end() ? backend : found->second;
  }
  bool operator==(const User&) const = default;
};

// What a transaction that wrote on several instances does.
enum class Transactions : uint8_t {
  best_effort,      // commits them in a fixed order; a failure in the middle names what was committed
  single_instance,  // the second instance to be written is refused
};

struct Settings {
  std::vector<User> users;
  Transactions transactions = Transactions::best_effort;
  std::chrono::milliseconds query_timeout{0};  // a statement is killed after it; 0: never
  // Statements that took longer are kept by their shape (SHOW SLOW QUERIES); 0: none.
  std::chrono::milliseconds slow_query{1'000};
  std::chrono::milliseconds wait_timeout{28'800'000};  // a client silent so long is closed (8 h, as MySQL)
  size_t max_packet = 64 << 20;                        // bytes of one client packet, like max_allowed_packet
  uint64_t max_offset = 1'000'000;                     // rows that a merged LIMIT may skip
  size_t max_rows_held = 1'000'000;                    // rows that one merge may hold in memory
  uint32_t max_prepared_statements = 1'024;            // of one client session
  uint32_t instance_prepared_statements = 8'000;  // kept prepared on one instance, all connections together
  uint32_t statement_cache_entries = 4'096;       // bound statement shapes; 0: no cache
};

}  // namespace evenkeel::session
