// Who is let in: the Host that the client thinks it speaks to, its token or password, and how often it was
// wrong.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "proxy/answer/answer.h"
#include "proxy/http/message.h"
#include "proxy/http/settings.h"

namespace evenkeel::http {

// After `free_failures` wrong passwords or tokens an address waits: 1 s, then twice as long each time, up to
// `longest_wait`. What was right before is right again after the wait; an hour without failures forgives all.
struct Throttle {
  static constexpr uint32_t free_failures = 5;
  static constexpr std::chrono::seconds longest_wait{300};
  static constexpr std::chrono::hours forgiven_after{1};
  // Addresses remembered; beyond, the one that failed longest ago is forgotten.
  static constexpr size_t addresses_max = 4096;
};

// One thread.
class Gate {
 public:
  // `clock` must outlive it.
  Gate(std::vector<answer::Account> accounts, Settings settings, const Clock& clock)
      : accounts_(std::move(accounts)), settings_(std::move(settings)), clock_(clock) {}

  // For requests from now on. What it remembers of failures stays.
  void admit_by(std::vector<answer::Account> accounts, Settings settings) {
    accounts_ = std::move(accounts);
    settings_ = std::move(settings);
  }

  // Tokens that were given out while the server runs (sessions of a page), beside the configured ones.
  using KnowsToken =
      std::function<std::optional<answer::Caller>(std::string_view secret, const Request& request)>;
  void also_accept(KnowsToken knows_token) { knows_token_ = std::move(knows_token); }

  // The response that refuses, or nothing: the Host is one that this server answers to, and a page of another
  // origin has not sent a request that changes something.
  std::optional<Response> check_origin(const Request& request) const;
  // Who asks, or the response that refuses: 401, 403 (rights), 429 (with Retry-After).
  std::variant<answer::Caller, Response> admit(const Request& request, answer::Rights needed);

 private:
  struct Failures {
    uint32_t count = 0;
    std::chrono::nanoseconds last{0};
    std::chrono::nanoseconds blocked_until{0};
  };

  std::optional<answer::Caller> caller_by_token(std::string_view secret, const Request& request) const;
  std::optional<answer::Caller> caller_by_password(std::string_view credentials,
                                                   const Request& request) const;
  std::optional<std::chrono::seconds> wait_of(const std::string& address);
  void count_failure(const std::string& address);

  std::vector<answer::Account> accounts_;
  Settings settings_;
  const Clock& clock_;
  KnowsToken knows_token_;
  std::unordered_map<std::string, Failures> failures_;
};

// A Host or Origin value without its port: "[::1]:80" -> "::1". Lower case.
std::string host_name(std::string_view authority);

}  // namespace evenkeel::http
