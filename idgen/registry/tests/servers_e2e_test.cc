// The promises of every provider against its real server, then what happens when the server dies, hangs or
// is away while worker ids are held.
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <set>

#include "idgen/registry/clock_offset.h"
#include "idgen/registry/open_registry.h"
#include "idgen/registry/tests/provider_promises.h"
#include "idgen/registry/tests/real_server.h"
#include "idgen/registry/worker_lease.h"
#include "idgen/snowflake_generator.h"

namespace evenkeel::idgen {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One server of each kind for all tests of this program, started when first needed.
class ServerTest : public ::testing::TestWithParam<ServerKind>, public promises::Store {
 protected:
  static std::map<ServerKind, Result<std::unique_ptr<RealServer>>>& servers() {
    static std::map<ServerKind, Result<std::unique_ptr<RealServer>>> all;
    return all;
  }
  static void TearDownTestSuite() { servers().clear(); }

  void SetUp() override {
    auto found = servers().find(GetParam());
    if (found == servers().end()) found = servers().emplace(GetParam(), start_server(GetParam())).first;
    if (!found->second)
      GTEST_SKIP() << "SKIPPED: no " << to_string(GetParam()) << ": " << found->second.error().message;
    server = found->second->get();
  }

  Store& store() { return *this; }
  // Another installation in the same store has nothing in common with this one.
  std::shared_ptr<Registry> open_empty() override {
    static int number = 0;
    prefix = fmt::format("test{}", ++number);
    return further();
  }
  std::shared_ptr<Registry> further() override {
    RegistrySettings settings = server->settings();
    settings.prefix = prefix;
    return open_registry(settings, system_clock).value();
  }

  // A client connects again in its own time, and a server that was just started may be slow: each call is
  // bounded, and one of them finds it.
  static Result<std::optional<Record>> get_when_back(Registry& registry, std::string_view key) {
    auto record = registry.get(key);
    for (int attempt = 0; !record && attempt < 20; ++attempt) record = registry.get(key);
    return record;
  }

  GeneratorSettings generator_settings() const {
    GeneratorSettings settings;
    settings.name = "main";
    settings.worker.window_ms = 3'600'000;
    settings.worker.renew_ms = 1'200'000;
    return settings;
  }

  const SystemClock system_clock;
  RealServer* server = nullptr;
  std::string prefix = "test";
};

EVENKEEL_PROVIDER_PROMISES(ServerTest)

TEST_P(ServerTest, TellsItsTime) {
  const auto registry = open_empty();
  const auto offset = sample_clock_offset(*registry, system_clock);
  ASSERT_TRUE(offset) << offset.error().message;
  EXPECT_LE(std::abs(offset->offset_ms), offset->uncertainty_ms + 2) << "the same machine has the same clock";
}

TEST_P(ServerTest, AWrongPasswordIsRefusedAndNotShown) {
  RegistrySettings settings = server->settings();
  if (settings.user.empty()) GTEST_SKIP() << "this server asks for no account";
  // ZooKeeper lets anybody in; its nodes belong to the account that made them.
  ASSERT_TRUE(open_empty()->compare_and_put("any", 0, "mine").value().stored);
  settings.prefix = prefix;
  settings.password = "wrong-sesame";
  const auto refused = open_registry(settings, system_clock).value()->get("any");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("registry in"));
  EXPECT_THAT(refused.error().message, ::testing::Not(HasSubstr("sesame")));
}

TEST_P(ServerTest, ACertificateOfAnotherAuthorityIsRefused) {
  RegistrySettings settings = server->settings();
  if (settings.tls.mode == RegistryTls::Mode::off) GTEST_SKIP() << "this server speaks no TLS";
  settings.tls.ca.clear();
  EXPECT_FALSE(open_registry(settings, system_clock).value()->get("any"));
  settings.tls.mode = RegistryTls::Mode::required;
  EXPECT_TRUE(open_registry(settings, system_clock).value()->get("any")) << "unchecked it is let through";
}

// SIGKILL between renewals: what was confirmed is there afterwards, and the next call finds the server again.
TEST_P(ServerTest, KilledAndRestartedItKnowsWhatItConfirmed) {
  const auto registry = open_empty();
  for (uint64_t version = 0; version < 20; ++version)
    ASSERT_TRUE(registry->compare_and_put("bound", version, std::to_string(version)).value().stored);
  server->kill();
  const auto gone = registry->get("bound");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::registry);
  EXPECT_FALSE(registry->compare_and_put("bound", 20, "lost"));
  const auto restarted = server->restart();
  ASSERT_TRUE(restarted) << restarted.error().message;
  const auto record = get_when_back(*registry, "bound");
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(*record, (Record{"19", 20}));
  EXPECT_TRUE(registry->compare_and_put("bound", 20, "20").value().stored);
}

