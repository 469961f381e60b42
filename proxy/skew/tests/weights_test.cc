#include "proxy/skew/weights.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "router/rule/algorithm.h"

namespace evenkeel::skew {
namespace {

std::vector<double> reference(double full, double rest) {
  std::vector<double> rows(128, rest);
  std::fill(rows.begin(), rows.begin() + 32, full);
  return rows;
}

TEST(Weights, SharesOfAllSlotsAreThoseOfEach) {
  for (const SlotWeights& weights : {SlotWeights{}, weights_of({false, true, true, false}),
                                     weights_of_shares(std::vector<uint32_t>{3, 1, 0, 2}, 32)}) {
    const std::vector<double> shares = weights.shares(4);
    ASSERT_EQ(shares.size(), 4U);
    double sum = 0;
    for (rule::Slot slot = 0; slot < 4; ++slot) {
      EXPECT_DOUBLE_EQ(shares[slot], weights.share(slot, 4));
      sum += shares[slot];
    }
    EXPECT_DOUBLE_EQ(sum, 1);
  }
}

TEST(Weights, ReferenceCaseOpensTheOtherNinetySixAlike) {
  const SlotWeights weights = weights_of_deficits(reference(200'000, 100'000), {32, 4, 0});
  EXPECT_EQ(weights.open(128), 96U);
  EXPECT_EQ(weights.levels, 1U) << "all alike: the map keeps 3 of 4 sequence numbers";
  EXPECT_DOUBLE_EQ(weights.capacity(), 0.75);
  for (rule::Slot slot = 0; slot < 128; ++slot) EXPECT_EQ(weights.of(slot) > 0, slot >= 32) << slot;
  EXPECT_EQ(describe(weights, 128), "96 of 128 tables alike; none for 0-31");
}

TEST(Weights, ShortSlotsGetMoreAndNoneMoreThanTheCap) {
  std::vector<double> rows(16, 900);
  rows[0] = 1'000;
  rows[3] = 0;
  const SlotWeights weights = weights_of_deficits(rows, {32, 4, 0});
  EXPECT_EQ(weights.of(0), 0U);
  EXPECT_EQ(weights.of(3), 32U);
  EXPECT_GT(weights.of(4), 0U);
  const double mean = static_cast<double>(weights.sum()) / weights.open(16);
  EXPECT_LE(weights.of(3) / mean, 4.0);
}

TEST(Weights, SlotsThatWouldOvershootAreClosed) {
  const std::vector<double> rows = {100, 90, 0, 0};
  // 360 rows come until the next look: the least weight would bring slot 1 twice the 10 that it lacks.
  EXPECT_EQ(weights_of_deficits(rows, {8, 4, 360}).of(1), 0U);
  EXPECT_GT(weights_of_deficits(rows, {8, 4, 0}).of(1), 0U);
  // So many that nothing can be steered by.
  EXPECT_EQ(weights_of_deficits(rows, {8, 4, 1'000}).levels, 0U);
}

// One table that is fuller by a row must not open all other full ones.
TEST(Weights, SlotsThatLackNextToNothingStayClosed) {
  std::vector<double> rows(128, 1'000);
  for (rule::Slot slot = 0; slot < 31; ++slot) rows[slot] = 2'000;
  rows[31] = 2'001;
  const SlotWeights weights = weights_of_deficits(rows, {32, 4, 0});
  EXPECT_EQ(describe(weights, 128), "96 of 128 tables alike; none for 0-31");
}

TEST(Weights, NothingToSteerWhenAllAreAlike) {
  EXPECT_EQ(weights_of_deficits(std::vector<double>(8, 5.0), {8, 4, 0}).levels, 0U);
  EXPECT_EQ(weights_of_deficits({}, {8, 4, 0}).levels, 0U);
}

RC_GTEST_PROP(Weights, HoldTheirPromises, ()) {
  const auto slots = *rc::gen::inRange<uint32_t>(1, 200);
  const auto levels = *rc::gen::inRange<uint32_t>(1, 40);
  const auto coming = *rc::gen::inRange<int>(0, 100'000);
  std::vector<double> rows;
  for (uint32_t slot = 0; slot < slots; ++slot) rows.push_back(*rc::gen::inRange(0, 10'000));
  const SlotWeights weights = weights_of_deficits(rows, {levels, 4, static_cast<double>(coming)});
  if (weights.levels == 0) return;
  const double most = *std::max_element(rows.begin(), rows.end());
  const double sum = static_cast<double>(weights.sum());
  double shares = 0;
  for (rule::Slot slot = 0; slot < slots; ++slot) {
    RC_ASSERT(weights.of(slot) <= weights.levels);
    shares += weights.share(slot, slots);
    if (weights.of(slot) == 0) continue;
    RC_ASSERT(rows[slot] < most);
    // At most twice what it lacks comes until the next look.
    RC_ASSERT(most - rows[slot] >= coming * weights.of(slot) / sum / 2 - 1e-6);
  }
  RC_ASSERT(std::abs(shares - 1) < 1e-9);
  const auto algorithm = rule::make_algorithm("mod", slots);
  const auto map = compile(weights, **algorithm);
  RC_ASSERT(map.has_value());
  for (rule::Slot slot = 0; slot < slots; ++slot) {
    uint64_t permitted = 0;
    for (uint64_t block = 0; block < weights.levels; ++block)
      permitted += map->permits(block * slots + slot) ? 1 : 0;
    RC_ASSERT(permitted == weights.of(slot));
  }
}

TEST(Weights, RowsOutsideOfBatches) {
  std::vector<bool> open(128, true);
  std::fill(open.begin(), open.begin() + 32, false);
  const SlotWeights weights = weights_of(open);
  const auto algorithm = rule::make_algorithm("mod", 128);
  EXPECT_EQ(rows_outside(weights, **algorithm, 10), 0U);
  EXPECT_EQ(rows_outside(weights, **algorithm, 96), 0U);
  EXPECT_EQ(rows_outside(weights, **algorithm, 97), 1U);
  EXPECT_EQ(rows_outside(weights, **algorithm, 128), 32U);
  // 7 turns of 128 and 104 more: 7 × 32 + 8.
  EXPECT_EQ(rows_outside(weights, **algorithm, 1'000), 232U);
  EXPECT_EQ(rows_outside(SlotWeights{}, **algorithm, 1'000), 0U);
}

TEST(Weights, OrderedShares) {
  const std::vector<uint32_t> wanted = {0, 1, 2, 4};
  const SlotWeights weights = weights_of_shares(wanted, 32);
  EXPECT_EQ(weights.by_slot, (std::vector<uint32_t>{0, 8, 16, 32}));
  EXPECT_TRUE(weights_of_shares(std::vector<uint32_t>{3, 3}, 8).identity());
}

TEST(Weights, MapsOfOtherAlgorithmsAreRefused) {
  const auto hash = rule::make_algorithm("hash_mod", 4);
  ASSERT_TRUE(hash.has_value());
  EXPECT_FALSE(compile(weights_of({false, true, true, true}), **hash).has_value());
  const auto mod = rule::make_algorithm("mod", 8);
  EXPECT_FALSE(compile(weights_of({false, true, true, true}), **mod).has_value());
}

}  // namespace
}  // namespace evenkeel::skew
