// What generators do when the clock misbehaves: each action alone, lists of them by size, and no id twice
// whatever the clock does.
#include "idgen/clock_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "idgen/layout.h"
#include "idgen/snowflake_generator.h"

namespace evenkeel::idgen {
namespace {

using ::testing::HasSubstr;

// Remembers who asked to be relieved.
class Asked final : public WorkerSupply {
 public:
  void ask_for_switch(uint32_t worker) override { workers.push_back(worker); }
  std::vector<uint32_t> workers;
};

class ClockPolicy : public ::testing::Test {
 protected:
  void begin(std::vector<ClockStep> steps, uint32_t worker = 5) {
    GeneratorSettings settings;
    settings.name = "main";
    settings.clock.backward = std::move(steps);
    SnowflakeGenerator::Parts parts{
        settings, "orders", 128, window_of(worker), std::make_shared<DirectTicks>(clock), 7};
    parts.supply = &asked;
    parts.guard = guard;
    generator = SnowflakeGenerator::create(std::move(parts)).value();
  }
  static std::shared_ptr<TickWindow> window_of(uint32_t worker) {
    return std::make_shared<TickWindow>(worker, 1, UINT64_MAX >> 1);
  }
  Result<DrawnKeys> draw(size_t rows = 1) {
    std::vector<uint64_t> keys(rows);
    auto drawn = generator->draw({.rows = static_cast<uint32_t>(rows)}, keys);
    if (!drawn) return drawn;
    for (uint32_t i = 0; i < drawn->drawn; ++i) EXPECT_TRUE(seen.insert(keys[i]).second) << keys[i];
    last = drawn->drawn == 0 ? last : keys[drawn->drawn - 1];
    return drawn;
  }
  IdParts last_parts() const { return decompose({}, last); }
  void step_ms(int64_t ms) { clock.step_wall(std::chrono::milliseconds(ms)); }
  uint64_t now_tick() const { return static_cast<uint64_t>(tick_at({}, clock.unix_millis())); }

