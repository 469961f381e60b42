#include "idgen/segment/hybrid_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "idgen/layout.h"
#include "idgen/segment/memory_segment_store.h"
#include "idgen/segment/tests/segment_rig.h"

namespace evenkeel::idgen {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;
using Fault = MemorySegmentStore::Fault;

class HybridSourceTest : public ::testing::Test {
 protected:
  HybridSourceTest() : settings(testing::segment_settings(100)) { settings.kind = GeneratorKind::hybrid; }

  Result<std::unique_ptr<HybridSource>> open() {
    std::vector<std::unique_ptr<SegmentStore>> stores;
    stores.push_back(std::make_unique<testing::BorrowedStore>(store));
    if (settings.segment.allocators.size() > 1)
      stores.push_back(std::make_unique<testing::BorrowedStore>(second));
    return HybridSource::open(settings, std::move(stores), std::make_shared<DirectTicks>(clock), clock);
  }
  Result<uint64_t> one(KeyGenerator& generator) {
    uint64_t key = 0;
    EVENKEEL_ASSIGN(const auto drawn, generator.draw({}, std::span(&key, 1)));
    if (!drawn.complete()) return fail(internal_error("waits"));
    return key;
  }

  GeneratorSettings settings;
  ManualClock clock{1'790'000'000'000'000};
  MemorySegmentStore store;
  MemorySegmentStore second;
};

TEST_F(HybridSourceTest, ProcessesTakeNumbersOfTheirOwn) {
  std::set<uint32_t> workers;
  std::vector<std::unique_ptr<HybridSource>> sources;
  std::set<uint64_t> ids;
  for (int i = 0; i < 20; ++i) {
    sources.push_back(open().value());
    workers.insert(sources.back()->worker());
    KeyGenerator* generator = sources.back()->add_table("orders", 128).value();
    const uint64_t id = one(*generator).value();
    EXPECT_EQ(decompose(settings.layout, id).worker, sources.back()->worker());
    EXPECT_TRUE(ids.insert(id).second);
  }
  EXPECT_EQ(workers.size(), 20u);
}

TEST_F(HybridSourceTest, TheAllocatorsPrefixIsTheHighPartOfTheWorkerField) {
  settings = testing::segment_settings(100, 2);
  settings.kind = GeneratorKind::hybrid;
  store.set_fault(Fault::unreachable);
  const auto source = open().value();
  EXPECT_EQ(source->worker() >> 6, 1u) << "10 worker bits, 4 of prefix: the second store's";
}

TEST_F(HybridSourceTest, AStoreThatIsAwayForTenMinutesStopsNoId) {
  const auto source = open().value();
  KeyGenerator* generator = source->add_table("orders", 128).value();
  for (int minute = 0; minute < 9; ++minute) {
    clock.advance(minutes(1));
    EXPECT_TRUE(source->tend(clock.unix_millis()));
  }
  store.set_fault(Fault::unreachable);
  for (int minute = 0; minute < 10; ++minute) {
    clock.advance(minutes(1));
    static_cast<void>(source->tend(clock.unix_millis()));
    EXPECT_TRUE(one(*generator)) << minute;
  }
  clock.advance(minutes(30));
  EXPECT_THAT(one(*generator).error().message, HasSubstr("was not extended"));
  store.set_fault(Fault::none);
  EXPECT_TRUE(source->tend(clock.unix_millis()));
  EXPECT_TRUE(one(*generator)) << "nobody else has taken the number: it goes on";
}

TEST_F(HybridSourceTest, ALostAnswerIsFoundInTheRow) {
  const auto source = open().value();
  KeyGenerator* generator = source->add_table("orders", 128).value();
  for (int i = 0; i < 20; ++i) {
    clock.advance(minutes(5));
    // open_row() answers at first, then advance() does it and is not heard of.
    store.on_advance([this] { store.set_fault(Fault::answer_lost); });
    static_cast<void>(source->tend(clock.unix_millis()));
    store.on_advance({});
    store.set_fault(Fault::none);
    const Status again = source->tend(clock.unix_millis());
    EXPECT_TRUE(again) << again.error().message;
    EXPECT_TRUE(one(*generator));
  }
}

// Stopped for longer than it had reserved, while another took its number; then both go on.
TEST_F(HybridSourceTest, AStoppedHolderWakesBesideItsSuccessorAndNoIdComesTwice) {
  settings.layout.worker_bits = 1;
  settings.layout.time_bits = 41;
  const auto first = open().value();
  const auto other = open().value();
  EXPECT_THAT(open().error().message, HasSubstr("all 2 worker numbers are in use"));
  KeyGenerator* stopped = first->add_table("orders", 128).value();
  std::set<uint64_t> ids = {one(*stopped).value()};
  clock.advance(minutes(31));
  const auto successor = open().value();
  KeyGenerator* fresh = successor->add_table("orders", 128).value();
  for (int i = 0; i < 1'000; ++i) {
    clock.advance(std::chrono::milliseconds(1));
    if (const auto id = one(*fresh)) {
      EXPECT_TRUE(ids.insert(*id).second);
    }
    if (const auto id = one(*stopped)) {
      EXPECT_TRUE(ids.insert(*id).second);
    }
    if (i == 500 && first->worker() == successor->worker()) {
      EXPECT_THAT(first->tend(clock.unix_millis()).error().message, HasSubstr("restart it"));
    }
  }
  EXPECT_GE(ids.size(), 1'001u);
  EXPECT_EQ(one(*stopped).has_value(), first->worker() != successor->worker());
}

TEST_F(HybridSourceTest, ACleanEndFreesTheNumberAtOnceAndTheNextHolderStartsAbove) {
  settings.layout.worker_bits = 1;
  settings.layout.time_bits = 41;
  std::set<uint64_t> ids;
  for (int i = 0; i < 10; ++i) {
    const auto source = open();
    ASSERT_TRUE(source) << source.error().message;
    KeyGenerator* generator = (*source)->add_table("orders", 128).value();
    EXPECT_TRUE(ids.insert(one(*generator).value()).second);
    clock.advance(std::chrono::milliseconds(2));
    EXPECT_TRUE((*source)->close());
  }
}

// The clock of the next holder is behind: its number is not free yet.
TEST_F(HybridSourceTest, AnEarlierClockFindsNoNumberFreeThatWasUsedLater) {
  settings.layout.worker_bits = 1;
  settings.layout.time_bits = 41;
  {
    const auto a = open().value();
    const auto b = open().value();
    one(**a->add_table("orders", 128)).value();
    one(**b->add_table("orders", 128)).value();
    EXPECT_TRUE(a->close());
    EXPECT_TRUE(b->close());
  }
  clock.step_wall(-std::chrono::hours(1));
  EXPECT_THAT(open().error().message, HasSubstr("are in use"));
}

// All tables of the source share the number: the end gives back what none of them used.
TEST_F(HybridSourceTest, SeveralTablesEndTogether) {
  const auto source = open().value();
  KeyGenerator* orders = source->add_table("orders", 128).value();
  KeyGenerator* lines = source->add_table("lines", 4).value();
  const uint64_t early = one(*orders).value();
  clock.advance(minutes(1));
  const uint64_t late = one(*lines).value();
  EXPECT_TRUE(source->close());
  EXPECT_FALSE(one(*orders));
  EXPECT_FALSE(one(*lines));
  const auto number = decompose(settings.layout, late).worker;
  const auto row = store.row("ids/worker/" + std::to_string(number));
  EXPECT_EQ(row.max_id, decompose(settings.layout, late).tick);
  EXPECT_GT(row.max_id, decompose(settings.layout, early).tick);
}

TEST_F(HybridSourceTest, PartsWithAValueStandInEveryId) {
  settings.layout = *named_layout("business");
  settings.layout.worker_parts[0].value = 3;
  const auto source = open().value();
  KeyGenerator* generator = source->add_table("orders", 128).value();
  const uint32_t worker = decompose(settings.layout, one(*generator).value()).worker;
  EXPECT_EQ(worker >> 6, 3u);
  EXPECT_EQ(worker, source->worker());
}

TEST_F(HybridSourceTest, GenesAreCarried) {
  const auto source = open().value();
  KeyGenerator* generator = source->add_gene_table("lines", 96, Gene{GeneMethod::classes, 192}).value();
  const std::vector<uint32_t> genes = {5, 191, 0};
  std::vector<uint64_t> ids(3);
  EXPECT_TRUE(generator->draw({.rows = 3, .row_slots = genes}, ids)->complete());
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i] % 192, genes[i]);
}

class FixedProbe final : public ClockProbe {
 public:
  explicit FixedProbe(const bool& right) : right_(right) {}
  Result<ClockHealth> look() override { return ClockHealth{right_, 0, {}}; }

