#include "idgen/registry/worker_lease.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "base/random.h"
#include "idgen/layout.h"
#include "idgen/registry/file_registry.h"
#include "idgen/registry/memory_registry.h"
#include "idgen/registry/tests/scratch_directory.h"
#include "idgen/snowflake_generator.h"

namespace evenkeel::idgen {
namespace {

using ::testing::HasSubstr;

// The last tick that ids were made of, once no more can be.
uint64_t closed(SnowflakeGenerator& generator) {
  generator.close();
  return generator.last_tick();
}

class WorkerLeaseTest : public ::testing::Test {
 protected:
  WorkerLeaseTest() {
    settings.name = "main";
    settings.worker.fixed_id = 5;
    settings.worker.registry_directory = scratch.path();
  }

  std::unique_ptr<Registry> open() { return open_file_registry(scratch.path(), clock).value(); }
  std::unique_ptr<WorkerLease> acquire(Registry& registry, const std::string& holder = "proxy A") {
    auto lease = WorkerLease::acquire(registry, settings, holder);
    EXPECT_TRUE(lease) << lease.error().message;
    return lease ? std::move(*lease) : nullptr;
  }
  std::unique_ptr<SnowflakeGenerator> generator_of(const WorkerLease& lease) {
    return SnowflakeGenerator::create(
               {settings, "orders", 128, lease.window(), std::make_shared<DirectTicks>(clock), 7})
        .value();
  }
  uint64_t tick_in(int64_t ms) const {
    return static_cast<uint64_t>(tick_at(settings.layout, clock.unix_millis() + ms));
  }
  void step(int64_t ms) { clock.step_wall(std::chrono::milliseconds(ms)); }

