#include "idgen/registry/worker_lease.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

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
  return generator.last_tick(generator.workers().front());
}

class WorkerLeaseTest : public ::testing::Test {
 protected:
  WorkerLeaseTest() {
    settings.name = "main";
    settings.worker.fixed_id = 5;
  }

  std::unique_ptr<Registry> open() { return open_file_registry(scratch.path(), clock).value(); }
  std::unique_ptr<WorkerLease> acquire(Registry& registry, const std::string& holder = "proxy A") {
    auto lease = WorkerLease::acquire(registry, clock, settings, {holder, random_token()});
    EXPECT_TRUE(lease) << lease.error().message;
    return lease ? std::move(*lease) : nullptr;
  }
  Result<std::unique_ptr<WorkerLease>> acquire_or_error(Registry& registry, const std::string& holder) {
    return WorkerLease::acquire(registry, clock, settings, {holder, random_token()});
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
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), tick_in(2'001)) << "not due yet";
  step(1);
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), tick_in(3'000));
  EXPECT_THAT(registry->get("workers/main/5").value()->value,
              HasSubstr("bound " + std::to_string(tick_in(3'000)) + "\n"))
      << "what may be used is stored";
}

TEST_F(WorkerLeaseTest, C08_ASecondHolderIsRefusedAndLearnsTheFirst) {
  const auto one = open();
  const auto two = open();
  const auto lease = acquire(*one, "evenkeel pid 41 on db7");
  const auto second = acquire_or_error(*two, "evenkeel pid 42 on db7");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::registry);
  EXPECT_EQ(second.error().message,
            "worker id 5 of generator main is held by evenkeel pid 41 on db7; two holders would make equal "
            "ids, so this one makes none. Stop that process, or give this one another worker id");
  settings.worker.fixed_id = 6;
  EXPECT_TRUE(acquire_or_error(*two, "evenkeel pid 42 on db7"));
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
  ASSERT_TRUE(lease->renew_if_due());
  const auto waiting = generator->draw({}, std::span(&key, 1));
  ASSERT_TRUE(waiting) << "near enough to wait for";
  EXPECT_EQ(waiting->wait.micros, 4'001'000);
  step(4'001);
  ASSERT_TRUE(lease->renew_if_due());
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
    EXPECT_FALSE(lease->renew_if_due()) << "released is released";
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
  MemoryRegistry registry(clock, MemoryRegistry::Proof::holds);
  SeededRandom random(77);
  std::set<uint64_t> seen;
  uint64_t keys = 0;
  for (int life = 0; life < 500; ++life) {
    const auto lease = acquire(registry);
    const auto generator = generator_of(*lease);
    for (int i = 0; i < 40; ++i) {
      step(static_cast<int64_t>(random.below(400)) - (random.below(20) == 0 ? 2'000 : 0));
      ASSERT_TRUE(lease->renew_if_due());
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
  MemoryRegistry registry(clock, MemoryRegistry::Proof::holds);
  const auto lease = acquire(registry);
  const auto generator = generator_of(*lease);
  uint64_t key = 0;
  ASSERT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
  step(7'200'000);  // asleep for two hours: no renewal
  EXPECT_EQ(generator->draw({}, std::span(&key, 1)).error().kind, ErrorKind::registry);
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
}

TEST_F(WorkerLeaseTest, AnUnreachableRegistryStopsIdsAtTheEndOfTheWindowAndNotBefore) {
  MemoryRegistry registry(clock, MemoryRegistry::Proof::holds);
  const auto lease = acquire(registry);
  const auto generator = generator_of(*lease);
  registry.set_unreachable(true);
  uint64_t key = 0;
  step(3'000);
  EXPECT_EQ(lease->renew_if_due().error().kind, ErrorKind::registry);
  EXPECT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
  step(1);
  EXPECT_FALSE(generator->draw({}, std::span(&key, 1))->complete());
  registry.set_unreachable(false);
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_TRUE(generator->draw({}, std::span(&key, 1))->complete());
}

// A put whose answer was lost: stored, yet reported as failed.
class ForgetfulRegistry final : public Registry {
 public:
  explicit ForgetfulRegistry(Registry& real) : real_(&real) {}
  bool lose_next_answer = false;
  void use(Registry& real) { real_ = &real; }

  Result<std::optional<Record>> get(std::string_view key) override { return real_->get(key); }
  Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) override {
    auto put = real_->compare_and_put(key, expected, value);
    if (!std::exchange(lose_next_answer, false)) return put;
    return fail(registry_error("the answer was lost"));
  }
  Result<std::vector<KeyedRecord>> list(std::string_view prefix) override { return real_->list(prefix); }
  bool proves_life() const override { return real_->proves_life(); }
  Result<HoldAttempt> try_hold(std::string_view key, std::string_view holder) override {
    return real_->try_hold(key, holder);
  }
  Result<int64_t> now_unix_ms() override { return real_->now_unix_ms(); }

 private:
  Registry* real_;
};

TEST_F(WorkerLeaseTest, ALostAnswerIsSettledByTheNextRenewal) {
  MemoryRegistry memory(clock, MemoryRegistry::Proof::holds);
  ForgetfulRegistry registry(memory);
  const auto lease = acquire(registry);
  step(1'500);
  registry.lose_next_answer = true;
  const uint64_t before = lease->window()->last();
  EXPECT_FALSE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), before) << "what is not known to be stored is not used";
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), tick_in(3'000));
}

TEST_F(WorkerLeaseTest, ARecordChangedByAnotherEndsTheLease) {
  MemoryRegistry registry(clock, MemoryRegistry::Proof::holds);
  const auto lease = acquire(registry);
  const auto record = registry.get("workers/main/5").value();
  auto anothers = decode_worker("workers/main/5", record->value).value();
  anothers.token = random_token();
  ASSERT_TRUE(
      registry.compare_and_put("workers/main/5", record->version, encode_worker(anothers, settings.layout))
          .value()
          .stored);
  step(1'500);
  EXPECT_THAT(lease->renew_if_due().error().message, HasSubstr("was changed by another process"));
  EXPECT_THAT(lease->renew_if_due().error().message, HasSubstr("no longer held"));
  EXPECT_FALSE(lease->release(0)) << "an ex-owner writes nothing back";
}

TEST_F(WorkerLeaseTest, AnotherLayoutIsRefused) {
  const auto registry = open();
  { const auto lease = acquire(*registry); }
  settings.layout.sequence_bits = 11;
  settings.layout.worker_bits = 11;
  const auto refused = acquire_or_error(*registry, "proxy A");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("was used with layout ms:41:10:12:1704067200000 (classic), "
                                                 "now configured is ms:41:11:11:1704067200000"));
}

TEST_F(WorkerLeaseTest, ADamagedRecordIsNotTakenForANewWorker) {
  const auto registry = open();
  { const auto lease = acquire(*registry); }
  std::ofstream(scratch.path() + "/workers+main+5.record", std::ios::trunc)
      << "evenkeel-record 1\nversion 9\n";
  EXPECT_THAT(acquire_or_error(*registry, "proxy A").error().message, HasSubstr("is damaged"));
  settings.worker.fixed_id.reset();
  EXPECT_THAT(acquire_or_error(*registry, "proxy A").error().message, HasSubstr("is damaged"));
}

TEST_F(WorkerLeaseTest, AForeignRecordIsNamed) {
  MemoryRegistry registry(clock, MemoryRegistry::Proof::holds);
  ASSERT_TRUE(registry.compare_and_put("workers/main/5", 0, "something else").value().stored);
  EXPECT_EQ(acquire_or_error(registry, "proxy A").error().message,
            "registry record workers/main/5 is not a worker record");
}

TEST_F(WorkerLeaseTest, AFixedIdOutsideTheFieldIsRefused) {
  MemoryRegistry registry(clock, MemoryRegistry::Proof::holds);
  settings.worker.fixed_id = 1'024;
  EXPECT_FALSE(acquire_or_error(registry, "proxy A"));
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
  const auto none = acquire_or_error(*registry, "D");
  EXPECT_EQ(
      none.error().message,
      "generator main has no free worker id: all 3 are held, one of them by A. Stop a process that is not "
      "needed, or use a layout with more worker bits");

  two.reset();
  step(1'000);
  ASSERT_TRUE(zero->renew_if_due());
  zero.reset();
  EXPECT_EQ(acquire(*registry, "E")->worker(), 2u) << "its bound lies furthest back";
}

TEST_F(WorkerLeaseTest, GrantsFollowTheRegistrysClock) {
  ManualClock other(clock.unix_micros());
  MemoryRegistry registry(other);
  const auto lease = acquire(registry);
  step(2'000);
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), tick_in(1'000)) << "the registry's time has not moved";
  EXPECT_EQ(lease->clock_offset().offset_ms, -2'000);
  step(3'000);
  EXPECT_THAT(
      lease->renew_if_due().error().message,
      HasSubstr("time reserved by the registry's clock would already be over. Set the wrong one right"));
}

TEST_F(WorkerLeaseTest, ARegistryFarAheadIsNotBelieved) {
  ManualClock other(clock.unix_micros() + 86'400'001'000);
  MemoryRegistry registry(other);
  EXPECT_THAT(acquire_or_error(registry, "A").error().message, HasSubstr("the registry's clock reads"));
  EXPECT_EQ(registry.get("workers/main/5").value(), std::nullopt) << "nothing was reserved";
}

// As on a shared store: nothing proves that a holder lives but the time that it reserved.
class SharedStoreTest : public WorkerLeaseTest {
 protected:
  SharedStoreTest() {
    settings.worker.window_ms = 3'600'000;
    settings.worker.renew_ms = 1'200'000;
  }

  // Time passes on all machines.
  void pass(int64_t ms) { clock.advance(std::chrono::milliseconds(ms)); }
  uint64_t draw_one(SnowflakeGenerator& generator) {
    uint64_t key = 0;
    const auto drawn = generator.draw({}, std::span(&key, 1));
    EXPECT_TRUE(drawn) << drawn.error().message;
    EXPECT_TRUE(drawn && drawn->complete());
    return key;
  }

  MemoryRegistry registry{clock};
};

TEST_F(SharedStoreTest, TheWholeWindowIsReservedOnceTheProcessHasSettled) {
  const auto lease = acquire(registry);
  EXPECT_EQ(lease->window()->last(), tick_in(60'000));
  pass(9'999);
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), tick_in(50'001));
  pass(1);
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), tick_in(3'600'000));
  EXPECT_EQ(lease->reserved_until_unix_ms(), clock.unix_millis() + 3'600'001);
  pass(1'199'999);
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), tick_in(2'400'001)) << "a third has not passed";
  pass(1);
  ASSERT_TRUE(lease->renew_if_due());
  EXPECT_EQ(lease->window()->last(), tick_in(3'600'000));
}

TEST_F(SharedStoreTest, ACrashedHoldersIdIsLeftUntilItsWindowEnds) {
  uint64_t before = 0;
  {
    const auto lease = acquire(registry, "evenkeel pid 41 on db7");
    before = draw_one(*generator_of(*lease));
  }
  pass(59'000);
  const auto refused = acquire_or_error(registry, "evenkeel pid 42 on db7");
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "worker id 5 of generator main is held by evenkeel pid 41 on db7; two holders would make equal ids, so "
      "this one makes none. If that process has ended for good, the id is free at 2026-09-21T14:14:20.001Z; "
      "`worker: {id: lease}` takes another one at once");
  pass(1'001);
  const auto lease = acquire(registry, "evenkeel pid 42 on db7");
  EXPECT_EQ(lease->window()->first(), tick_in(0));
  EXPECT_GT(draw_one(*generator_of(*lease)), before);
}

TEST_F(SharedStoreTest, AReleasedIdIsFreeAtOnce) {
  uint64_t before = 0;
  {
    const auto lease = acquire(registry);
    const auto generator = generator_of(*lease);
    before = draw_one(*generator);
    ASSERT_TRUE(lease->release(closed(*generator)));
    EXPECT_TRUE(lease->lost());
  }
  pass(1);
  EXPECT_GT(draw_one(*generator_of(*acquire(registry))), before);
}

TEST_F(SharedStoreTest, AHolderThatSleptPastItsWindowFindsItTakenAndWritesNothing) {
  const auto sleeper = acquire(registry, "A");
  const auto its_generator = generator_of(*sleeper);
  const uint64_t before = draw_one(*its_generator);
  pass(60'001);
  const auto lease = acquire(registry, "B");
  const uint64_t after = draw_one(*generator_of(*lease));
  EXPECT_GT(after, before);
  const auto stored = registry.get("workers/main/5").value();

  uint64_t key = 0;
  const auto drawn = its_generator->draw({}, std::span(&key, 1));
  EXPECT_TRUE(!drawn || !drawn->complete()) << "its time is over";
  EXPECT_THAT(sleeper->renew_if_due().error().message, HasSubstr("it has taken the worker id over"));
  EXPECT_TRUE(sleeper->lost());
  EXPECT_FALSE(sleeper->renew_if_due());
  EXPECT_FALSE(sleeper->release(closed(*its_generator)));
  EXPECT_EQ(registry.get("workers/main/5").value(), stored) << "a former owner writes nothing back";
}

TEST_F(SharedStoreTest, LeasedIdsSkipWhatIsStillReserved) {
  settings.worker.fixed_id.reset();
  settings.layout.worker_bits = 1;
  { const auto crashed = acquire(registry, "A"); }
  const auto one = acquire(registry, "B");
  EXPECT_EQ(one->worker(), 1u);
  EXPECT_THAT(acquire_or_error(registry, "C").error().message,
              HasSubstr("all 2 are held, one of them by A, which is the first to become free, at "
                        "2026-09-21T14:14:20.001Z"));
  pass(60'001);
  ASSERT_TRUE(one->renew_if_due());
  EXPECT_EQ(acquire(registry, "C")->worker(), 0u);
}

TEST_F(SharedStoreTest, AStoreThatLostItsLastMomentsIsPutRight) {
  const auto lease = acquire(registry);
  MemoryRegistry emptied(clock);
  ForgetfulRegistry store(emptied);
  const auto other = acquire(store);
  pass(10'000);
  ASSERT_TRUE(other->renew_if_due());
  // The same store after a crash: the renewal is gone, the record before it is there.
  MemoryRegistry restored(clock);
  store.use(restored);
  const auto first = emptied.get("workers/main/5").value();
  pass(1'200'000);
  ASSERT_TRUE(other->renew_if_due()) << "absent: put again";
  EXPECT_THAT(restored.get("workers/main/5").value()->value, HasSubstr("state held"));
  ASSERT_TRUE(restored.compare_and_put("workers/main/5", 1, first->value).value().stored);
  pass(1'200'000);
  ASSERT_TRUE(other->renew_if_due()) << "its own token: put over it";
  EXPECT_EQ(other->window()->last(), tick_in(3'600'000));
}

TEST_F(SharedStoreTest, OneGeneratorHasOneLayout) {
  settings.worker.fixed_id.reset();
  const auto lease = acquire(registry);
  settings.layout.epoch_unix_ms += 1;
  EXPECT_EQ(
      acquire_or_error(registry, "B").error().message,
      "generator main was used with layout ms:41:10:12:1704067200000 (classic), now configured is "
      "ms:41:10:12:1704067200001: new ids could equal old ones. Configure the old layout, or use another "
      "generator name, but only if its tables hold no ids of the old one");
}

TEST_F(SharedStoreTest, RacingProcessesTakeDifferentIds) {
  settings.worker.fixed_id.reset();
  settings.layout.worker_bits = 4;
  std::vector<std::unique_ptr<WorkerLease>> taken(16);
  std::vector<std::thread> starting;
  for (auto& lease : taken)
    starting.emplace_back([&] {
      auto acquired = acquire_or_error(registry, "racer");
      if (acquired) lease = std::move(*acquired);
    });
  for (auto& thread : starting) thread.join();
  std::set<uint32_t> ids;
  for (const auto& lease : taken) {
    ASSERT_NE(lease, nullptr);
    ids.insert(lease->worker());
  }
  EXPECT_EQ(ids.size(), 16u);
}

}  // namespace
}  // namespace evenkeel::idgen
