#include "idgen/snowflake.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>
#include <set>
#include <thread>

#include "base/random.h"
#include "idgen/tests/snowflake_rig.h"

namespace evenkeel::idgen {
namespace {

using Stop = Draw::Stop;

SteeredStart all_of(uint32_t slots, uint64_t seed = 1) {
  return {SteeringMap::identity(slots).value(), seed};
}

// The published example of a generator with a 5 ms tolerance: clock steps in ms, and the sequences that it
// gives.
TEST(Snowflake, C14_FreezesSmallStepsBackAsTheArticleShows) {
  const std::vector<int64_t> steps = {0, 0, 0, 1, 1, 2, 3, -5, 5, 1, 2, 2};
  const std::vector<int64_t> tolerant = {0, 1, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0};
  const std::vector<int64_t> strict = {0, 1, 2, 0, 0, 0, 0, -1, 1, 0, 0, 0};  // -1: refused
  for (const auto& [tolerance, expected] : {std::pair(5, tolerant), std::pair(0, strict)}) {
    ClockSettings settings;
    if (tolerance == 0) settings.backward = {{ClockStep::any_size, ClockAction::strict}};
    Rig rig({}, settings);
    const SteeredStart start = all_of(1);
    std::vector<int64_t> sequences;
    for (const int64_t step : steps) {
      rig.step_ms(step);
      const auto ids = rig.draw(start, 1);
      sequences.push_back(ids.empty() ? -1 : static_cast<int64_t>(rig.parts(ids[0]).sequence));
      if (ids.empty()) {
        EXPECT_EQ(rig.last.stop, Stop::clock_behind);
        EXPECT_EQ(rig.last.drift_ms, 5);
      }
    }
    EXPECT_EQ(sequences, expected) << "tolerance " << tolerance;
  }
}

TEST(Snowflake, C14b_RetriesAfterAFullUnitNeverRepeat) {
  ClockSettings settings;
  settings.max_borrow_ticks = 0;
  Rig rig({}, settings);
  const SteeredStart start = all_of(1);
  std::set<uint64_t> seen;
  int told_to_wait = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto ids = rig.draw(start, 1);
    if (ids.empty()) {
      ASSERT_EQ(rig.last.stop, Stop::wait);
      ASSERT_EQ(rig.last.tick, rig.now_tick() + 1);
      ++told_to_wait;
    } else {
      ASSERT_TRUE(seen.insert(ids[0]).second);
    }
  }
  EXPECT_EQ(seen.size(), 4096u);
  EXPECT_EQ(told_to_wait, 904);
  rig.advance_ms(1);
  EXPECT_TRUE(seen.insert(rig.draw(start, 1).at(0)).second);
}

TEST(Snowflake, C05_AFrozenMillisecondIsUsedUpAndTheNextOpensLikeAnyOther) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rig rig;
    const SteeredStart start(SteeringMap::identity(128).value(), seed);
    std::vector<uint64_t> ids;
    for (int i = 0; i < 5000; ++i) ids.push_back(rig.draw(start, 1).at(0));
    ASSERT_TRUE(strictly_ascending(ids));
    std::map<uint64_t, std::vector<uint64_t>> by_tick;
    for (const uint64_t id : ids) by_tick[rig.parts(id).tick].push_back(rig.parts(id).sequence);
    ASSERT_EQ(by_tick.size(), 2u);
    const auto& frozen = by_tick.at(rig.now_tick());
    const auto& next = by_tick.at(rig.now_tick() + 1);
    EXPECT_LT(frozen.front(), 128u);
    EXPECT_EQ(frozen.back(), 4095u);
    EXPECT_EQ(frozen.size(), 4096 - frozen.front());
    // After a full unit the round over the slots goes on where it stopped: 5000 ids differ by one row at the
    // most.
    EXPECT_EQ(next.front(), 0u);
    EXPECT_EQ(next.size(), 904 + frozen.front());
    std::vector<int> rows(128, 0);
    for (const uint64_t id : ids) ++rows[id % 128];
    const auto [least, most] = std::minmax_element(rows.begin(), rows.end());
    EXPECT_LE(*most - *least, 1);
    EXPECT_EQ(rig.counters.read().ticks_borrowed, 1u);
  }
}

