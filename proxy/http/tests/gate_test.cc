#include "proxy/http/gate.h"

#include <gtest/gtest.h>

#include "proxy/protocol/auth/caching_sha2.h"
#include "proxy/protocol/auth/digest.h"
#include "proxy/protocol/auth/native_password.h"

namespace evenkeel::http {
namespace {

using answer::Rights;
using namespace std::chrono_literals;

class GateTest : public ::testing::Test {
 protected:
  GateTest() {
    answer::Account anna;
    anna.name = "anna";
    anna.sha2_verifier = protocol::auth::caching_sha2::verifier_of("open: sesame");
    answer::Account old;
    old.name = "old";
    old.native_verifier = protocol::auth::native_password::verifier_of("pw");
    old.rights = Rights::operate;
    old.hosts = {"10.0.0.0/8"};
    answer::Account open;
    open.name = "open";
    open.empty_password = true;
    accounts_ = {anna, old, open};
    settings_.tokens = {{"robot", protocol::auth::sha256({"t0ken"}), Rights::operate}};
    settings_.hosts = {"Ids.Example.com"};
    gate_.admit_by(accounts_, settings_);
  }

  static Request with(std::string authorization, std::string client = "10.1.1.1") {
    Request request;
    request.client = std::move(client);
    request.headers["host"] = "127.0.0.1:8080";
    if (!authorization.empty()) request.headers["authorization"] = std::move(authorization);
    return request;
  }
  // The caller's name, or the status.
  std::string admitted(const Request& request, Rights needed = Rights::read) {
    const auto result = gate_.admit(request, needed);
    if (const auto* response = std::get_if<Response>(&result)) return std::to_string(response->status);
    return std::get<answer::Caller>(result).user;
  }

  std::vector<answer::Account> accounts_;
  Settings settings_;
  ManualClock clock_;
  Gate gate_{accounts_, settings_, clock_};
};

TEST_F(GateTest, TokensAndPasswords) {
  EXPECT_EQ(admitted(with("")), "401");
  EXPECT_EQ(admitted(with("Bearer t0ken")), "robot");
  EXPECT_EQ(admitted(with("Bearer t0ken2")), "401");
  EXPECT_EQ(admitted(with("Basic YW5uYTpvcGVuOiBzZXNhbWU=")), "anna");  // anna:open: sesame
  EXPECT_EQ(admitted(with("Basic b2xkOnB3")), "old");                   // old:pw
  EXPECT_EQ(admitted(with("Basic b2xkOnB3", "192.168.0.1")), "401");
  EXPECT_EQ(admitted(with("Basic b3Blbjo=", "10.3.0.1")), "401");  // open: — no password is none over HTTP
  EXPECT_EQ(admitted(with("Basic !!!!", "10.3.0.1")), "401");
  EXPECT_EQ(admitted(with("Digest x", "10.3.0.1")), "401");
}

TEST_F(GateTest, OtherAccountsAndTheMemoryOfFailures) {
  for (uint32_t i = 0; i < Throttle::free_failures; ++i) admitted(with("Bearer wrong", "10.0.0.9"));
  settings_.tokens.clear();
  accounts_.erase(accounts_.begin());
  gate_.admit_by(accounts_, settings_);
  EXPECT_EQ(admitted(with("Bearer t0ken")), "401");
  EXPECT_EQ(admitted(with("Basic YW5uYTpvcGVuOiBzZXNhbWU=")), "401");
  EXPECT_EQ(admitted(with("Basic b2xkOnB3")), "old");
  EXPECT_EQ(admitted(with("Basic b2xkOnB3", "10.0.0.9")), "429");
}

TEST_F(GateTest, TokensOfSessions) {
  gate_.also_accept([](std::string_view secret, const Request& request) -> std::optional<answer::Caller> {
    if (secret != "s3ssion") return std::nullopt;
    return answer::Caller{"anna", request.client, 0, Rights::read};
  });
  EXPECT_EQ(admitted(with("Bearer s3ssion")), "anna");
  EXPECT_EQ(admitted(with("Bearer s3ssion"), Rights::operate), "403");
  EXPECT_EQ(admitted(with("Bearer t0ken")), "robot");
  EXPECT_EQ(admitted(with("Bearer other")), "401");
}

TEST_F(GateTest, RightsAreChecked) {
  EXPECT_EQ(admitted(with("Bearer t0ken"), Rights::operate), "robot");
  EXPECT_EQ(admitted(with("Basic YW5uYTpvcGVuOiBzZXNhbWU="), Rights::operate), "403");
}

TEST_F(GateTest, FailuresAreThrottledByAddressAndForgiven) {
  for (uint32_t i = 0; i < Throttle::free_failures; ++i) EXPECT_EQ(admitted(with("Bearer no")), "401");
  // Now even the right token waits, from this address.
  EXPECT_EQ(admitted(with("Bearer t0ken")), "429");
  EXPECT_EQ(admitted(with("Bearer t0ken", "10.9.9.9")), "robot");
  clock_.advance(1s);
  EXPECT_EQ(admitted(with("Bearer no")), "401");
  const auto blocked = gate_.admit(with("Bearer no"), Rights::read);
  ASSERT_TRUE(std::holds_alternative<Response>(blocked));
  EXPECT_EQ(std::get<Response>(blocked).headers.back(),
            (std::pair<std::string, std::string>("Retry-After", "2")));
  clock_.advance(Throttle::forgiven_after + 1s);
  for (uint32_t i = 0; i + 1 < Throttle::free_failures; ++i) EXPECT_EQ(admitted(with("Bearer no")), "401");
  EXPECT_EQ(admitted(with("Bearer t0ken")), "robot");
}

TEST_F(GateTest, TheWaitHasABound) {
  for (int i = 0; i < 40; ++i) {
    clock_.advance(Throttle::longest_wait);
    EXPECT_EQ(admitted(with("Bearer no")), "401") << i;
  }
  clock_.advance(Throttle::longest_wait);
  EXPECT_EQ(admitted(with("Bearer t0ken")), "robot");
}

TEST_F(GateTest, ManyAddressesTakeNoMoreMemory) {
  for (size_t i = 0; i < Throttle::addresses_max + 100; ++i) {
    clock_.advance(1us);
    EXPECT_EQ(admitted(with("Bearer no", "address " + std::to_string(i))), "401");
  }
}

TEST_F(GateTest, HostsThatAreNotMine) {
  const auto status = [&](std::string host, std::string method, std::string origin) {
    Request request;
    request.method = std::move(method);
    request.headers["host"] = std::move(host);
    if (!origin.empty()) request.headers["origin"] = std::move(origin);
    const auto refused = gate_.check_origin(request);
    return refused ? refused->status : 200;
  };
  EXPECT_EQ(status("127.0.0.1:8080", "GET", ""), 200);
  EXPECT_EQ(status("[::1]:8080", "GET", ""), 200);
  EXPECT_EQ(status("localhost", "GET", ""), 200);
  EXPECT_EQ(status("ids.example.COM:80", "GET", ""), 200);
  EXPECT_EQ(status("evil.example.com", "GET", ""), 421);
  EXPECT_EQ(status("", "GET", ""), 421);
  EXPECT_EQ(status("127.0.0.1:8080", "POST", "http://127.0.0.1:8080"), 200);
  EXPECT_EQ(status("127.0.0.1:8080", "POST", "https://evil.example.com"), 403);
  EXPECT_EQ(status("127.0.0.1:8080", "POST", "null"), 403);
}

}  // namespace
}  // namespace evenkeel::http
