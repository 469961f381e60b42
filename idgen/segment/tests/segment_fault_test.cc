// Segment mode when stores die, go back, are reset or answer into nothing. No id twice, whatever happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_set>

#include "base/random.h"
#include "idgen/segment/segment_source.h"
#include "idgen/segment/tests/segment_rig.h"

namespace evenkeel::idgen {
namespace {

using ::testing::HasSubstr;
using testing::Process;
using testing::segment_settings;
using Fault = MemorySegmentStore::Fault;

class SegmentFaultTest : public ::testing::Test {
 protected:
  SegmentFaultTest() { clock.advance(std::chrono::seconds(1)); }

  ManualClock clock;
  MemorySegmentStore store;
};

TEST_F(SegmentFaultTest, IsReadyWhileAnIdIsAtHand) {
  Process process(segment_settings(100), {&store}, clock);
  ASSERT_FALSE(process.generator->ready());
  EXPECT_THAT(process.generator->ready().error().message, HasSubstr("no answer from memory:3306 yet"));
  process.serve();
  EXPECT_TRUE(process.generator->ready());
  EXPECT_EQ(process.generator->counters().ids, 0u) << "nothing is drawn for it";
  store.set_fault(Fault::unreachable);
  while (process.at_hand()) process.serve();
  const Status used_up = process.generator->ready();
  ASSERT_FALSE(used_up);
  EXPECT_EQ(used_up.error().kind, ErrorKind::registry);
  EXPECT_THAT(used_up.error().message, HasSubstr("its segment is used up"));
  EXPECT_THAT(used_up.error().message, HasSubstr("unreachable"));
  store.set_fault(Fault::none);
  clock.advance(std::chrono::seconds(10));
  process.serve();
  EXPECT_TRUE(process.generator->ready());
  process.end();
  EXPECT_FALSE(process.generator->ready());
}

TEST_F(SegmentFaultTest, AStoreThatDiesInMidPrefetchStopsNothingUntilTheSegmentEnds) {
  Process process(segment_settings(1'000), {&store}, clock);
  for (int i = 0; i < 899; ++i) process.one();
  store.set_fault(Fault::unreachable);
  for (uint64_t i = 900; i <= 1'000; ++i) {
    EXPECT_EQ(process.at_hand(), i) << "the rest of the segment serves";
    process.serve();
  }
  uint64_t key = 0;
  const auto waiting = process.generator->draw({}, std::span(&key, 1));
  ASSERT_TRUE(waiting) << "the store may come back at once";
  EXPECT_FALSE(waiting->complete());
  EXPECT_GE(waiting->wait.micros, 1'000);
  EXPECT_LE(waiting->wait.micros, 50'000);
  clock.advance(std::chrono::milliseconds(5'100));
  process.serve();
  const auto refused = process.generator->draw({}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "no key for table orders (generator ids): its segments are used up and no store has answered for "
            "5100 ms (segments in memory: unreachable); inserts go on by themselves when one answers");
  store.set_fault(Fault::none);
  clock.advance(std::chrono::seconds(2));
  process.serve();
  EXPECT_EQ(process.at_hand(), 1'001u) << "by itself";
}

TEST_F(SegmentFaultTest, ABurstOfMoreThanTwoSegmentsComesInPartsAndRepeatsNothing) {
  Process process(segment_settings(100), {&store}, clock);
  std::vector<uint64_t> keys(1'250);
  uint32_t done = 0;
  int rounds = 0;
  while (done < keys.size() && ++rounds < 50) {
    if (process.wanted) process.serve();
    const auto rest = std::span(keys).subspan(done);
    const auto drawn = process.generator->draw({.rows = static_cast<uint32_t>(rest.size())}, rest);
    ASSERT_TRUE(drawn) << drawn.error().message;
    EXPECT_LE(drawn->drawn, 200u) << "no more than two segments are at hand";
    done += drawn->drawn;
  }
  ASSERT_EQ(done, keys.size()) << "after " << rounds << " rounds";
  for (size_t i = 1; i < keys.size(); ++i) ASSERT_GT(keys[i], keys[i - 1]);
}

TEST_F(SegmentFaultTest, ALostAnswerCostsASegmentAndDoublesNone) {
  Process process(segment_settings(100), {&store}, clock);
  std::set<uint64_t> ids;
  for (int i = 0; i < 95; ++i) ids.insert(process.one());
  ids.insert(process.one());
  Process other(segment_settings(100), {&store}, clock);
  SeededRandom random(11);
  for (int i = 0; i < 5'000; ++i) {
    store.set_fault(random.below(3) == 0 ? Fault::answer_lost : Fault::none);
    clock.advance(std::chrono::milliseconds(30));
    Process& one = random.below(2) == 0 ? process : other;
    one.serve();
    if (const auto id = one.at_hand()) {
      EXPECT_TRUE(ids.insert(*id).second) << *id;
    }
  }
  EXPECT_GT(ids.size(), 1'000u);
}

TEST_F(SegmentFaultTest, AStoreThatFailedIsNotAskedAgainAtOnce) {
  Process process(segment_settings(100), {&store}, clock);
  process.serve();
  store.set_fault(Fault::unreachable);
  while (process.at_hand()) process.serve();
  const uint64_t before = store.interactions();
  store.set_fault(Fault::answer_lost);
  for (int i = 0; i < 200; ++i) {
    clock.advance(std::chrono::milliseconds(10));
    process.at_hand();
    process.serve();
  }
  EXPECT_LE(store.interactions() - before, 10u) << "two seconds, pauses of 20 ms doubling up to a second";
}

TEST_F(SegmentFaultTest, AStoreThatWentBackIsRefusedUntilAnOperatorRepairsIt) {
  Process process(segment_settings(100), {&store}, clock);
  std::set<uint64_t> ids;
  for (int i = 0; i < 150; ++i) ids.insert(process.one());
  SegmentRow row = store.row(Process::tag);
  // A failover to a replica that was behind.
  SegmentRow behind = row;
  behind.max_id = 0;
  store.set_row(Process::tag, behind);
  for (int i = 0; i < 200; ++i) {
    process.serve();
    if (const auto id = process.at_hand()) {
      EXPECT_TRUE(ids.insert(*id).second) << *id;
    }
  }
  clock.advance(std::chrono::seconds(6));
  process.serve();
  uint64_t key = 0;
  const auto refused = process.generator->draw({}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("went back"));
  EXPECT_THAT(refused.error().message, HasSubstr("raise epoch"));
  row.max_id = 10'000;
  row.epoch += 1;
  store.set_row(Process::tag, row);
  for (int i = 0; i < 5; ++i) {
    clock.advance(std::chrono::seconds(2));
    process.serve();
  }
  EXPECT_EQ(process.at_hand(), 10'001u);
}

TEST_F(SegmentFaultTest, AResetRowVoidsTheSegmentsFetchedBefore) {
  Process process(segment_settings(100), {&store}, clock);
  for (int i = 0; i < 80; ++i) process.one();
  store.set_row(Process::tag, {1'000, 0, 0, 2});
  for (uint64_t id = 81; id <= 90; ++id) EXPECT_EQ(process.one(), id) << "until the store is asked again";
  EXPECT_EQ(process.one(), 1'001u);
  process.generator->close();
  EXPECT_TRUE(process.loader.give_back());
  EXPECT_EQ(store.row(Process::tag).epoch, 2u);
}

TEST_F(SegmentFaultTest, AnExOwnerNeverWritesBack) {
  Process process(segment_settings(100), {&store}, clock);
  process.one();
  store.set_row(Process::tag, {100, 0, 100, 9});  // the same maximum, another epoch
  process.end();
  EXPECT_EQ(store.row(Process::tag), (SegmentRow{100, 0, 100, 9}));
}

TEST_F(SegmentFaultTest, AnExplicitIdWaitsForTheStoreAndEndsInAnError) {
  Process process(segment_settings(100), {&store}, clock);
  process.one();
  store.set_fault(Fault::unreachable);
  const uint64_t id = 5'000;
  const auto waiting = process.generator->admit_explicit(std::span(&id, 1));
  ASSERT_TRUE(waiting);
  EXPECT_GT(waiting->micros, 0);
  process.serve();
  clock.advance(std::chrono::seconds(6));
  const auto refused = process.generator->admit_explicit(std::span(&id, 1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the store must know of an explicit id"));
  store.set_fault(Fault::none);
  process.serve();
  ASSERT_TRUE(process.admit(id));
  EXPECT_GE(store.row(Process::tag).max_id, id);
}

TEST_F(SegmentFaultTest, NumbersThatAreUsedUpAreAnErrorThatSaysSo) {
  GeneratorSettings settings = segment_settings(100);
  settings.segment.id_bits = 32;
  store.set_row(Process::tag, {(uint64_t{1} << 32) - 150, 0, 0, 1});
  Process process(settings, {&store}, clock);
  std::set<uint64_t> ids;
  for (int i = 0; i < 100; ++i) {
    process.serve();
    ids.insert(*process.at_hand());
  }
  EXPECT_LT(*ids.rbegin(), uint64_t{1} << 32);
  process.at_hand();
  clock.advance(std::chrono::seconds(6));
  process.serve();
  uint64_t key = 0;
  const auto refused = process.generator->draw({}, std::span(&key, 1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no numbers left"));
}

// Real threads on a real clock, with a store that fails and answers late: a burst of far more ids than two
// segments hold.
void draw_with_64_threads(GeneratorSettings settings, bool explicit_ids) {
  const SystemClock clock;
  MemorySegmentStore store;
  store.on_advance([] { std::this_thread::yield(); });
  Process process(settings, {&store}, clock, 128);
  process.with_thread = true;
  process.loader.start_thread();
  ASSERT_TRUE(process.loader.await_first(*process.generator));
  constexpr int threads = 64;
  constexpr size_t ids_each = 5'000;
  std::vector<std::vector<uint64_t>> drawn(threads);
  std::vector<std::thread> running;
  std::mutex mutex;
  std::set<uint64_t> admitted;
  for (int number = 0; number < threads; ++number)
    running.emplace_back([&, number] {
      SeededRandom random(static_cast<uint64_t>(number) + 1);
      auto& ids = drawn[static_cast<size_t>(number)];
      while (ids.size() < ids_each) {
        std::vector<uint64_t> keys(1 + random.below(3) * random.below(40));
        const auto got = process.generator->draw({.rows = static_cast<uint32_t>(keys.size())}, keys);
        ASSERT_TRUE(got) << got.error().message;
        ids.insert(ids.end(), keys.begin(), keys.begin() + got->drawn);
        if (!got->complete()) std::this_thread::yield();
        if (!explicit_ids || random.below(500) != 0 || ids.empty()) continue;
        // Somewhere ahead: in a segment at hand, in one on its way, or beyond.
        const uint64_t id = ids.back() + 1 + random.below(3'000);
        auto wait = process.generator->admit_explicit(std::span(&id, 1));
        while (wait && wait->micros > 0) {
          std::this_thread::yield();
          wait = process.generator->admit_explicit(std::span(&id, 1));
        }
        ASSERT_TRUE(wait) << wait.error().message;
      }
    });
  for (auto& thread : running) thread.join();
  std::unordered_set<uint64_t> distinct;
  size_t all = 0;
  for (const auto& ids : drawn) {
    distinct.insert(ids.begin(), ids.end());
    all += ids.size();
  }
  EXPECT_EQ(distinct.size(), all);
  EXPECT_EQ(process.generator->counters().ids, all);
  process.end();
}

TEST(SegmentThreads, C10_64ThreadsDrawDistinctIds) { draw_with_64_threads(segment_settings(1'000), false); }

TEST(SegmentThreads, C10_64ThreadsDrawDistinctShuffledIds) {
  GeneratorSettings settings = segment_settings(1'000);
  settings.segment.shuffle = true;
  draw_with_64_threads(settings, false);
}

TEST(SegmentThreads, C10_64ThreadsDrawDistinctIdsFromBlocks) {
  GeneratorSettings settings = segment_settings(1'000);
  settings.segment.thread_block = 32;
  draw_with_64_threads(settings, false);
}

TEST(SegmentThreads, C10_64ThreadsDrawDistinctConsecutiveRunsAmongExplicitIds) {
  GeneratorSettings settings = segment_settings(1'000);
  settings.batch = BatchMode::consecutive;
  draw_with_64_threads(settings, true);
}

TEST(SegmentSource, ATableWhoseStoreDoesNotAnswerIsRefusedAtStart) {
  const SystemClock clock;
  MemorySegmentStore store;
  store.set_fault(Fault::unreachable);
  const auto open = [&](const SegmentAllocator&, int64_t) -> std::unique_ptr<SegmentStore> {
    return std::make_unique<testing::BorrowedStore>(store);
  };
  const auto source = SegmentSource::open(segment_settings(100), open, clock);
  EXPECT_EQ(source->add_table("shop.orders", 8).error().message, "segments in memory: unreachable");
  EXPECT_THAT(source->tend(0).error().message,
              HasSubstr("generator ids, ids/shop.orders: segments in memory"));
  store.set_fault(Fault::none);
  const auto generator = source->add_table("shop.lines", 8);
  ASSERT_TRUE(generator) << generator.error().message;
  uint64_t key = 0;
  ASSERT_TRUE((*generator)->draw({}, std::span(&key, 1))->complete());
  ASSERT_TRUE(source->close());
  EXPECT_EQ(store.row("ids/shop.lines").max_id, 1u);
}

}  // namespace
}  // namespace evenkeel::idgen
