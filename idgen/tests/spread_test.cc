// How even the slots become. The bounds are far above what is measured (printed) and far below what the usual
// ways give.
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "idgen/tests/snowflake_rig.h"

namespace evenkeel::idgen {
namespace {

struct Spread {
  double fullest;   // over the mean of the permitted slots
  double emptiest;  // likewise
  uint64_t outside;
};

Spread spread_of(const std::vector<uint64_t>& rows, const SteeringMap& map) {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  uint64_t sum = 0;
  uint64_t slots = 0;
  uint64_t outside = 0;
  for (uint32_t slot = 0; slot < rows.size(); ++slot) {
    if (!map.permits(slot)) {
      outside += rows[slot];
      continue;
    }
    least = std::min(least, rows[slot]);
    most = std::max(most, rows[slot]);
    sum += rows[slot];
    ++slots;
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(slots);
  return {static_cast<double>(most) / mean, static_cast<double>(least) / mean, outside};
}

// Draws `ids` ids; `gap_ms(random)` passes before each.
template <typename Gap>
Spread measure(const char* what, const Layout& layout, const SteeringMap& map, int ids, Gap gap_ms) {
  Rig rig(layout, {}, 5);
  const SteeredStart start(map, 20'260'101);
  SeededRandom random(4);
  std::vector<uint64_t> rows(map.slots(), 0);
  for (int i = 0; i < ids; ++i) {
    rig.advance_ms(gap_ms(random));
    ++rows[rig.draw(start, 1).at(0) % map.slots()];
  }
  const Spread spread = spread_of(rows, map);
  fmt::print("{}: {} ids over {} slots: fullest {:.3f}, emptiest {:.3f} of the mean\n", what, ids,
             map.permitted_count(), spread.fullest, spread.emptiest);
  return spread;
}

constexpr auto ten_a_second = [](SeededRandom&) { return 100; };
constexpr auto thousand_a_second = [](SeededRandom&) { return 1; };

TEST(Spread, C01_AHundredSpacedInsertsHitAHundredOf128Slots) {
  Rig rig;
  const SteeredStart start(SteeringMap::identity(128).value(), 1);
  std::vector<uint64_t> rows(128, 0);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 100; ++i) {
    rig.advance_ms(50);
    ids.push_back(rig.draw(start, 1).at(0));
    ++rows[ids.back() % 128];
  }
  EXPECT_TRUE(strictly_ascending(ids));
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](uint64_t n) { return n > 0; }), 100);
  EXPECT_EQ(*std::max_element(rows.begin(), rows.end()), 1u);
}

TEST(Spread, C01_AHundredSpacedInsertsHitAHundredOf8192Slots) {
  Rig rig(*named_layout("wide"), {}, 5);
  const SteeredStart start(SteeringMap::identity(8192).value(), 1);
  std::vector<uint64_t> slots;
  for (int i = 0; i < 100; ++i) {
    rig.advance_ms(50);
    slots.push_back(rig.draw(start, 1).at(0) % 8192);
  }
  std::sort(slots.begin(), slots.end());
  EXPECT_EQ(std::unique(slots.begin(), slots.end()), slots.end());
}

TEST(Spread, WholeCyclesAtOneIdATickAreExactlyEven) {
  const auto even = [](const Spread& spread) {
    EXPECT_DOUBLE_EQ(spread.fullest, 1);
    EXPECT_DOUBLE_EQ(spread.emptiest, 1);
    EXPECT_EQ(spread.outside, 0u);
  };
  const Layout classic;
  even(measure("10/s", classic, SteeringMap::identity(128).value(), 12'800, ten_a_second));
  even(measure("1000/s", classic, SteeringMap::identity(128).value(), 12'800, thousand_a_second));
  even(measure("10/s, steered 32-127", classic, permit_range(128, 32, 127), 9'600, ten_a_second));
  even(measure("10/s, 96 slots", classic, SteeringMap::identity(96).value(), 9'600, ten_a_second));
  even(measure("10/s, 96 slots, steered 24-95", classic, permit_range(96, 24, 95), 7'200, ten_a_second));
  even(measure("10/s, wide", *named_layout("wide"), SteeringMap::identity(8192).value(), 163'840,
               ten_a_second));
}

// How many ids a tick gets is chance, and what follows a start falls beside it: 1,000 (2,000) rows a slot
// differ by a few per cent.
TEST(Spread, IrregularArrivalsStayWithinAFewPercent) {
  const auto bursts = [](SeededRandom& random) { return static_cast<int>(random.below(3)); };
  const Spread plain =
      measure("about 1000/s, irregular", {}, SteeringMap::identity(128).value(), 128'000, bursts);
  EXPECT_LT(plain.fullest, 1.06);
  EXPECT_GT(plain.emptiest, 0.94);
  const Spread steered = measure("the same, steered 32-127", {}, permit_range(128, 32, 127), 192'000, bursts);
  EXPECT_LT(steered.fullest, 1.04);
  EXPECT_GT(steered.emptiest, 0.96);
}

TEST(Spread, WeightsAreKeptAtOneIdATick) {
  std::vector<uint32_t> weights(128, 4);
  for (uint32_t slot = 0; slot < 32; ++slot) weights[slot] = 1;
  const SteeringMap map = SteeringMap::weighted(weights, 4).value();
  Rig rig;
  const SteeredStart start(map, 8);
  std::vector<uint64_t> rows(128, 0);
  constexpr uint64_t cycles = 20;
  for (uint64_t i = 0; i < cycles * map.permitted_count(); ++i) {
    rig.advance_ms(10);
    ++rows[rig.draw(start, 1).at(0) % 128];
  }
  for (uint32_t slot = 0; slot < 128; ++slot) EXPECT_EQ(rows[slot], cycles * weights[slot]) << slot;
}

// Two tables filled in turn by one caller: a start that rotates would give one the even and the other the odd
// slots.
TEST(Spread, TwoInterleavedTablesDoNotLockStep) {
  Rig orders({}, {}, 5);
  Rig items({}, {}, 5);
  const SteeredStart order_start(SteeringMap::identity(128).value(), 1);
  const SteeredStart item_start(SteeringMap::identity(128).value(), 2);
  std::vector<uint64_t> pairs(4, 0);
  for (int i = 0; i < 12'800; ++i) {
    orders.advance_ms(1);
    items.advance_ms(1);
    const uint64_t order = orders.draw(order_start, 1).at(0);
    const uint64_t item = items.draw(item_start, 1).at(0);
    ++pairs[(order % 2) * 2 + item % 2];
  }
  for (const uint64_t count : pairs) EXPECT_NEAR(static_cast<double>(count), 3'200, 200);
}

}  // namespace
}  // namespace evenkeel::idgen
