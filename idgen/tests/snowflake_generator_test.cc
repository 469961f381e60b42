#include "idgen/snowflake_generator.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <unordered_set>

#include "base/clock.h"
#include "base/random.h"
#include "idgen/layout.h"
#include "idgen/ticker.h"

namespace evenkeel::idgen {
namespace {

using ::testing::HasSubstr;

class GeneratorTest : public ::testing::Test {
 protected:
  GeneratorTest() {
    settings.name = "main";
    settings.worker.fixed_id = 5;
  }

  std::unique_ptr<SnowflakeGenerator> make(uint32_t slots, uint64_t first = 1,
                                           uint64_t last = UINT64_MAX >> 1) {
    window = std::make_shared<TickWindow>(*settings.worker.fixed_id, first, last);
    auto made = SnowflakeGenerator::create(
        {settings, "orders", slots, window, std::make_shared<DirectTicks>(clock), 7});
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }
  uint64_t now_tick() const { return static_cast<uint64_t>(tick_at(settings.layout, clock.unix_millis())); }
  static uint64_t one(SnowflakeGenerator& generator) {
    uint64_t key = 0;
    const auto drawn = generator.draw({}, std::span(&key, 1));
    EXPECT_TRUE(drawn && drawn->complete());
    return key;
  }

  GeneratorSettings settings;
  ManualClock clock{1'790'000'000'000'000};
  std::shared_ptr<TickWindow> window;
};

TEST_F(GeneratorTest, ConsecutiveIsTheDefaultForManyRows) {
  const auto generator = make(128);
  std::vector<uint64_t> keys(10);
  const auto drawn = generator->draw({.rows = 10}, keys);
  ASSERT_TRUE(drawn);
  EXPECT_TRUE(drawn->complete());
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(keys[i], keys[0] + i);
  EXPECT_EQ(decompose(settings.layout, keys[0]).worker, 5u);
  EXPECT_EQ(decompose(settings.layout, keys[0]).tick, now_tick());
}

TEST_F(GeneratorTest, SteeredBatchesFollowTheMap) {
  settings.batch = BatchMode::steered;
  const auto generator = make(8);
  const std::vector<uint32_t> permitted = {1, 6};
  ASSERT_TRUE(generator->set_map(SteeringMap::permitting(8, permitted).value()));
  std::vector<uint64_t> keys(5);
  ASSERT_TRUE(generator->draw({.rows = 5}, keys));
  for (const uint64_t key : keys) EXPECT_TRUE(key % 8 == 1 || key % 8 == 6);
  EXPECT_EQ(*generator->map(), SteeringMap::permitting(8, permitted).value());
}

TEST_F(GeneratorTest, NoRowsNeedNoKeys) {
  const auto generator = make(8);
  const auto drawn = generator->draw({.rows = 0}, {});
  ASSERT_TRUE(drawn);
  EXPECT_TRUE(drawn->complete());
}

TEST_F(GeneratorTest, RowSlotsAreKept) {
  const auto generator = make(128);
  const std::vector<uint32_t> slots = {3, 3, 90};
  std::vector<uint64_t> keys(3);
  ASSERT_TRUE(generator->draw({.rows = 3, .row_slots = slots}, keys));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(keys[i] % 128, slots[i]);
}

TEST_F(GeneratorTest, ContradictoryDemandsAreDefects) {
  const auto generator = make(8);
  std::vector<uint64_t> keys(3);
  const std::vector<uint32_t> two_slots = {1, 2};
  const std::vector<uint32_t> no_such_slot = {1, 2, 8};
  const std::vector<uint64_t> deficits(7, 1);
  const std::vector<uint16_t> instances(9, 1);
  for (const KeyDemand& demand :
       {KeyDemand{.rows = 4}, KeyDemand{.rows = 3, .row_slots = two_slots},
        KeyDemand{.rows = 3, .row_slots = no_such_slot}, KeyDemand{.rows = 3, .slot_deficits = deficits},
        KeyDemand{.rows = 3, .slot_instances = instances}}) {
    const auto drawn = generator->draw(demand, keys);
    ASSERT_FALSE(drawn);
    EXPECT_EQ(drawn.error().kind, ErrorKind::internal);
  }
  EXPECT_EQ(generator->counters().ids, 0u);
}

TEST_F(GeneratorTest, IsReadyWhileItsWindowLasts) {
  const uint64_t now = now_tick();
  const auto generator = make(128, now, now + 100);
  EXPECT_TRUE(generator->ready());
  EXPECT_EQ(generator->counters().ids, 0u) << "nothing is drawn for it";
  EXPECT_EQ(generator->last_tick(), now - 1);
  one(*generator);
  clock.advance(std::chrono::milliseconds(100));
  EXPECT_TRUE(generator->ready()) << "the last tick of the window";
  clock.advance(std::chrono::milliseconds(1));
  const Status ended = generator->ready();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::registry);
  EXPECT_THAT(ended.error().message, HasSubstr("the time reserved for the worker id ended at"));
  // A draw waits first, and ends in the same error.
  uint64_t key = 0;
  EXPECT_TRUE(generator->draw({}, std::span(&key, 1)));
  clock.advance(std::chrono::milliseconds(settings.clock.max_wait_ms + 1));
  const auto refused = generator->draw({}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, ended.error().message);
  window->extend(now_tick() + 100);
  EXPECT_TRUE(generator->ready());
  one(*generator);
  generator->close();
  ASSERT_FALSE(generator->ready());
  EXPECT_THAT(generator->ready().error().message, HasSubstr("was closed"));
}

TEST_F(GeneratorTest, IsNotReadyWhereTheLastTickOfTheWindowIsFull) {
  const uint64_t now = now_tick();
  const auto generator = make(1, now, now);
  std::vector<uint64_t> keys(4'096);
  settings.batch = BatchMode::consecutive;
  ASSERT_TRUE(generator->draw({.rows = 4'096}, keys)->complete());
  EXPECT_FALSE(generator->ready());
  window->extend(now + 1);
  EXPECT_TRUE(generator->ready());
}

TEST_F(GeneratorTest, IsReadyBeforeItsWindowOnlyWhenThatIsNear) {
  const uint64_t now = now_tick();
  settings.clock.max_wait_ms = 1'000;
  const auto generator = make(128, now + 1'001, now + 5'000);
  ASSERT_FALSE(generator->ready());
  EXPECT_THAT(generator->ready().error().message, HasSubstr("the next id may be made at"));
  clock.advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(generator->ready());
}

TEST_F(GeneratorTest, IsReadyAsTheClockPolicySays) {
  using enum ClockAction;
  for (const auto& [action, step_ms, ready] :
       {std::tuple(freeze, 10'000, true), std::tuple(wait, 500, true), std::tuple(wait, 10'000, false),
        std::tuple(strict, 10'000, false)}) {
    settings.clock.backward = {{ClockStep::any_size, action}};
    settings.clock.max_wait_ms = 1'000;
    const auto generator = make(128);
    one(*generator);
    clock.step_wall(std::chrono::milliseconds(-step_ms));
    const Status said = generator->ready();
    EXPECT_EQ(said.has_value(), ready) << step_ms;
    if (!said) {
      EXPECT_THAT(said.error().message, HasSubstr("the clock stepped back by 10000 ms"));
    }
    clock.step_wall(std::chrono::milliseconds(step_ms));
    EXPECT_TRUE(generator->ready());
  }
}

TEST_F(GeneratorTest, C06_ADriftBeyondToleranceIsAClockErrorThatNamesIt) {
  const auto generator = make(128);
  one(*generator);
  clock.step_wall(std::chrono::seconds(-10));
  uint64_t key = 0;
  const auto refused = generator->draw({}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::clock);
  EXPECT_EQ(refused.error().message,
            "no key for table orders (generator main, worker 5): the clock stepped back by 10000 ms; the "
            "clock policy is: up to 5 ms freeze, beyond that strict");
  EXPECT_EQ(refused.error().sqlstate, "HY000");
  EXPECT_EQ(generator->counters().refusals, 1u);
}

TEST_F(GeneratorTest, AFullTickSaysHowLongToWait) {
  settings.clock.max_borrow_ticks = 0;
  const auto generator = make(1);
  std::vector<uint64_t> keys(5'000);
  clock.advance(std::chrono::microseconds(300));
  const auto drawn = generator->draw({.rows = 5'000}, keys);
  ASSERT_TRUE(drawn);
  EXPECT_FALSE(drawn->complete());
  EXPECT_EQ(drawn->drawn, 4096u);
  EXPECT_EQ(drawn->wait.not_before_tick, now_tick() + 1);
  EXPECT_EQ(drawn->wait.micros, 700);
  clock.advance(std::chrono::microseconds(drawn->wait.micros));
  const auto rest = generator->draw({.rows = 904}, std::span(keys).subspan(4096));
  ASSERT_TRUE(rest);
  EXPECT_TRUE(rest->complete());
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  const Counters counters = generator->counters();
  EXPECT_EQ(counters.ids, 5'000u);
  EXPECT_EQ(counters.waits, 1u);
  EXPECT_EQ(counters.broken_batches, 1u);
}

TEST_F(GeneratorTest, C07_AWindowThatBeginsSoonIsAWaitAndLaterAnError) {
  const auto generator = make(128, now_tick() + 3'000, now_tick() + 6'000);
  uint64_t key = 0;
  const auto waiting = generator->draw({}, std::span(&key, 1));
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->drawn, 0u);
  EXPECT_EQ(waiting->wait.micros, 3'000'000);
  clock.step_wall(std::chrono::seconds(-60));
  const auto refused = generator->draw({}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::clock);
  EXPECT_THAT(refused.error().message, HasSubstr("(63000 ms earlier)"));
}

TEST_F(GeneratorTest, AWindowThatIsNotExtendedStopsTheGenerator) {
  const auto generator = make(128, 1, now_tick() + 10);
  one(*generator);
  clock.advance(std::chrono::milliseconds(50));
  uint64_t key = 0;
  const auto waiting = generator->draw({}, std::span(&key, 1));
  ASSERT_TRUE(waiting) << "the renewal may be on its way";
  EXPECT_FALSE(waiting->complete());
  EXPECT_EQ(waiting->wait.micros, 10'000);
  clock.advance(std::chrono::seconds(10));
  const auto refused = generator->draw({}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::registry);
  EXPECT_THAT(refused.error().message, HasSubstr("was not extended"));
  window->extend(now_tick() + 10);
  one(*generator);
}

TEST_F(GeneratorTest, MapsThatCannotWorkAreRefusedAndTheOldOneStays) {
  const auto generator = make(128);
  EXPECT_THAT(generator->set_map(SteeringMap::identity(64).value()).error().message,
              HasSubstr("a steering map of 64 slots for a table of 128"));
  std::vector<uint32_t> weights(128, 64);
  weights[0] = 1;
  EXPECT_THAT(generator->set_map(SteeringMap::weighted(weights, 64).value()).error().message,
              HasSubstr("a steering map of period 8192 is longer than the 4096 ids of one time unit"));
  EXPECT_EQ(*generator->map(), SteeringMap::identity(128).value());
}

TEST_F(GeneratorTest, WhatAWorkerCannotReachIsRefusedByName) {
  settings.worker.fixed_id = 4;  // even: residues 0..4095 of 8192
  const auto generator = make(8192);
  const std::vector<uint32_t> upper = {5'000};
  EXPECT_THAT(generator->set_map(SteeringMap::permitting(8192, upper).value()).error().message,
              HasSubstr("no slot in reach of worker 4, which reaches 0-4095"));
  uint64_t key = 0;
  const auto refused = generator->draw({.rows = 1, .row_slots = upper}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("worker 4 cannot make an id for slot 5000"));
  EXPECT_LT(one(*generator) % 8192, 4096u);
}

TEST_F(GeneratorTest, TheSameMapAgainDoesNotBeginANewCycleOfStarts) {
  const auto generator = make(64);
  std::unordered_set<uint64_t> slots;
  for (int i = 0; i < 64; ++i) {
    clock.advance(std::chrono::milliseconds(10));
    ASSERT_TRUE(generator->set_map(SteeringMap::identity(64).value()));
    slots.insert(one(*generator) % 64);
  }
  EXPECT_EQ(slots.size(), 64u);
}

TEST_F(GeneratorTest, ClosedMeansClosed) {
  const auto generator = make(128);
  one(*generator);
  generator->close();
  EXPECT_EQ(generator->last_tick(5), now_tick());
  uint64_t key = 0;
  EXPECT_EQ(generator->draw({}, std::span(&key, 1)).error().kind, ErrorKind::registry);
}

TEST_F(GeneratorTest, ManyGeneratorsOfOneThreadKeepTheirSeatsApart) {
  std::vector<std::unique_ptr<SnowflakeGenerator>> generators;
  for (int i = 0; i < 300; ++i) generators.push_back(make(16));  // more than a thread's cache of seats
  for (int round = 0; round < 3; ++round)
    for (auto& generator : generators) one(*generator);
  for (auto& generator : generators) EXPECT_EQ(generator->counters().ids, 3u);
}

TEST_F(GeneratorTest, C10_64ThreadsDraw640000DistinctIds) {
  const SystemClock system_clock;
  window = std::make_shared<TickWindow>(5, 1, UINT64_MAX >> 1);
  const auto generator =
      SnowflakeGenerator::create({settings, "orders", 128, window, std::make_shared<Ticker>(system_clock), 7})
          .value();
  constexpr int threads = 64;
  constexpr int ids_each = 10'000;
  std::vector<std::vector<uint64_t>> drawn(threads);
  std::vector<std::thread> running;
  for (auto& ids : drawn)
    running.emplace_back([&ids, &generator] {
      while (ids.size() < ids_each) {
        uint64_t key = 0;
        const auto result = generator->draw({}, std::span(&key, 1));
        ASSERT_TRUE(result) << result.error().message;
        if (result->complete())
          ids.push_back(key);
        else
          std::this_thread::yield();
      }
    });
  // Meanwhile the map changes all the time.
  SeededRandom random(3);
  for (int i = 0; i < 200; ++i) {
    std::vector<uint32_t> residues(96);
    std::iota(residues.begin(), residues.end(), static_cast<uint32_t>(random.below(32)));
    ASSERT_TRUE(generator->set_map(SteeringMap::permitting(128, residues).value()));
    std::this_thread::yield();
  }
  for (auto& thread : running) thread.join();
  std::unordered_set<uint64_t> distinct;
  for (const auto& ids : drawn) distinct.insert(ids.begin(), ids.end());
  EXPECT_EQ(distinct.size(), static_cast<size_t>(threads) * ids_each);
  EXPECT_EQ(generator->counters().ids, static_cast<uint64_t>(threads) * ids_each);
}

TEST(Ticker, RestsAndReadsTheClockWhileIdsAreFew) {
  ManualClock clock;
  const Ticker ticker(clock);
  for (int i = 0; i < 200; ++i) {
    clock.advance(std::chrono::milliseconds(3));
    EXPECT_EQ(ticker.unix_millis(), clock.unix_millis());
  }
  EXPECT_FALSE(ticker.publishing());
}

TEST(Ticker, PublishesUnderLoadAndIsNeverAheadOfTheClock) {
  const SystemClock clock;
  const Ticker ticker(clock);
  bool published = false;
  for (int i = 0; i < 200'000; ++i) {
    const int64_t read = ticker.unix_millis();
    ASSERT_LE(read, clock.unix_millis());
    published = published || ticker.publishing();
  }
  EXPECT_TRUE(published);
}

// The thread cannot be stopped from here, but the interval clock can be moved: what was published is then
// old.
TEST(Ticker, AStalledThreadIsNoticedWithinAFewReads) {
  ManualClock clock;
  const Ticker ticker(clock, std::chrono::milliseconds(20));
  for (int i = 0; i < 300; ++i) ticker.unix_millis();
  while (!ticker.publishing()) std::this_thread::yield();
  clock.advance(std::chrono::seconds(1));
  int late = 0;
  while (ticker.unix_millis() != clock.unix_millis()) ++late;
  EXPECT_LE(late, 64);
}

}  // namespace
}  // namespace evenkeel::idgen