// SIGSTOP: every call comes back with an error within its time, and works again after SIGCONT.
TEST_P(ServerTest, AServerThatHangsHoldsNobodyUp) {
  const auto registry = open_empty();
  ASSERT_TRUE(registry->compare_and_put("bound", 0, "first").value().stored);
  server->pause();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(registry->get("bound"));
  EXPECT_FALSE(registry->compare_and_put("bound", 1, "in doubt"));
  EXPECT_FALSE(registry->now_unix_ms());
  const auto took = std::chrono::steady_clock::now() - begin;
  server->go_on();
  EXPECT_LT(took, 20s) << "three calls of two seconds each, connecting again included";
  const auto record = get_when_back(*registry, "bound");
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_TRUE(record->has_value());
  EXPECT_TRUE((*record)->value == "first" || (*record)->value == "in doubt");
}

// The clock is injected, the server's death is real: ids go on for the whole window, then stop by themselves
// with an error that says why, and go on when the registry is back.
TEST_P(ServerTest, TenMinutesWithoutItStopNoInsertAndMoreThanTheWindowDoes) {
  const auto registry = open_empty();
  ManualClock clock(system_clock.unix_micros());
  const GeneratorSettings settings = generator_settings();
  auto lease = WorkerLease::acquire(*registry, clock, settings);
  ASSERT_TRUE(lease) << lease.error().message;
  clock.advance(10s);
  ASSERT_TRUE((*lease)->renew_if_due());
  const auto generator = SnowflakeGenerator::create({settings, "orders", 128, (*lease)->window(),
                                                     std::make_shared<DirectTicks>(clock), 7})
                             .value();
  std::set<uint64_t> keys;
  int repeated = 0;
  const auto draw = [&] {
    uint64_t key = 0;
    const auto drawn = generator->draw({}, std::span(&key, 1));
    if (drawn && drawn->complete()) repeated += keys.insert(key).second ? 0 : 1;
    return drawn && drawn->complete();
  };
  ASSERT_TRUE(draw());
  server->kill();
  for (int second = 0; second < 600; ++second) {
    clock.advance(1s);
    ASSERT_TRUE(draw()) << "after " << second << " s without the registry";
  }
  clock.advance(601s);
  EXPECT_FALSE((*lease)->renew_if_due()) << "due now, and the server is gone";
  EXPECT_TRUE(draw());
  clock.advance(2'400s);
  EXPECT_FALSE(draw());
  uint64_t key = 0;
  clock.advance(10s);
  EXPECT_THAT(generator->draw({}, std::span(&key, 1)).error().message,
              HasSubstr("was not extended; see the log of the registry"));
  EXPECT_EQ(repeated, 0);
  ASSERT_TRUE(server->restart());
  // The server's own clock did not jump an hour; the machine's is put back to it, as after a test of an hour.
  const auto record = get_when_back(*registry, "workers/main/0");
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_TRUE(record->has_value());
  EXPECT_THAT((*record)->value, HasSubstr("state held"));
  ManualClock now(system_clock.unix_micros());
  const auto other = WorkerLease::acquire(*registry, now, settings);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ((*other)->worker(), 1u) << "worker id 0 is left until its window ends";
}

TEST_P(ServerTest, ASecondHolderIsRefusedAndARelease) {
  const auto registry = open_empty();
  GeneratorSettings settings = generator_settings();
  settings.worker.fixed_id = 5;
  const auto first =
      WorkerLease::acquire(*registry, system_clock, settings, {"evenkeel pid 41 on db7", random_token()});
  ASSERT_TRUE(first) << first.error().message;
  const auto other = further();
  const auto second = WorkerLease::acquire(*other, system_clock, settings);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message,
              HasSubstr("worker id 5 of generator main is held by evenkeel pid 41 on db7"));
  ASSERT_TRUE((*first)->release((*first)->window()->first()));
  const auto third = WorkerLease::acquire(*other, system_clock, settings);
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_GT((*third)->window()->first(), (*first)->window()->first());
}

INSTANTIATE_TEST_SUITE_P(Real, ServerTest,
                         ::testing::Values(ServerKind::mariadb, ServerKind::mysql, ServerKind::redis,
                                           ServerKind::redis_tls, ServerKind::etcd, ServerKind::etcd_tls,
                                           ServerKind::zookeeper),
                         [](const auto& kind) { return to_string(kind.param); });

TEST(RedisServer, SaysWhatItIsNotSetUpToPromise) {
  auto server = start_server(ServerKind::redis);
  if (!server) GTEST_SKIP() << "SKIPPED: no redis: " << server.error().message;
  const SystemClock clock;
  EXPECT_THAT(open_registry((*server)->settings(), clock).value()->shortcomings().value(), IsEmpty());
}

TEST(MysqlServer, SaysWhatItIsNotSetUpToPromise) {
  auto server = start_server(ServerKind::mariadb);
  if (!server) GTEST_SKIP() << "SKIPPED: no mariadb: " << server.error().message;
  const SystemClock clock;
  EXPECT_THAT(open_registry((*server)->settings(), clock).value()->shortcomings().value(),
              ::testing::ElementsAre(HasSubstr("innodb_flush_log_at_trx_commit is 2")));
}

}  // namespace
}  // namespace evenkeel::idgen
