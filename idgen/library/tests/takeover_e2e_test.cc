// Takeovers between processes that share a real server: a holder is stopped past its lease, killed, or loses
// the server.
#include <gmock/gmock.h>
#include <memory>

#include "idgen/library/tests/holder_process.h"
#include "idgen/registry/tests/real_server.h"

namespace evenkeel::idgen {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class TakeoverTest : public ::testing::TestWithParam<ServerKind> {
 protected:
  void SetUp() override {
    auto started = start_server(GetParam());
    if (!started) GTEST_SKIP() << "SKIPPED: no " << to_string(GetParam()) << ": " << started.error().message;
    server_ = std::move(*started);
  }
  std::unique_ptr<HolderProcess> start(const std::string& worker) {
    const RegistrySettings settings = server_->settings();
    ::setenv("REGISTRY_PASSWORD", settings.password.c_str(), 1);
    std::vector<std::string> words = {"--provider", std::string(to_string(settings.provider)),
                                      "--port",     std::to_string(settings.endpoints.front().port),
                                      "--prefix",   "takeover",
                                      "--user",     settings.user,
                                      "--window",   "2000",
                                      "--max-wait", "50"};
    if (!worker.empty()) words.insert(words.end(), {"--worker", worker});
    return std::make_unique<HolderProcess>(LEASE_HOLDER, std::move(words));
  }
  // A process that has the worker id, as soon as the store lets it go.
  std::unique_ptr<HolderProcess> take_over(const std::string& worker) {
    std::unique_ptr<HolderProcess> taker;
    EXPECT_TRUE(becomes_true([&] {
      taker = start(worker);
      return taker->is_open();
    })) << taker->first();
    return taker;
  }
  Answer draw(HolderProcess& process, int count) {
    const Answer answer = process.draw(count);
    all_.add(answer);
    return answer;
  }
  bool draws_again(HolderProcess& process) {
    return becomes_true([&] { return draw(process, 100).error.empty(); });
  }

  std::unique_ptr<RealServer> server_;
  DrawnIds all_;
};

TEST_P(TakeoverTest, AHolderStoppedPastItsLeaseWakesBesideItsSuccessor) {
  const auto sleeper = start("5");
  ASSERT_TRUE(sleeper->is_open()) << sleeper->first();
  ASSERT_TRUE(draws_again(*sleeper));
  const auto early = start("5");
  EXPECT_THAT(early->first(), StartsWith("refused "));
  EXPECT_THAT(early->first(), HasSubstr(fmt::format("pid {} ", sleeper->pid()))) << "its lease still runs";
  sleeper->stop();
  const auto successor = take_over("5");
  ASSERT_TRUE(draws_again(*successor));
  sleeper->go_on();
  // It has no time left, and learns at its next renewal that it never will.
  const Answer woken = draw(*sleeper, 100);
  EXPECT_THAT(woken.ids, IsEmpty());
  EXPECT_THAT(woken.error, HasSubstr("was not extended; see the log of the registry"));
  EXPECT_TRUE(becomes_true([&] {
    draw(*sleeper, 10);
    return sleeper->ask("renewal").find("has taken the worker id over") != std::string::npos;
  })) << sleeper->ask("renewal");
  ASSERT_TRUE(draws_again(*successor));
  EXPECT_THAT(sleeper->ask("close"), StartsWith("failed "));
  ASSERT_TRUE(draws_again(*successor)) << "what the former holder does at its end changes nothing";
}

TEST_P(TakeoverTest, AKilledHoldersIdIsTakenOverAboveWhatItReserved) {
  const auto holder = start("5");
  ASSERT_TRUE(holder->is_open()) << holder->first();
  ASSERT_TRUE(draws_again(*holder));
  const uint64_t last = all_.largest();
  holder->kill();
  const auto successor = take_over("5");
  const Answer first = draw(*successor, 100);
  EXPECT_TRUE(first.ids.empty() || first.ids.front() > last);
  ASSERT_TRUE(draws_again(*successor));
}

TEST_P(TakeoverTest, AServerThatIsAwayForLongerThanTheWindowStopsIdsUntilItIsBack) {
  const auto holder = start("5");
  ASSERT_TRUE(holder->is_open()) << holder->first();
  ASSERT_TRUE(draws_again(*holder));
  server_->kill();
  std::string error;
  EXPECT_TRUE(becomes_true([&] { return !(error = draw(*holder, 1).error).empty(); }));
  EXPECT_THAT(error, HasSubstr("was not extended; see the log of the registry"));
  EXPECT_TRUE(becomes_true([&] { return holder->ask("renewal") != "ok"; })) << "a call may take its time";
  const auto restarted = server_->restart();
  ASSERT_TRUE(restarted) << restarted.error().message;
  ASSERT_TRUE(draws_again(*holder)) << "by itself";
}

INSTANTIATE_TEST_SUITE_P(Real, TakeoverTest,
                         ::testing::Values(ServerKind::mariadb, ServerKind::redis, ServerKind::etcd,
                                           ServerKind::zookeeper),
                         [](const auto& kind) { return to_string(kind.param); });

}  // namespace
}  // namespace evenkeel::idgen
