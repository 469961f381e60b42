// Sessions of the page: a token stands for an account that has proved its password once.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "proxy/answer/answer.h"

namespace evenkeel::admin {

// Kept in memory only: a restart ends them all. One thread, that of the HTTP server.
class PageSessions {
 public:
  static constexpr std::chrono::minutes idle_max{30};
  static constexpr std::chrono::hours length_max{12};
  // Beyond, the one that has been still for longest ends.
  static constexpr size_t sessions_max = 256;

  // Fills the bytes from the system's secure generator; injected for tests.
  using Fill = std::function<void(std::span<std::byte>)>;

  // `clock` must outlive it.
  PageSessions(const Clock& clock, Fill fill) : clock_(clock), fill_(std::move(fill)) {}

  // The token, 64 hexadecimal digits.
  std::string open(const answer::Caller& caller);
  // Whose it is, asking from `address` now; nothing when it is unknown or has ended. A hit keeps it alive.
  std::optional<answer::Caller> find(std::string_view token, const std::string& address);
  void close(std::string_view token);
  // Ends the sessions of accounts that are not among these, and gives the others the rights that stand here.
  void keep(const std::vector<answer::Account>& accounts);
  size_t size() const { return sessions_.size(); }

 private:
  struct Session {
    std::string user;
    answer::Rights rights = answer::Rights::read;
    std::chrono::nanoseconds opened{0};
    std::chrono::nanoseconds used{0};
  };

  bool ended(const Session& session) const;
  void make_room();

  const Clock& clock_;
  Fill fill_;
  // By the token's SHA-256: how long a look-up takes tells nothing about a token.
  std::map<std::array<uint8_t, 32>, Session> sessions_;
};

}  // namespace evenkeel::admin