 private:
  const bool& right_;
};

TEST_F(HybridSourceTest, AWrongClockStopsIdsUntilItWasFoundRight) {
  settings.clock.watch.watched = true;
  settings.clock.watch.good_checks = 2;
  bool right = true;
  std::vector<std::unique_ptr<SegmentStore>> stores;
  stores.push_back(std::make_unique<testing::BorrowedStore>(store));
  const auto source = HybridSource::open(settings, std::move(stores), std::make_shared<DirectTicks>(clock),
                                         clock, std::make_unique<FixedProbe>(right))
                          .value();
  KeyGenerator* generator = source->add_table("orders", 128).value();
  EXPECT_TRUE(one(*generator));
  const auto tend_in_a_second = [&] {
    clock.advance(std::chrono::seconds(1));
    EXPECT_TRUE(source->tend(clock.unix_millis()));
  };
  right = false;
  tend_in_a_second();
  EXPECT_THAT(one(*generator).error().message, HasSubstr("not synchronised"));
  right = true;
  tend_in_a_second();
  EXPECT_FALSE(one(*generator));
  tend_in_a_second();
  EXPECT_TRUE(one(*generator));
  EXPECT_THAT(open().error().message, HasSubstr("without a probe"));
}

}  // namespace
}  // namespace evenkeel::idgen
