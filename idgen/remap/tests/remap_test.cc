#include "idgen/remap/remap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "base/random.h"
#include "idgen/tests/remap_vectors.h"

namespace evenkeel::idgen {
namespace {

using ::testing::HasSubstr;

SteeringMap permitting(uint32_t slots, uint32_t first, uint32_t last) {
  std::vector<uint32_t> residues(last - first + 1);
  std::iota(residues.begin(), residues.end(), first);
  return SteeringMap::permitting(slots, residues).value();
}

// Every permitted sequence of a unit, found by asking for each.
std::vector<uint64_t> permitted(const Layout& layout, const SteeringMap& map, uint64_t base) {
  std::vector<uint64_t> ids;
  for (uint64_t id = base; id < base + sequence_count(layout); ++id)
    if (map.permits(id)) ids.push_back(id);
  return ids;
}

// The reference case: y = (x div 96) * 128 + 32 + x mod 96, 3072 of 4096.
TEST(Remap, KeepsOffTheFirstInstance) {
  const Layout layout;
  const SteeringMap map = permitting(128, 32, 127);
  const uint64_t base = compose(layout, {123'456'789, 835, 0});
  const auto table = RemapTable::make(layout, map).value();
  EXPECT_EQ(table.capacity(), 3072u);
  for (uint64_t x = 0; x < 4096; ++x) {
    const auto image = remap(layout, map, base + x);
    EXPECT_EQ(table.remap(base + x), image);
    if (x >= 3072) {
      EXPECT_FALSE(image);
      continue;
    }
    ASSERT_TRUE(image);
    EXPECT_EQ(*image - base, x / 96 * 128 + 32 + x % 96);
    EXPECT_EQ(decompose(layout, *image).worker, 835u);
  }
}

TEST(Remap, GoldenVectors) {
  const auto vectors = testing::golden_vectors();
  ASSERT_GE(vectors.size(), 15u);
  for (const auto& vector : vectors) {
    const Layout layout = vector.layout();
    const SteeringMap map = vector.map();
    const uint64_t base = vector.base();
    const uint64_t capacity = vector.number("capacity");
    uint32_t checksum = 0;
    for (uint64_t x = 0; x < capacity; ++x) {
      const auto image = remap(layout, map, base + x);
      ASSERT_TRUE(image) << x;
      checksum = checksum * 31 + static_cast<uint32_t>(*image - base) + 1;
    }
    EXPECT_EQ(checksum, vector.number("checksum"));
    for (uint64_t x = capacity; x < sequence_count(layout); ++x)
      EXPECT_FALSE(remap(layout, map, base + x)) << x;
    const auto table = RemapTable::make(layout, map);
    if (!table) continue;
    EXPECT_EQ(table->capacity(), capacity);
    const auto first = testing::numbers(vector.fields.at("first"));
    for (uint64_t x = 0; x < first.size(); ++x) EXPECT_EQ(table->remap(base + x), base + first[x]);
  }
}

// Of the article: 8 tables, 3 to 6 permitted.
TEST(Remap, TheArticlesExample) {
  const SteeringMap map = permitting(8, 3, 6);
  const std::vector<uint64_t> expected = {3, 4, 5, 6, 11, 12, 13, 14};
  for (uint64_t x = 0; x < expected.size(); ++x) EXPECT_EQ(remap({}, map, x), expected[x]);
}

TEST(Remap, AnyNumberOfTablesIsOneToOneAscendingAndComplete) {
  SeededRandom random(20260101);
  for (int turn = 0; turn < 400; ++turn) {
    Layout layout;
    layout.sequence_bits = static_cast<uint8_t>(2 + random.below(8));
    layout.worker_bits = static_cast<uint8_t>(random.below(6));
    const auto slots = static_cast<uint32_t>(1 + random.below(sequence_count(layout)));
    std::vector<uint32_t> residues = {static_cast<uint32_t>(random.below(slots))};
    for (uint64_t i = random.below(slots); i > 0; --i)
      residues.push_back(static_cast<uint32_t>(random.below(slots)));
    const SteeringMap map = SteeringMap::permitting(slots, residues).value();
    const uint64_t base = random.below(uint64_t{1} << 40) << layout.sequence_bits;
    std::vector<uint64_t> images;
    for (uint64_t x = 0; x < sequence_count(layout); ++x)
      if (const auto image = remap(layout, map, base + x)) images.push_back(*image);
    EXPECT_EQ(images, permitted(layout, map, base));
    // Stepping from the last issued id gives the same ones in the same order.
    std::vector<uint64_t> stepped;
    uint64_t last = base == 0 ? 0 : base - 1;
    if (base == 0) continue;
    while (const auto next =
               step_to_permitted(layout, base, last, [&](uint64_t id) { return map.permits(id); }))
      stepped.push_back(last = *next);
    EXPECT_EQ(stepped, images);
  }
}

TEST(Remap, AnotherLayoutIsRefusedBeforeAnyIdIsMoved) {
  EXPECT_TRUE(check_handshake({}, "ms:41:10:12:1704067200000"));
  EXPECT_THAT(check_handshake({}, "ms:41:7:15:1704067200000").error().message, HasSubstr("would be spoiled"));
}

TEST(Remap, ATableForUnitsThatDifferIsRefused) {
  EXPECT_THAT(RemapTable::make({}, permitting(96, 24, 95)).error().message, HasSubstr("units differ"));
}

// idgen's notes, C7c: several consumers that switch by the id's own time never meet, however late they hear
// of it.
TEST(MapSchedule, TheIdsOwnTimeDecides) {
  Layout layout;
  layout.sequence_bits = 6;
  const auto all = std::make_shared<SteeringMap>(SteeringMap::identity(8).value());
  const auto some = std::make_shared<SteeringMap>(permitting(8, 3, 6));
  std::vector<MapSchedule> consumers(3, MapSchedule(all));
  for (size_t i = 0; i < consumers.size(); ++i) {
    ASSERT_TRUE(consumers[i].change(some, 50, 10 + 5 * i, 20));
    consumers[i].confirm(100);
  }
  SeededRandom random(4);
  std::set<uint64_t> seen;
  for (uint64_t tick = 1; tick < 100; ++tick)
    for (uint64_t x = 0; x < 64; ++x) {
      const auto moved = consumers[random.below(3)].remap(layout, compose(layout, {tick, 7, x}));
      ASSERT_TRUE(moved);
      if (!*moved) continue;
      EXPECT_TRUE(seen.insert(**moved).second);
      EXPECT_TRUE(tick < 50 || some->permits(**moved));
    }
  EXPECT_EQ(seen.size(), 49 * 64u + 50 * 32u);
}

TEST(MapSchedule, WhatIsNotConfirmedOrComesTooLateIsRefused) {
  const auto all = std::make_shared<SteeringMap>(SteeringMap::identity(8).value());
  MapSchedule schedule(all);
  EXPECT_FALSE(schedule.change(all, 30, 10, 20));
  EXPECT_TRUE(schedule.change(all, 31, 10, 20));
  EXPECT_FALSE(schedule.change(all, 31, 0, 20)) << "not after the last change";
  schedule.confirm(30);
  const auto late = schedule.remap({}, compose({}, {31, 7, 0}));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::registry);
  EXPECT_TRUE(schedule.remap({}, compose({}, {30, 7, 0})));
}

}  // namespace
}  // namespace evenkeel::idgen