  GeneratorSettings settings;
  ManualClock clock{1'790'000'000'000'000};
  const ScratchDirectory scratch;
};

TEST_F(WorkerLeaseTest, ReservesAWindowAheadAndExtendsItWhenDue) {
  const auto registry = open();
  const auto lease = acquire(*registry);
  EXPECT_EQ(lease->worker(), 5u);
  EXPECT_EQ(lease->window()->first(), 1u);
  EXPECT_EQ(lease->window()->last(), tick_in(3'000));
  step(999);
  ASSERT_TRUE(lease->renew_if_due(clock.unix_millis()));
  EXPECT_EQ(lease->window()->last(), tick_in(2'001)) << "not due yet";
  step(1);
  ASSERT_TRUE(lease->renew_if_due(clock.unix_millis()));
  EXPECT_EQ(lease->window()->last(), tick_in(3'000));
  EXPECT_THAT(registry->get("workers/main/5").value()->value,
              HasSubstr("bound " + std::to_string(tick_in(3'000)) + "\n"))
      << "what may be used is stored";
}

TEST_F(WorkerLeaseTest, C08_ASecondHolderIsRefusedAndLearnsTheFirst) {
  const auto one = open();
  const auto two = open();
  const auto lease = acquire(*one, "evenkeel pid 41 on db7");
  const auto second = WorkerLease::acquire(*two, settings, "evenkeel pid 42 on db7");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::registry);
  EXPECT_EQ(second.error().message,
            "worker id 5 of generator main is held by evenkeel pid 41 on db7; two holders would make equal "
            "ids, so this one "
            "makes none");
  settings.worker.fixed_id = 6;
  EXPECT_TRUE(WorkerLease::acquire(*two, settings, "evenkeel pid 42 on db7"));
}

TEST_F(WorkerLeaseTest, C07_ARestartWithAnEarlierClockStartsAboveWhatWasReserved) {
  const auto registry = open();
  uint64_t before = 0;
  {
    const auto lease = acquire(*registry);
    const auto generator = generator_of(*lease);
    ASSERT_TRUE(generator->draw({}, std::span(&before, 1))->complete());
  }  // as by kill -9: nothing is written on the way out
  step(-60'000);
  const auto lease = acquire(*registry, "proxy A, restarted");
  const auto generator = generator_of(*lease);
  uint64_t key = 0;
  const auto refused = generator->draw({}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::clock);
  EXPECT_THAT(refused.error().message, HasSubstr("(63001 ms earlier)"));

  step(59'000);
  ASSERT_TRUE(lease->renew_if_due(clock.unix_millis()));
  const auto waiting = generator->draw({}, std::span(&key, 1));
  ASSERT_TRUE(waiting) << "near enough to wait for";
  EXPECT_EQ(waiting->wait.micros, 4'001'000);
  step(4'001);
  ASSERT_TRUE(lease->renew_if_due(clock.unix_millis()));
  ASSERT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
  EXPECT_GT(key, before);
  EXPECT_GT(decompose(settings.layout, key).tick, decompose(settings.layout, before).tick + 2'999);
}

TEST_F(WorkerLeaseTest, ACleanReleaseLetsTheNextStartGoOnAtOnce) {
  const auto registry = open();
  uint64_t before = 0;
  uint64_t key = 0;
  {
    const auto lease = acquire(*registry);
    const auto generator = generator_of(*lease);
    ASSERT_TRUE(generator->draw({}, std::span(&before, 1))->complete());
    ASSERT_TRUE(lease->release(closed(*generator)));
    EXPECT_FALSE(lease->renew_if_due(clock.unix_millis() + 60'000)) << "released is released";
    EXPECT_FALSE(lease->release(0));
  }
  step(1);
  const auto lease = acquire(*registry);
  EXPECT_EQ(lease->window()->first(), decompose(settings.layout, before).tick + 1);
  ASSERT_TRUE(generator_of(*lease)->draw({}, std::span(&key, 1))->complete());
  EXPECT_GT(key, before);
}

TEST_F(WorkerLeaseTest, AReleaseNeverLowersTheBoundBelowItsWindow) {
  const auto registry = open();
  { const auto crashed = acquire(*registry); }
  const uint64_t reserved = tick_in(3'000);
  const auto lease = acquire(*registry);
  const auto generator = generator_of(*lease);
  ASSERT_TRUE(lease->release(closed(*generator))) << "no id was made";
  EXPECT_EQ(acquire(*registry)->window()->first(), reserved + 1);
}

TEST_F(WorkerLeaseTest, CrashesRestartsAndClockStepsNeverRepeatAnId) {
  MemoryRegistry registry(clock);
  SeededRandom random(77);
  std::set<uint64_t> seen;
  uint64_t keys = 0;
  for (int life = 0; life < 500; ++life) {
    const auto lease = acquire(registry);
    const auto generator = generator_of(*lease);
    for (int i = 0; i < 40; ++i) {
      step(static_cast<int64_t>(random.below(400)) - (random.below(20) == 0 ? 2'000 : 0));
      ASSERT_TRUE(lease->renew_if_due(clock.unix_millis()));
      uint64_t key = 0;
      const auto drawn = generator->draw({}, std::span(&key, 1));
      if (!drawn || !drawn->complete()) continue;
      ASSERT_TRUE(seen.insert(key).second);
      ++keys;
    }
    const bool cleanly = random.below(3) == 0;
    EXPECT_TRUE(!cleanly || lease->release(closed(*generator)));
  }
  EXPECT_GT(keys, 3'000u);
}

TEST_F(WorkerLeaseTest, ProcessesPausedPastTheirWindowMakeNoMoreIds) {
  MemoryRegistry registry(clock);
  const auto lease = acquire(registry);
  const auto generator = generator_of(*lease);
  uint64_t key = 0;
  ASSERT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
  step(7'200'000);  // asleep for two hours: no renewal
  EXPECT_EQ(generator->draw({}, std::span(&key, 1)).error().kind, ErrorKind::registry);
  ASSERT_TRUE(lease->renew_if_due(clock.unix_millis()));
  EXPECT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
}

TEST_F(WorkerLeaseTest, AnUnreachableRegistryStopsIdsAtTheEndOfTheWindowAndNotBefore) {
  MemoryRegistry registry(clock);
  const auto lease = acquire(registry);
  const auto generator = generator_of(*lease);
  registry.set_unreachable(true);
  uint64_t key = 0;
  step(3'000);
  EXPECT_EQ(lease->renew_if_due(clock.unix_millis()).error().kind, ErrorKind::registry);
  EXPECT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
  step(1);
  EXPECT_FALSE(generator->draw({}, std::span(&key, 1))->complete());
  registry.set_unreachable(false);
  ASSERT_TRUE(lease->renew_if_due(clock.unix_millis()));
  EXPECT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
}

// A put whose answer was lost: stored, yet reported as failed.
class ForgetfulRegistry final : public Registry {
 public:
  explicit ForgetfulRegistry(Registry& real) : real_(real) {}
  bool lose_next_answer = false;

  Result<std::optional<Record>> get(std::string_view key) override { return real_.get(key); }
  Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) override {
    auto put = real_.compare_and_put(key, expected, value);
    if (!std::exchange(lose_next_answer, false)) return put;
    return fail(registry_error("the answer was lost"));
  }
  Result<std::vector<KeyedRecord>> list(std::string_view prefix) override { return real_.list(prefix); }
  Result<HoldAttempt> try_hold(std::string_view key, std::string_view holder) override {
    return real_.try_hold(key, holder);
  }
  Result<int64_t> now_unix_ms() override { return real_.now_unix_ms(); }

 private:
  Registry& real_;
};

TEST_F(WorkerLeaseTest, ALostAnswerIsSettledByTheNextRenewal) {
  MemoryRegistry memory(clock);
  ForgetfulRegistry registry(memory);
  const auto lease = acquire(registry);
  step(1'500);
  registry.lose_next_answer = true;
  const uint64_t before = lease->window()->last();
  EXPECT_FALSE(lease->renew_if_due(clock.unix_millis()));
  EXPECT_EQ(lease->window()->last(), before) << "what is not known to be stored is not used";
  ASSERT_TRUE(lease->renew_if_due(clock.unix_millis()));
  EXPECT_EQ(lease->window()->last(), tick_in(3'000));
}

TEST_F(WorkerLeaseTest, ARecordChangedByAnotherEndsTheLease) {
  MemoryRegistry registry(clock);
  const auto lease = acquire(registry);
  const auto record = registry.get("workers/main/5").value();
  ASSERT_TRUE(registry.compare_and_put("workers/main/5", record->version, record->value).value().stored);
  step(1'500);
  EXPECT_THAT(lease->renew_if_due(clock.unix_millis()).error().message,
              HasSubstr("was changed by another process"));
  EXPECT_THAT(lease->renew_if_due(clock.unix_millis()).error().message, HasSubstr("no longer held"));
  EXPECT_FALSE(lease->release(0)) << "an ex-owner writes nothing back";
}

TEST_F(WorkerLeaseTest, AnotherLayoutIsRefused) {
  const auto registry = open();
  { const auto lease = acquire(*registry); }
  settings.layout.sequence_bits = 11;
  settings.layout.worker_bits = 11;
  const auto refused = WorkerLease::acquire(*registry, settings, "proxy A");
  ASSERT_FALSE(refused);
  EXPECT_THAT(
      refused.error().message,
      HasSubstr(
          "was used with layout ms:41:10:12:1704067200000, now configured is ms:41:11:11:1704067200000"));
}

TEST_F(WorkerLeaseTest, ADamagedRecordIsNotTakenForANewWorker) {
  const auto registry = open();
  { const auto lease = acquire(*registry); }
  std::ofstream(scratch.path() + "/workers+main+5.record", std::ios::trunc)
      << "evenkeel-record 1\nversion 9\n";
  EXPECT_THAT(WorkerLease::acquire(*registry, settings, "proxy A").error().message, HasSubstr("is damaged"));
  settings.worker.fixed_id.reset();
  EXPECT_THAT(WorkerLease::acquire(*registry, settings, "proxy A").error().message, HasSubstr("is damaged"));
}

TEST_F(WorkerLeaseTest, AForeignRecordIsNamed) {
  MemoryRegistry registry(clock);
  ASSERT_TRUE(registry.compare_and_put("workers/main/5", 0, "something else").value().stored);
  EXPECT_EQ(WorkerLease::acquire(registry, settings, "proxy A").error().message,
            "registry record workers/main/5 is not a worker record");
}

TEST_F(WorkerLeaseTest, AFixedIdOutsideTheFieldIsRefused) {
  MemoryRegistry registry(clock);
  settings.worker.fixed_id = 1'024;
  EXPECT_FALSE(WorkerLease::acquire(registry, settings, "proxy A"));
}

TEST_F(WorkerLeaseTest, LeasedIdsAreFreshFirstThenTheLongestUnused) {
  settings.worker.fixed_id.reset();
  settings.layout.worker_bits = 2;
  settings.worker.peer_ids = {1};  // fixed elsewhere: not for lease
  const auto registry = open();
  auto zero = acquire(*registry, "A");
  auto two = acquire(*registry, "B");
  auto three = acquire(*registry, "C");
  EXPECT_EQ(zero->worker(), 0u);
  EXPECT_EQ(two->worker(), 2u);
  EXPECT_EQ(three->worker(), 3u);
  const auto none = WorkerLease::acquire(*registry, settings, "D");
  EXPECT_EQ(none.error().message, "generator main has no free worker id: all 3 are held, one of them by C");

  two.reset();
  step(1'000);
  ASSERT_TRUE(zero->renew_if_due(clock.unix_millis()));
  zero.reset();
  EXPECT_EQ(acquire(*registry, "E")->worker(), 2u) << "its bound lies furthest back";
}

TEST_F(WorkerLeaseTest, ARegistryWithAnEarlierTimeGrantsNoFuture) {
  MemoryRegistry registry(clock);
  const auto lease = acquire(registry);
  step(1'000);
  const int64_t wrong_by_a_year = clock.unix_millis() + 365LL * 86'400'000;
  ASSERT_TRUE(lease->renew_if_due(wrong_by_a_year));
  EXPECT_EQ(lease->window()->last(), tick_in(3'000));
}

}  // namespace
}  // namespace evenkeel::idgen