TEST(Snowflake, C05_AWrapUnderAMapStartsAtAPermittedSlot) {
  Rig rig;
  const SteeredStart start(permit_range(128, 32, 127), 7);
  const auto ids = rig.draw(start, 5000);
  ASSERT_EQ(ids.size(), 5000u);
  EXPECT_TRUE(strictly_ascending(ids));
  for (const uint64_t id : ids) ASSERT_GE(id % 128, 32u);
}

TEST(Snowflake, C06_AStepBackFreezesOrIsRefusedAndNothingRepeats) {
  Rig rig;
  const SteeredStart start = all_of(128);
  std::set<uint64_t> seen;
  const uint64_t first = rig.draw(start, 1).at(0);
  seen.insert(first);
  rig.step_ms(-3);
  const uint64_t second = rig.draw(start, 1).at(0);
  EXPECT_EQ(rig.parts(second).tick, rig.parts(first).tick) << "time is frozen in the id";
  EXPECT_TRUE(seen.insert(second).second);

  rig.step_ms(-10'000);
  EXPECT_TRUE(rig.draw(start, 1).empty());
  EXPECT_EQ(rig.last.stop, Stop::clock_behind);
  EXPECT_EQ(rig.last.drift_ms, 10'003);
  EXPECT_TRUE(rig.draw(start, 3).empty()) << "a second try is refused as well";

  rig.step_ms(10'003);
  const uint64_t recovered = rig.draw(start, 1).at(0);
  EXPECT_EQ(recovered, second + 1) << "the refusals changed nothing";
  for (int i = 0; i < 10'000; ++i) {
    if (i % 7 == 0) rig.step_ms(i % 3 == 0 ? -4 : 5);
    for (const uint64_t id : rig.draw(start, 1)) ASSERT_TRUE(seen.insert(id).second);
  }
}

TEST(Snowflake, AFrozenClockThatUsesUpItsUnitBorrowsWithinTheBound) {
  ClockSettings settings;
  settings.max_borrow_ticks = 2;
  Rig rig({}, settings);
  const SteeredStart start = all_of(1);
  rig.draw(start, 1);
  const uint64_t seen_tick = rig.now_tick();
  rig.step_ms(-5);
  const auto ids = rig.draw(start, 20'000);
  EXPECT_EQ(ids.size(), 3 * 4096u - 1);
  EXPECT_EQ(rig.parts(ids.back()).tick, seen_tick + 2) << "counted from where the clock was last seen";
  EXPECT_EQ(rig.last.stop, Stop::wait);
  EXPECT_EQ(rig.last.tick, seen_tick + 1);
}

TEST(Snowflake, ABorrowedTickIsNoStepBack) {
  ClockSettings settings;
  settings.backward.clear();
  settings.max_borrow_ticks = 100;
  Rig rig({}, settings);
  const SteeredStart start = all_of(1);
  EXPECT_EQ(rig.draw(start, 50 * 4096).size(), 50 * 4096u);
  EXPECT_EQ(rig.draw(start, 1).size(), 1u);
  EXPECT_EQ(rig.counters.read().ticks_borrowed, 50u);
}

TEST(Snowflake, SteeredBatchesAreTheNextValidIdsOneByOne) {
  Rig one;
  Rig many;
  const SteeredStart start_one(permit_range(96, 24, 95), 3);
  const SteeredStart start_many(permit_range(96, 24, 95), 3);
  std::vector<uint64_t> singles;
  for (int i = 0; i < 9'000; ++i) singles.push_back(one.draw(start_one, 1).at(0));
  EXPECT_EQ(many.draw(start_many, 9'000), singles);
}

TEST(Snowflake, SaturationLosesNothing) {
  for (const auto& map :
       {SteeringMap::identity(128).value(), permit_range(128, 32, 127), permit_range(96, 24, 95)}) {
    Rig rig;
    const SteeredStart start(map, 11);
    rig.draw(start, 1);
    uint64_t drawn = 0;
    uint64_t possible = 0;
    for (int ms = 0; ms < 300; ++ms) {
      rig.advance_ms(1);
      possible += map.count_in(rig.core.base_of(rig.now_tick()), 4096);
      drawn += rig.draw(start, 10'000).size();
    }
    // The first ticks come from borrowing; from then on every tick gives all it has.
    EXPECT_GE(drawn, possible);
  }
}

TEST(Snowflake, ABusyButNotFullTickStillStartsAnywhere) {
  Rig rig;
  const SteeredStart start = all_of(128);
  std::set<uint64_t> starts;
  for (int ms = 0; ms < 300; ++ms) {
    rig.advance_ms(1);
    const auto ids = rig.draw(start, 2'500);
    ASSERT_EQ(ids.size(), 2'500u);
    ASSERT_EQ(rig.parts(ids.front()).tick, rig.parts(ids.back()).tick);
    starts.insert(rig.parts(ids.front()).sequence);
  }
  EXPECT_EQ(starts.size(), 128u);
}

TEST(Snowflake, TheTimeFieldNeverWraps) {
  Layout layout;
  layout.time_bits = 20;
  Rig rig(layout);
  const SteeredStart start = all_of(128);
  rig.clock.step_wall(
      std::chrono::milliseconds(layout.epoch_unix_ms + (1 << 20) - 1 - rig.clock.unix_millis()));
  EXPECT_EQ(rig.parts(rig.draw(start, 1).at(0)).tick, (1u << 20) - 1);
  rig.draw(start, 5'000);
  EXPECT_EQ(rig.last.stop, Stop::exhausted) << "not by borrowing either";
  rig.advance_ms(1);
  EXPECT_TRUE(rig.draw(start, 1).empty());
  EXPECT_EQ(rig.last.stop, Stop::exhausted);
}

TEST(Snowflake, BeforeTheEpochThereAreNoIds) {
  Layout layout;
  layout.epoch_unix_ms = 1'790'000'000'500;
  Rig rig(layout);
  EXPECT_TRUE(rig.draw(all_of(8), 1).empty());
  EXPECT_EQ(rig.last.stop, Stop::before_epoch);
  rig.advance_ms(501);
  EXPECT_EQ(rig.parts(rig.draw(all_of(8), 1).at(0)).tick, 1u);
}

TEST(Snowflake, StaysInsideItsWindow) {
  const uint64_t now = static_cast<uint64_t>(1'790'000'000'000 - Layout{}.epoch_unix_ms);
  Rig rig({}, {}, 7, now + 10, now + 12);
  const SteeredStart start = all_of(1);
  EXPECT_TRUE(rig.draw(start, 1).empty());
  EXPECT_EQ(rig.last.stop, Stop::window_not_begun);
  EXPECT_EQ(rig.last.tick, now + 10);
  rig.advance_ms(10);
  const auto ids = rig.draw(start, 20'000);
  EXPECT_EQ(ids.size(), 3 * 4096u);
  EXPECT_EQ(rig.last.stop, Stop::window_ended);
  rig.advance_ms(5);
  EXPECT_TRUE(rig.draw(start, 1).empty());
  EXPECT_EQ(rig.last.stop, Stop::window_ended);
  rig.window.extend(now + 100);
  EXPECT_EQ(rig.parts(rig.draw(start, 1).at(0)).tick, now + 15);
}

TEST(Snowflake, CloseEndsItForGoodAndTellsTheLastTick) {
  Rig rig;
  const SteeredStart start = all_of(1);
  const uint64_t last = rig.draw(start, 5'000).back();
  EXPECT_EQ(rig.core.close(), rig.parts(last).tick);
  rig.advance_ms(50);
  EXPECT_TRUE(rig.draw(start, 1).empty());
  EXPECT_EQ(rig.last.stop, Stop::closed);
  EXPECT_EQ(rig.core.close(), rig.parts(last).tick);

  Rig unused({}, {}, 1, 1'000);
  EXPECT_EQ(unused.core.close(), 999u);
}

TEST(Snowflake, RowsOfAChosenSlotGetIt) {
  Rig rig;
  const SteeredStart start(permit_range(128, 32, 127), 5);
  const std::vector<uint32_t> slots = {7, 7, 100, 0, 127, 127, 3};
  const auto ids = rig.draw_slots(start, slots);
  ASSERT_EQ(ids.size(), slots.size());
  EXPECT_TRUE(strictly_ascending(ids));
  for (size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(ids[i] % 128, slots[i]) << "the map is not asked";
}

TEST(Snowflake, ChosenSlotsGoOnInTheNextTick) {
  Rig rig;
  const SteeredStart start = all_of(96);
  const std::vector<uint32_t> slots(100, 95);
  const auto ids = rig.draw_slots(start, slots);
  ASSERT_EQ(ids.size(), 100u);
  EXPECT_TRUE(strictly_ascending(ids));
  for (const uint64_t id : ids) EXPECT_EQ(id % 96, 95u);
  EXPECT_EQ(rig.counters.read().ticks_opened, 3u) << "42 or 43 of them a tick";
}

TEST(SnowflakeProperty, AnyScheduleOfMapsShapesAndClocksGivesAscendingIdsInTheirSlots) {
  EXPECT_TRUE(rc::check([] {
    Layout layout;
    layout.sequence_bits = *rc::gen::inRange<uint8_t>(4, 8);
    layout.worker_bits = 3;
    ClockSettings settings;
    settings.max_borrow_ticks = *rc::gen::inRange<uint32_t>(0, 4);
    Rig rig(layout, settings, *rc::gen::inRange<uint32_t>(0, 8));
    const auto slots = *rc::gen::inRange<uint32_t>(1, 17);
    uint64_t highest = 0;
    SeededRandom random(*rc::gen::arbitrary<uint64_t>());
    for (int turn = 0; turn < 60; ++turn) {
      std::vector<uint32_t> residues = {static_cast<uint32_t>(random.below(slots))};
      for (uint64_t i = random.below(slots); i > 0; --i)
        residues.push_back(static_cast<uint32_t>(random.below(slots)));
      const SteeredStart start(SteeringMap::permitting(slots, residues).value(), random.next());
      rig.step_ms(static_cast<int64_t>(random.below(8)) - 3);
      const size_t rows = 1 + random.below(40);
      std::vector<uint64_t> ids;
      switch (random.below(3)) {
        case 0:
          ids = rig.draw(start, rows);
          for (const uint64_t id : ids) RC_ASSERT(start.map.permits(id));
          break;
        case 1:
          ids = rig.draw_run(start, rows);
          if (rows <= rig.core.sequences() && !ids.empty()) RC_ASSERT(ids.back() - ids.front() == rows - 1);
          break;
        default: {
          std::vector<uint32_t> wanted;
          for (size_t i = 0; i < rows; ++i) wanted.push_back(static_cast<uint32_t>(random.below(slots)));
          ids = rig.draw_slots(start, wanted);
          for (size_t i = 0; i < ids.size(); ++i) RC_ASSERT(ids[i] % slots == wanted[i]);
        }
      }
      for (const uint64_t id : ids) {
        RC_ASSERT(id > highest);
        RC_ASSERT(rig.parts(id).worker == rig.core.base_of(0) >> layout.sequence_bits);
        highest = id;
      }
    }
  }));
}

// Distinct ids of all threads, each of which calls `one_turn(random, ids)` on the same core.
template <typename Turn>
size_t distinct_from_threads(int threads, int turns, Turn one_turn) {
  std::vector<std::vector<uint64_t>> drawn(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      SeededRandom random(static_cast<uint64_t>(t));
      for (int i = 0; i < turns; ++i) one_turn(random, drawn[static_cast<size_t>(t)]);
    });
  for (auto& thread : running) thread.join();
  std::unordered_set<uint64_t> distinct;
  size_t total = 0;
  for (const auto& ids : drawn) {
    EXPECT_TRUE(strictly_ascending(ids)) << "each thread sees its ids rise";
    total += ids.size();
    distinct.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(distinct.size(), total);
  return distinct.size();
}

TEST(SnowflakeThreads, AnotherMapForEveryIdNeverRepeatsOne) {
  Rig rig;
  std::vector<std::unique_ptr<SteeredStart>> starts;
  SeededRandom random(9);
  for (int i = 0; i < 64; ++i) {
    std::vector<uint32_t> residues = {static_cast<uint32_t>(random.below(96))};
    for (int k = 0; k < 40; ++k) residues.push_back(static_cast<uint32_t>(random.below(96)));
    starts.push_back(
        std::make_unique<SteeredStart>(SteeringMap::permitting(96, residues).value(), random.next()));
  }
  const size_t ids = distinct_from_threads(4, 20'000, [&](SeededRandom& own, std::vector<uint64_t>& drawn) {
    const SteeredStart& start = *starts[own.below(starts.size())];
    std::vector<uint64_t> out(1 + own.below(3));
    LiveCounters counters;
    if (own.below(40) == 0)
      rig.clock.step_wall(std::chrono::milliseconds(static_cast<int64_t>(own.below(5)) - 1));
    const Draw draw = rig.core.draw(start, out, counters);
    for (uint32_t i = 0; i < draw.drawn; ++i) {
      EXPECT_TRUE(start.map.permits(out[i]));
      drawn.push_back(out[i]);
    }
  });
  EXPECT_GT(ids, 20'000u);
}

}  // namespace
}  // namespace evenkeel::idgen
