#include "idgen/segment/segment_cursor.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace evenkeel::idgen {
namespace {

TEST(SegmentCursor, NothingCanBeTakenBeforeASegmentIsInUse) {
  SegmentCursor cursor;
  TakenOffsets taken;
  SegmentView segment;
  uint32_t offset = 0;
  EXPECT_FALSE(cursor.take(1, taken));
  EXPECT_FALSE(cursor.peek(segment, offset));
}

TEST(SegmentCursor, TakesInOrderAndTheLastTakeMayBeShort) {
  SegmentCursor cursor;
  cursor.install(1'001, 10, 0, 9);
  TakenOffsets taken;
  ASSERT_TRUE(cursor.take(4, taken));
  EXPECT_EQ(taken.segment.first, 1'001u);
  EXPECT_EQ(taken.from, 0u);
  ASSERT_TRUE(cursor.take(4, taken));
  EXPECT_FALSE(taken.passed_mark);
  ASSERT_TRUE(cursor.take(4, taken));
  EXPECT_EQ(taken.from, 8u);
  EXPECT_EQ(taken.count, 2u);
  EXPECT_TRUE(taken.passed_mark);
  EXPECT_FALSE(cursor.take(1, taken));
}

TEST(SegmentCursor, InstallSaysHowMuchOfTheOldSegmentWasTaken) {
  SegmentCursor cursor;
  cursor.install(1, 100, 0, 90);
  TakenOffsets taken;
  cursor.take(7, taken);
  EXPECT_EQ(cursor.install(501, 10, 0, 9), 7u);
  ASSERT_TRUE(cursor.take(1, taken));
  EXPECT_EQ(taken.segment.first, 501u);
}

TEST(SegmentCursor, TakeExactlyFailsWhenSomebodyWasFaster) {
  SegmentCursor cursor;
  cursor.install(1, 100, 0, 90);
  SegmentView segment;
  uint32_t offset = 0;
  TakenOffsets taken;
  ASSERT_TRUE(cursor.peek(segment, offset));
  cursor.take(1, taken);
  EXPECT_FALSE(cursor.take_exactly(segment, offset, 5, taken));
  ASSERT_TRUE(cursor.peek(segment, offset));
  ASSERT_TRUE(cursor.take_exactly(segment, offset, 5, taken));
  EXPECT_EQ(taken.from, 1u);
  EXPECT_EQ(taken.count, 4u);
  cursor.install(201, 100, 0, 90);
  EXPECT_FALSE(cursor.take_exactly(segment, 5, 6, taken)) << "the offset is the same, the segment is not";
}

TEST(SegmentCursor, AMarkThatWasPassedMeanwhileIsReported) {
  SegmentCursor cursor;
  cursor.install(1, 100, 0, 10);
  TakenOffsets taken;
  cursor.take(20, taken);
  EXPECT_TRUE(cursor.move_mark(cursor.generation(), 15));
  EXPECT_FALSE(cursor.move_mark(cursor.generation(), 25));
  cursor.take(5, taken);
  EXPECT_TRUE(taken.passed_mark);
}

// Segments are exchanged as fast as possible under threads that take: every offset goes to one of them at
// most.
TEST(SegmentCursor, NoOffsetGoesToTwoThreads) {
  SegmentCursor cursor;
  constexpr uint32_t segments = 20'000;
  constexpr uint32_t count = 64;
  std::vector<std::vector<uint64_t>> taken_by(4);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (auto& ids : taken_by)
    threads.emplace_back([&] {
      TakenOffsets taken;
      while (!stop.load()) {
        if (!cursor.take(3, taken)) continue;
        for (uint32_t i = 0; i < taken.count; ++i) ids.push_back(taken.segment.first + taken.from + i);
      }
    });
  for (uint32_t i = 0; i < segments; ++i) {
    cursor.install(uint64_t{i} * count, count, 0, count);
    if (i % 16 == 0) std::this_thread::yield();
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  std::vector<uint64_t> all;
  for (const auto& ids : taken_by) all.insert(all.end(), ids.begin(), ids.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_FALSE(all.empty());
  EXPECT_LT(all.back(), uint64_t{segments} * count);
}

}  // namespace
}  // namespace evenkeel::idgen
