#include "idgen/segment/segment_generator.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "idgen/segment/tests/segment_rig.h"

namespace evenkeel::idgen {
namespace {

using ::testing::HasSubstr;
using testing::Process;
using testing::segment_settings;

class SegmentGeneratorTest : public ::testing::Test {
 protected:
  ManualClock clock;
  MemorySegmentStore store;
};

// The article's run: step 1000, the next segment fetched when 90 % are used, 2500 ids.
TEST_F(SegmentGeneratorTest, TheArticlesRunOf2500IdsAsksTheStoreThreeTimes) {
  Process process(segment_settings(1'000), {&store}, clock);
  for (uint64_t i = 1; i <= 2'500; ++i) {
    EXPECT_EQ(process.one(), i);
    if (i == 899) {
      EXPECT_EQ(store.interactions(), 1u);
    }
    if (i == 900) {
      EXPECT_EQ(store.interactions(), 2u) << "at 90 % used";
    }
    if (i == 1'899) {
      EXPECT_EQ(store.interactions(), 2u);
    }
  }
  EXPECT_EQ(store.interactions(), 3u);
  EXPECT_EQ(store.row(Process::tag).max_id - 2'500, 500u) << "what a crash would lose now";
}

// A crash at a random moment loses what was fetched and not used: (1.5 - ratio) * step in the mean.
TEST_F(SegmentGeneratorTest, ACrashLosesAsManyIdsAsTheArithmeticSays) {
  for (const double ratio : {0.9, 0.1}) {
    GeneratorSettings settings = segment_settings(1'000);
    settings.segment.prefetch_used_ratio = ratio;
    MemorySegmentStore fresh;
    Process process(settings, {&fresh}, clock);
    double lost = 0;
    constexpr int moments = 5'000;  // five whole segments: every point of a segment equally often
    for (uint64_t i = 1; i <= 1'000; ++i) process.one();
    for (uint64_t i = 1; i <= moments; ++i) {
      process.one();
      lost += static_cast<double>(fresh.row(Process::tag).max_id - 1'000 - i);
    }
    EXPECT_NEAR(lost / moments, (1.5 - ratio) * 1'000, 2.0) << "ratio " << ratio;
  }
}

TEST_F(SegmentGeneratorTest, FetchesEarlierWhenWhatIsLeftWouldNotLast) {
  Process process(segment_settings(1'000), {&store}, clock);
  // The store takes 20 ms, an id 1 ms: five times the latency is 100 ids' time, just what 90 % leave. At
  // 2 ids a ms it has to be 200.
  store.on_advance([this] { clock.advance(std::chrono::milliseconds(20)); });
  process.serve();
  uint64_t fetched_at = 0;
  for (uint64_t i = 1; i <= 1'000 && fetched_at == 0; ++i) {
    clock.advance(std::chrono::microseconds(500));
    process.one();
    if (store.interactions() == 2) fetched_at = i;
  }
  EXPECT_GE(fetched_at, 800u - 1'000 / 8);
  EXPECT_LE(fetched_at, 875u);
}

TEST_F(SegmentGeneratorTest, TheStepFollowsTheRateWithinItsBounds) {
  GeneratorSettings settings = segment_settings(1'000);
  settings.segment.step_min = 100;
  settings.segment.step_max = 5'000;
  Process process(settings, {&store}, clock);
  uint64_t last = 0;
  while (last < 40'000) last = process.one();
  EXPECT_EQ(store.row(Process::tag).step, 5'000u) << "as fast as can be";
  for (int i = 0; i < 60'000; ++i) {
    clock.advance(std::chrono::seconds(10));
    process.one();
  }
  EXPECT_EQ(store.row(Process::tag).step, 100u) << "an id in ten seconds";
}

TEST_F(SegmentGeneratorTest, ARestartGoesOnWithTheStepOfTheRow) {
  GeneratorSettings settings = segment_settings(1'000);
  settings.segment.step_max = 8'000;
  store.set_row(Process::tag, {500, 0, 4'000, 3});
  Process process(settings, {&store}, clock);
  EXPECT_EQ(process.one(), 501u);
  EXPECT_EQ(store.row(Process::tag).max_id, 4'500u);
}

TEST_F(SegmentGeneratorTest, ShuffledIdsAreTheWholeSegmentInAnotherOrder) {
  GeneratorSettings settings = segment_settings(1'000);
  settings.segment.shuffle = true;
  Process process(settings, {&store}, clock);
  std::vector<uint64_t> first_segment;
  std::vector<uint64_t> second_segment;
  for (int i = 0; i < 1'000; ++i) first_segment.push_back(process.one());
  for (int i = 0; i < 1'000; ++i) second_segment.push_back(process.one() - 1'000);
  EXPECT_NE(first_segment, second_segment) << "each segment has a key of its own";
  int ascents = 0;
  for (size_t i = 1; i < first_segment.size(); ++i) ascents += first_segment[i] == first_segment[i - 1] + 1;
  EXPECT_LT(ascents, 20) << "neighbours in time are not neighbours in number";
  for (auto* segment : {&first_segment, &second_segment}) {
    std::sort(segment->begin(), segment->end());
    for (size_t i = 0; i < segment->size(); ++i) ASSERT_EQ((*segment)[i], i + 1);
  }
}

TEST_F(SegmentGeneratorTest, AllocatorsWithPrefixesNeverMeet) {
  MemorySegmentStore second;
  const GeneratorSettings settings = segment_settings(100, 2);
  Process process(settings, {&store, &second}, clock);
  std::set<uint64_t> ids;
  for (int i = 0; i < 250; ++i) ids.insert(process.one());
  store.set_fault(MemorySegmentStore::Fault::unreachable);
  for (int i = 0; i < 250; ++i) ids.insert(process.one());
  EXPECT_EQ(ids.size(), 500u);
  EXPECT_EQ(*ids.begin(), 1u);
  EXPECT_EQ(*ids.lower_bound(uint64_t{1} << 59), (uint64_t{1} << 59) + 1) << "prefix 1, number 1";
  store.set_fault(MemorySegmentStore::Fault::none);
  clock.advance(std::chrono::seconds(2));
  const uint64_t before = store.row(Process::tag).max_id;
  for (int i = 0; i < 300; ++i) ids.insert(process.one());
  EXPECT_GT(store.row(Process::tag).max_id, before) << "back, and preferred again";
  EXPECT_EQ(ids.size(), 800u);
}

TEST_F(SegmentGeneratorTest, ConsecutiveRunsStayInOneSegment) {
  GeneratorSettings settings = segment_settings(100);
  settings.batch = BatchMode::consecutive;
  settings.segment.step_max = 10'000;
  Process process(settings, {&store}, clock);
  std::set<uint64_t> all;
  for (const uint32_t rows : {30U, 60U, 30U, 500U, 7U, 5'000U, 3U}) {
    std::vector<uint64_t> keys(rows);
    uint32_t drawn = 0;
    for (int attempt = 0; drawn < rows && attempt < 4; ++attempt) {
      const auto got = process.generator->draw({.rows = rows - drawn}, std::span(keys).subspan(drawn));
      ASSERT_TRUE(got) << got.error().message;
      drawn += got->drawn;
      if (process.wanted) process.serve();
    }
    ASSERT_EQ(drawn, rows);
    for (uint32_t i = 0; i < rows; ++i) EXPECT_EQ(keys[i], keys[0] + i) << rows << " rows";
    all.insert(keys.begin(), keys.end());
  }
  EXPECT_EQ(all.size(), 5'630u);
  EXPECT_EQ(process.generator->counters().broken_batches, 0u);
}

TEST_F(SegmentGeneratorTest, ABatchThatNoSegmentHoldsIsBrokenAndCounted) {
  GeneratorSettings settings = segment_settings(100);
  settings.batch = BatchMode::consecutive;
  Process process(settings, {&store}, clock);
  std::vector<uint64_t> keys(250);
  uint32_t drawn = 0;
  for (int attempt = 0; drawn < 250 && attempt < 6; ++attempt) {
    const auto got = process.generator->draw({.rows = 250 - drawn}, std::span(keys).subspan(drawn));
    ASSERT_TRUE(got);
    drawn += got->drawn;
    process.serve();
  }
  EXPECT_EQ(drawn, 250u);
  EXPECT_GE(process.generator->counters().broken_batches, 1u);
  EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), 250u);
}

TEST_F(SegmentGeneratorTest, SteeringAndSlotsApplyWithinSegments) {
  for (const bool shuffle : {false, true}) {
    GeneratorSettings settings = segment_settings(1'000);
    settings.segment.shuffle = shuffle;
    MemorySegmentStore fresh;
    Process process(settings, {&fresh}, clock, 128);
    process.serve();
    std::vector<uint32_t> permitted(96);
    std::iota(permitted.begin(), permitted.end(), 32);
    ASSERT_TRUE(process.generator->set_map(SteeringMap::permitting(128, permitted).value()));
    std::set<uint64_t> ids;
    std::map<uint64_t, int> rows_of_slot;
    for (int i = 0; i < 9'600; ++i) {
      const uint64_t id = process.one();
      ASSERT_TRUE(ids.insert(id).second);
      ASSERT_GE(id % 128, 32u);
      ++rows_of_slot[id % 128];
    }
    EXPECT_EQ(rows_of_slot.size(), 96u);
    for (const auto& [slot, rows] : rows_of_slot) EXPECT_NEAR(rows, 100, 10) << "slot " << slot;
    const std::vector<uint32_t> slots = {5, 5, 90};
    std::vector<uint64_t> keys(3);
    uint32_t drawn = 0;
    for (int attempt = 0; drawn < 3 && attempt < 4; ++attempt) {
      const auto got = process.generator->draw(
          {.rows = 3 - drawn, .row_slots = std::span(slots).subspan(drawn)}, std::span(keys).subspan(drawn));
      ASSERT_TRUE(got);
      drawn += got->drawn;
      process.serve();
    }
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(keys[i] % 128, slots[i]);
      EXPECT_TRUE(ids.insert(keys[i]).second);
    }
  }
}

TEST_F(SegmentGeneratorTest, AMapThatDoesNotSuitIsRefused) {
  Process process(segment_settings(100), {&store}, clock, 128);
  EXPECT_THAT(process.generator->set_map(SteeringMap::identity(64).value()).error().message,
              HasSubstr("a steering map of 64 slots for a table of 128"));
  std::vector<uint32_t> weights(128, 2);
  weights[0] = 1;
  EXPECT_THAT(process.generator->set_map(SteeringMap::weighted(weights, 2).value()).error().message,
              HasSubstr("raise step_min"));
}

TEST_F(SegmentGeneratorTest, AnExplicitIdIsNeverDrawnLater) {
  for (const bool shuffle : {false, true}) {
    for (const uint64_t id : {uint64_t{50}, uint64_t{150}, uint64_t{1'000'000}}) {
      GeneratorSettings settings = segment_settings(100);
      settings.segment.shuffle = shuffle;
      MemorySegmentStore fresh;
      Process process(settings, {&fresh}, clock);
      std::set<uint64_t> before;
      for (int i = 0; i < 10; ++i) before.insert(process.one());
      if (before.count(id) != 0) continue;
      process.serve();
      ASSERT_TRUE(process.admit(id));
      std::set<uint64_t> after;
      for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(after.insert(process.one()).second);
      EXPECT_EQ(after.count(id), 0u) << id << (shuffle ? " shuffled" : "");
    }
  }
}

TEST_F(SegmentGeneratorTest, AnImportOfExplicitIdsAsksTheStoreOncePerStep) {
  Process process(segment_settings(1'000), {&store}, clock);
  process.one();
  const uint64_t before = store.interactions();
  for (uint64_t id = 5'000; id < 9'000; ++id) ASSERT_TRUE(process.admit(id));
  EXPECT_LE(store.interactions() - before, 6u);
  EXPECT_GE(store.row(Process::tag).max_id, 8'999u);
}

// An id below the row's maximum may lie in a segment that another process holds or returns.
TEST_F(SegmentGeneratorTest, AnExplicitIdIsNotReturnedByAnotherProcess) {
  const GeneratorSettings settings = segment_settings(1'000);
  Process holder(settings, {&store}, clock);
  for (int i = 0; i < 10; ++i) holder.one();
  {
    Process other(settings, {&store}, clock);
    ASSERT_TRUE(other.admit(800));
    EXPECT_EQ(store.row(Process::tag).explicit_id, 1'000u);
  }
  holder.end();
  Process next(settings, {&store}, clock);
  EXPECT_GT(next.one(), 1'000u) << "800 is a row of the table";
}

TEST_F(SegmentGeneratorTest, AnExplicitIdAtTheEndOfTheNumbersIsRefused) {
  Process process(segment_settings(100), {&store}, clock);
  const uint64_t id = (uint64_t{1} << 63) - 1;
  const auto refused = process.generator->admit_explicit(std::span(&id, 1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("leaves no room"));
  const uint64_t nobody_makes_it = uint64_t{1} << 63;
  EXPECT_EQ(process.generator->admit_explicit(std::span(&nobody_makes_it, 1))->micros, 0);
}

TEST_F(SegmentGeneratorTest, ACleanEndGivesBackWhatWasNotUsed) {
  const GeneratorSettings settings = segment_settings(1'000);
  {
    Process process(settings, {&store}, clock);
    for (int i = 0; i < 950; ++i) process.one();
    EXPECT_EQ(store.row(Process::tag).max_id, 2'000u);
    process.end();
  }
  EXPECT_EQ(store.row(Process::tag).max_id, 950u);
  Process next(settings, {&store}, clock);
  EXPECT_EQ(next.one(), 951u);
}

TEST_F(SegmentGeneratorTest, AnEndGivesBackNothingThatAnotherHasGoneOnFrom) {
  const GeneratorSettings settings = segment_settings(1'000);
  Process first(settings, {&store}, clock);
  first.one();
  Process second(settings, {&store}, clock);
  EXPECT_EQ(second.one(), 1'001u);
  first.end();
  EXPECT_EQ(store.row(Process::tag).max_id, 2'000u);
  second.end();
  EXPECT_EQ(store.row(Process::tag).max_id, 1'001u);
}

TEST_F(SegmentGeneratorTest, AThreadsBlockIsDroppedWhenAnExplicitIdFallsIntoIt) {
  GeneratorSettings settings = segment_settings(1'000);
  settings.segment.thread_block = 64;
  Process process(settings, {&store}, clock);
  EXPECT_EQ(process.one(), 1u);
  EXPECT_EQ(process.one(), 2u);
  ASSERT_TRUE(process.admit(30));
  EXPECT_EQ(process.one(), 65u);
}

TEST_F(SegmentGeneratorTest, ClosedMeansClosed) {
  Process process(segment_settings(100), {&store}, clock);
  process.one();
  process.generator->close();
  uint64_t key = 0;
  EXPECT_THAT(process.generator->draw({}, std::span(&key, 1)).error().message, HasSubstr("was closed"));
}

TEST(SegmentSettings, EachMistakeHasItsSentence) {
  SegmentSettings settings = segment_settings(1'000).segment;
  EXPECT_TRUE(check_segment(settings, true).empty());
  settings.shuffle = true;
  EXPECT_THAT(check_segment(settings, true).at(0), HasSubstr("batch: steered"));
  EXPECT_TRUE(check_segment(settings, false).empty());
  settings.allocators.push_back(settings.allocators.front());
  EXPECT_THAT(check_segment(settings, false).at(0), HasSubstr("two allocators have prefix 0"));
  settings.allocators.back().prefix = 1;
  EXPECT_THAT(check_segment(settings, false).at(0), HasSubstr("prefix 1 does not fit prefix_bits 0"));
  settings.allocators.clear();
  settings.step_min = 2'000;
  settings.prefetch_used_ratio = 0;
  EXPECT_EQ(check_segment(settings, false).size(), 3u);
  settings.id_bits = 64;
  EXPECT_THAT(check_segment(settings, false).at(0), HasSubstr("allowed are 32 to 63"));
}

}  // namespace
}  // namespace evenkeel::idgen
