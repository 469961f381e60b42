// Runs of consecutive ids for multi-row INSERTs: where they start and where they break.
#include "idgen/run_start.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <rapidcheck.h>
#include <set>

#include "idgen/tests/snowflake_rig.h"

namespace evenkeel::idgen {
namespace {

SteeredStart all_of(uint32_t slots, uint64_t seed = 1) {
  return {SteeringMap::identity(slots).value(), seed};
}

bool consecutive(const std::vector<uint64_t>& ids) {
  for (size_t i = 1; i < ids.size(); ++i)
    if (ids[i] != ids[i - 1] + 1) return false;
  return true;
}

TEST(Run, IsConsecutiveInsideOneTick) {
  Rig rig;
  const SteeredStart start = all_of(128);
  for (int i = 0; i < 500; ++i) {
    const auto ids = rig.draw_run(start, 100);
    ASSERT_EQ(ids.size(), 100u);
    ASSERT_TRUE(consecutive(ids));
    ASSERT_EQ(rig.parts(ids.front()).tick, rig.parts(ids.back()).tick);
    rig.advance_ms(i % 2);
  }
  EXPECT_EQ(rig.counters.read().broken_batches, 0u);
}

TEST(Run, ThatDoesNotFitTheRestOfATickStartsInTheNext) {
  Rig rig;
  const SteeredStart start = all_of(1);
  rig.draw(start, 4'000);
  const auto ids = rig.draw_run(start, 97);
  EXPECT_TRUE(consecutive(ids));
  EXPECT_EQ(rig.parts(ids.front()).tick, rig.now_tick() + 1);
}

TEST(Run, OfAWholeTickFits) {
  Rig rig;
  const SteeredStart start = all_of(128);
  const auto ids = rig.draw_run(start, 4096);
  EXPECT_EQ(ids.size(), 4096u);
  EXPECT_TRUE(consecutive(ids));
  EXPECT_EQ(rig.parts(ids.front()).sequence, 0u);
}

TEST(Run, LongerThanATickBreaksThereAndIsCounted) {
  Rig rig;
  const SteeredStart start = all_of(128);
  const auto ids = rig.draw_run(start, 10'000);
  ASSERT_EQ(ids.size(), 10'000u);
  EXPECT_TRUE(strictly_ascending(ids));
  std::map<uint64_t, size_t> rows_in_tick;
  for (const uint64_t id : ids) ++rows_in_tick[rig.parts(id).tick];
  EXPECT_EQ(rows_in_tick.size(), 3u);
  EXPECT_EQ(rig.counters.read().broken_batches, 1u);
}

TEST(Run, LongerThanMayBeBorrowedComesInParts) {
  ClockSettings settings;
  settings.max_borrow_ticks = 1;
  Rig rig({}, settings);
  const SteeredStart start = all_of(1);
  std::vector<uint64_t> ids = rig.draw_run(start, 20'000);
  EXPECT_EQ(ids.size(), 8192u);
  EXPECT_EQ(rig.last.stop, Draw::Stop::wait);
  EXPECT_EQ(rig.last.tick, rig.now_tick() + 1);
  int waits = 1;
  for (; ids.size() < 20'000; ++waits) {
    rig.advance_ms(1);
    const auto more = rig.draw_run(start, 20'000 - ids.size());
    EXPECT_EQ(more.size(), std::min<size_t>(4096, 20'000 - ids.size()))
        << "one more unit with each millisecond";
    ids.insert(ids.end(), more.begin(), more.end());
  }
  EXPECT_EQ(waits, 4);
  EXPECT_EQ(ids.size(), 20'000u);
  EXPECT_TRUE(strictly_ascending(ids));
}

TEST(Run, StaysOnPermittedSlotsWhereItFits) {
  Rig rig;
  const SteeredStart start(permit_range(128, 32, 127), 3);
  std::set<uint64_t> starts;
  for (int i = 0; i < 2'000; ++i) {
    rig.advance_ms(2);
    const auto ids = rig.draw_run(start, 10);
    for (const uint64_t id : ids) ASSERT_GE(id % 128, 32u);
    starts.insert(ids.front() % 128);
  }
  EXPECT_EQ(starts.size(), 87u) << "every start from 32 to 118";
  EXPECT_EQ(rig.counters.read().rows_outside_map, 0u);
}

TEST(Run, CountsTheRowsItCouldNotKeepOnTheMap) {
  Rig rig;
  const SteeredStart start(permit_range(128, 32, 127), 3);
  rig.draw_run(start, 100);
  EXPECT_EQ(rig.counters.read().rows_outside_map, 4u) << "96 of 100 fit";
}

TEST(Run, GoesWhereTheSummedDeficitIsLargest) {
  Rig rig;
  const SteeredStart start = all_of(128);
  std::vector<uint64_t> deficits(128, 0);
  for (uint32_t slot = 60; slot < 70; ++slot) deficits[slot] = 50;
  deficits[3] = 450;  // one very short slot outweighs eight, but not ten
  for (int i = 0; i < 50; ++i) {
    rig.advance_ms(i % 3);
    const auto eight = rig.draw_run(start, 8, {deficits, {}});
    EXPECT_LT((3 + 128 - eight.front() % 128) % 128, 8u) << "slot 3 is one of the eight";
    const auto ten = rig.draw_run(start, 10, {deficits, {}});
    EXPECT_EQ(ten.front() % 128, 60u);
  }
}

TEST(Run, EvensOutWithDeficitsFromItsOwnCounts) {
  Rig rig;
  const SteeredStart start = all_of(128);
  std::vector<uint64_t> rows(128, 0);
  for (uint32_t slot = 0; slot < 32; ++slot) rows[slot] = 1'000;
  std::vector<uint64_t> deficits(128);
  for (int i = 0; i < 96 * 1'000 / 12; ++i) {
    rig.advance_ms(1);
    for (size_t slot = 0; slot < 128; ++slot) deficits[slot] = rows[slot] < 1'000 ? 1'000 - rows[slot] : 0;
    for (const uint64_t id : rig.draw_run(start, 12, {deficits, {}})) ++rows[id % 128];
  }
  const auto [least, most] = std::minmax_element(rows.begin(), rows.end());
  EXPECT_LE(*most - *least, 20u);
}

TEST(Run, BreaksTiesByFewerInstances) {
  Rig rig;
  const SteeredStart start = all_of(128);
  std::vector<uint16_t> instances(128);
  for (size_t slot = 0; slot < 128; ++slot) instances[slot] = static_cast<uint16_t>(slot / 32);
  const std::vector<uint64_t> deficits(128, 1);
  std::set<uint64_t> starts;
  for (int i = 0; i < 400; ++i) {
    rig.advance_ms(2);
    const auto ids = rig.draw_run(start, 20, {deficits, instances});
    EXPECT_EQ(instances[ids.front() % 128], instances[ids.back() % 128]);
    starts.insert(ids.front() % 128);
  }
  EXPECT_EQ(starts.size(), 4 * 13u) << "and of those, any";
}

TEST(RunProperty, TheChosenStartIsTheBestThereIs) {
  EXPECT_TRUE(rc::check([] {
    const auto slots = *rc::gen::inRange<uint32_t>(1, 24);
    const auto residues =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, slots)));
    const SteeringMap map = SteeringMap::permitting(slots, residues).value();
    const auto deficits = *rc::gen::container<std::vector<uint64_t>>(slots, rc::gen::inRange<uint64_t>(0, 5));
    const auto instances =
        *rc::gen::container<std::vector<uint16_t>>(slots, rc::gen::inRange<uint16_t>(0, 4));
    const auto base = *rc::gen::inRange<uint64_t>(0, 1'000'000);
    const auto earliest = *rc::gen::inRange<uint64_t>(0, 50);
    const auto latest = earliest + *rc::gen::inRange<uint64_t>(0, 50);
    const auto rows = *rc::gen::inRange<uint64_t>(1, 60);
    const auto lot = *rc::gen::inRange<uint64_t>(0, 7);
    const auto worth = [&](uint64_t first) {
      uint64_t gain = 0;
      std::set<uint16_t> touched;
      for (uint64_t id = base + first; id < base + first + rows; ++id) {
        gain += map.permits(id) ? deficits[id % slots] : 0;
        touched.insert(instances[id % slots]);
      }
      // Runs of a whole turn or more touch the same instances wherever they start.
      return std::pair(gain, rows >= map.period() ? 0 : -static_cast<int64_t>(touched.size()));
    };
    const uint64_t chosen = choose_run_start(map, base, earliest, latest, rows, {deficits, instances}, lot,
                                             *rc::gen::element(0, 7));
    RC_ASSERT(chosen >= earliest);
    RC_ASSERT(chosen <= latest);
    for (uint64_t other = earliest; other <= latest; ++other) RC_ASSERT(worth(other) <= worth(chosen));
  }));
}

}  // namespace
}  // namespace evenkeel::idgen