  ManualClock clock{1'790'000'000'000'000};
  Asked asked;
  std::shared_ptr<ClockGuard> guard = std::make_shared<ClockGuard>(ClockWatch{.good_checks = 2});
  std::unique_ptr<SnowflakeGenerator> generator;
  std::set<uint64_t> seen;
  uint64_t last = 0;
};

TEST_F(ClockPolicy, FreezeIsInclusiveAndEndsBeyond) {
  begin({{5, ClockAction::freeze}});
  ASSERT_TRUE(draw());
  const uint64_t tick = last_parts().tick;
  step_ms(-5);
  ASSERT_TRUE(draw());
  EXPECT_EQ(last_parts().tick, tick);
  step_ms(-1);
  const auto refused = draw();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::clock);
  EXPECT_THAT(refused.error().message,
              HasSubstr("stepped back by 6 ms; the clock policy is: up to 5 ms freeze, "
                        "beyond that strict"));
}

TEST_F(ClockPolicy, WaitSaysHowLongAndThenGoesOn) {
  begin({{5, ClockAction::freeze}, {200, ClockAction::wait}});
  ASSERT_TRUE(draw());
  step_ms(-150);
  const auto waiting = draw();
  ASSERT_TRUE(waiting);
  EXPECT_FALSE(waiting->complete());
  EXPECT_EQ(waiting->wait.micros, 150'000);
  // The clock steps back again while the caller waits: the policy is asked anew.
  step_ms(-100);
  EXPECT_FALSE(draw());
  step_ms(100);
  clock.advance(std::chrono::milliseconds(150));
  const auto drawn = draw();
  ASSERT_TRUE(drawn);
  EXPECT_TRUE(drawn->complete());
}

TEST_F(ClockPolicy, SwitchWorkerAsksWaitsAndGoesOnWithTheNewIdAtTheClockAsItStands) {
  begin({{5, ClockAction::freeze}, {ClockStep::any_size, ClockAction::switch_worker}});
  ASSERT_TRUE(draw(10));
  const uint64_t before = last_parts().tick;
  step_ms(-3'600'000);
  const auto waiting = draw();
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->drawn, 0u);
  EXPECT_EQ(waiting->wait.micros, 10'000);
  EXPECT_EQ(asked.workers, std::vector<uint32_t>{5});

  const auto last_used = generator->adopt(5, window_of(9));
  ASSERT_TRUE(last_used);
  EXPECT_EQ(*last_used, before);
  ASSERT_TRUE(draw(10));
  EXPECT_EQ(last_parts().worker, 9u);
  EXPECT_EQ(last_parts().tick, now_tick());
  EXPECT_EQ(generator->counters().worker_switches, 1u);
  EXPECT_EQ(generator->last_tick(5), 0u) << "no lane has it any more";
  // The clock comes back: the same id goes on, nothing repeats.
  step_ms(3'600'000);
  ASSERT_TRUE(draw(10));
  EXPECT_EQ(last_parts().worker, 9u);
  EXPECT_FALSE(generator->adopt(5, window_of(10))) << "an id that is not in use cannot be replaced";
}

TEST_F(ClockPolicy, NoOtherWorkerIdWithinMaxWaitIsAnError) {
  begin({{ClockStep::any_size, ClockAction::switch_worker}});
  ASSERT_TRUE(draw());
  step_ms(-60'000);
  ASSERT_TRUE(draw());
  clock.advance(std::chrono::milliseconds(5'001));
  const auto refused = draw();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no other worker id has come for 5001 ms"));
}

TEST_F(ClockPolicy, PauseLastsUntilTheClockWasFoundRightOftenEnough) {
  begin({{5, ClockAction::freeze}, {ClockStep::any_size, ClockAction::pause_until_sync}});
  ASSERT_TRUE(draw());
  step_ms(-1'000);
  EXPECT_FALSE(draw());
  EXPECT_TRUE(guard->paused());
  clock.advance(std::chrono::milliseconds(2'000));
  const auto refused = draw();
  ASSERT_FALSE(refused) << "the clock is back, but nobody has looked at it";
  EXPECT_THAT(refused.error().message,
              HasSubstr("the clock stepped back by 1000 ms; ids are made again after 2"));
  const ClockHealth good{.synchronised = true, .max_error_us = 500, .registry_offset_ms = 3};
  EXPECT_FALSE(guard->judge(good));
  EXPECT_FALSE(draw());
  ClockHealth bad = good;
  bad.synchronised = false;
  EXPECT_FALSE(guard->judge(bad)) << "still paused, and the count begins anew";
  EXPECT_FALSE(guard->judge(good));
  EXPECT_TRUE(guard->judge(good));
  EXPECT_TRUE(draw());
}

TEST(ClockGuard, EachFaultPausesAndIsNamed) {
  const ClockHealth good;
  const auto reason_of = [&](auto change) {
    ClockGuard guard(ClockWatch{});
    ClockHealth health = good;
    change(health);
    EXPECT_FALSE(guard.judge(good));
    EXPECT_TRUE(guard.judge(health));
    EXPECT_TRUE(guard.paused());
    EXPECT_EQ(guard.pauses(), 1u);
    return guard.reason();
  };
  EXPECT_THAT(reason_of([](auto& h) { h.synchronised = false; }), HasSubstr("not synchronised"));
  EXPECT_THAT(reason_of([](auto& h) { h.max_error_us = 100'001; }), HasSubstr("may be wrong by 100 ms"));
  EXPECT_THAT(reason_of([](auto& h) { h.registry_offset_ms = 1'001; }), HasSubstr("1001 ms ahead of"));
  EXPECT_THAT(reason_of([](auto& h) { h.registry_offset_ms = -1'001; }), HasSubstr("1001 ms behind"));
}

TEST_F(ClockPolicy, StepsAreCountedOnceBySize) {
  begin({{ClockStep::any_size, ClockAction::strict}});
  for (const int64_t step : {1, 3, 10'000, 3'600'000, 7'200'000}) {
    clock.advance(std::chrono::milliseconds(1));
    ASSERT_TRUE(draw());
    step_ms(-step);
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(draw());
    step_ms(step);
  }
  const auto counters = generator->counters();
  const std::vector<uint64_t> steps(counters.clock_steps.begin(), counters.clock_steps.end());
  EXPECT_EQ(steps, (std::vector<uint64_t>{1, 1, 0, 0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(counters.refusals, 20u);
}

// "Clock back 3 ms, 10 s, 1 h", and a day forward and back, under each policy.
TEST_F(ClockPolicy, NoPolicyRepeatsAnIdWhateverTheClockDoes) {
  const std::vector<std::vector<ClockStep>> policies = {
      {},
      {{5, ClockAction::freeze}},
      {{5, ClockAction::freeze}, {200, ClockAction::wait}, {ClockStep::any_size, ClockAction::switch_worker}},
      {{ClockStep::any_size, ClockAction::switch_worker}},
      {{60'000, ClockAction::freeze}, {ClockStep::any_size, ClockAction::pause_until_sync}}};
  for (const auto& policy : policies) {
    begin(policy, 0);
    seen.clear();
    uint32_t worker = 0;
    SeededRandom random(20261130);
    size_t drawn = 0;
    const std::vector<int64_t> steps = {-3,        -10'000, -3'600'000, 86'400'000, -86'400'000,
                                        3'600'000, 10'000,  1,          0,          2};
    for (int turn = 0; turn < 4'000; ++turn) {
      step_ms(steps[random.below(steps.size())]);
      const auto result = draw(1 + random.below(40));
      if (result) drawn += result->drawn;
      if (!asked.workers.empty() && worker < 1'000) {
        asked.workers.clear();
        ASSERT_TRUE(generator->adopt(worker, window_of(worker + 1)));
        ++worker;
      }
      if (guard->paused()) {
        guard->judge(ClockHealth{});
        guard->judge(ClockHealth{});
      }
    }
    EXPECT_EQ(seen.size(), drawn);
    EXPECT_GT(drawn, 1'000u);
  }
}

TEST_F(ClockPolicy, WorkersChangeUnderDrawingThreadsWithoutARepeatedId) {
  begin({{5, ClockAction::freeze}}, 0);
  std::vector<std::vector<uint64_t>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& ids : drawn)
    threads.emplace_back([&] {
      while (ids.size() < 20'000) {
        uint64_t keys[3];
        const auto result = generator->draw({.rows = 3}, keys);
        ASSERT_TRUE(result) << result.error().message;
        ids.insert(ids.end(), keys, keys + result->drawn);
        if (!result->complete()) clock.advance(std::chrono::milliseconds(1));
      }
    });
  for (uint32_t worker = 0; worker < 50; ++worker) {
    ASSERT_TRUE(generator->adopt(worker, window_of(worker + 1)));
    std::this_thread::yield();
  }
  for (auto& thread : threads) thread.join();
  size_t total = 0;
  for (const auto& ids : drawn) {
    total += ids.size();
    seen.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(seen.size(), total);
}

TEST_F(ClockPolicy, LanesPassWhatOneUnitHolds) {
  GeneratorSettings settings;
  settings.clock.max_borrow_ticks = 0;
  SnowflakeGenerator::Parts parts{settings, "orders", 128, window_of(0), std::make_shared<DirectTicks>(clock),
                                  7};
  parts.more_windows = {window_of(1), window_of(2)};
  generator = SnowflakeGenerator::create(std::move(parts)).value();
  EXPECT_EQ(generator->workers(), (std::vector<uint32_t>{0, 1, 2}));
  std::vector<std::vector<uint64_t>> drawn(3);
  for (auto& ids : drawn)
    std::thread([&] {
      ids.resize(5'000);
      const auto result = generator->draw({.rows = 5'000}, ids);
      ASSERT_TRUE(result);
      ids.resize(result->drawn);
    }).join();
  for (const auto& ids : drawn) seen.insert(ids.begin(), ids.end());
  // One millisecond of three worker ids, each less where its start was drawn.
  EXPECT_GE(seen.size(), 3 * (4096u - 127));
}

}  // namespace
}  // namespace evenkeel::idgen
