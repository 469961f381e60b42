#include "idgen/steering_map.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck.h>

#include "idgen/layout.h"
#include "idgen/start_order.h"
#include "idgen/tests/remap_vectors.h"

namespace evenkeel::idgen {
namespace {

using testing::golden_vectors;
using testing::numbers;

TEST(SteeringMapGolden, EveryPermittedSequenceOfATickInOrder) {
  const auto vectors = golden_vectors();
  ASSERT_GE(vectors.size(), 15u);
  for (const auto& vector : vectors) {
    const SteeringMap map = vector.map();
    const uint64_t base = vector.base();
    const uint64_t sequences = uint64_t{1} << vector.number("sequence_bits");
    const uint64_t capacity = map.count_in(base, sequences);
    ASSERT_EQ(capacity, vector.number("capacity")) << vector.fields.at("slots");

    std::vector<uint32_t> sequence;
    uint32_t checksum = 0;
    for (uint64_t x = 0; x < capacity; ++x) {
      sequence.push_back(static_cast<uint32_t>(map.nth_from(base, x) - base));
      EXPECT_EQ(map.select(map.rank(base) + x) - base, sequence.back());
      checksum = checksum * 31 + sequence.back() + 1;
    }
    EXPECT_EQ(checksum, vector.number("checksum"));
    EXPECT_GE(map.nth_from(base, capacity) - base, sequences) << "the first one past the tick";
    const auto first = numbers(vector.fields.at("first"));
    EXPECT_TRUE(std::equal(first.begin(), first.end(), sequence.begin()));
    const auto last = numbers(vector.fields.at("last"));
    EXPECT_TRUE(std::equal(last.rbegin(), last.rend(), sequence.rbegin()));

    uint64_t walked = base;
    for (const uint32_t expected : sequence) {
      walked = map.next_valid(walked);
      ASSERT_EQ(walked - base, expected);
      ++walked;
    }
  }
}

SteeringMap any_map() {
  const auto slots = *rc::gen::inRange<uint32_t>(1, 70);
  if (*rc::gen::arbitrary<bool>()) {
    const auto residues =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, slots)));
    return SteeringMap::permitting(slots, residues).value();
  }
  const auto levels = *rc::gen::inRange<uint32_t>(1, 9);
  auto weights = *rc::gen::container<std::vector<uint32_t>>(slots, rc::gen::inRange<uint32_t>(0, levels + 1));
  weights[*rc::gen::inRange<size_t>(0, slots)] = levels;
  return SteeringMap::weighted(weights, levels).value();
}

TEST(SteeringMapProperty, RankSelectAndNextAgreeWithCounting) {
  EXPECT_TRUE(rc::check([] {
    const SteeringMap map = any_map();
    const uint64_t from = *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 40);
    const uint64_t length = *rc::gen::inRange<uint64_t>(0, 300);
    std::vector<uint64_t> permitted;
    for (uint64_t value = from; value < from + length; ++value)
      if (map.permits(value)) permitted.push_back(value);
    RC_ASSERT(map.count_in(from, length) == permitted.size());
    RC_ASSERT(map.rank(from + length) - map.rank(from) == permitted.size());
    for (size_t i = 0; i < permitted.size(); ++i) {
      RC_ASSERT(map.nth_from(from, i) == permitted[i]);
      RC_ASSERT(map.select(map.rank(from) + i) == permitted[i]);
    }
    if (!permitted.empty()) RC_ASSERT(map.next_valid(from) == permitted[0]);
    RC_ASSERT(map.permits(map.next_valid(from)));
  }));
}

TEST(SteeringMapProperty, WeightsAreExactSharesOfAPeriod) {
  EXPECT_TRUE(rc::check([] {
    const auto levels = *rc::gen::inRange<uint32_t>(1, 12);
    auto weights = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, levels + 1)));
    weights[0] = *rc::gen::inRange<uint32_t>(1, levels + 1);
    const SteeringMap map = SteeringMap::weighted(weights, levels).value();
    RC_ASSERT(map.slots() == weights.size());
    std::vector<uint32_t> counted(weights.size(), 0);
    const uint64_t start = *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 40);
    const uint64_t period = uint64_t{levels} * weights.size();
    for (uint64_t value = start; value < start + period; ++value)
      if (map.permits(value)) ++counted[map.slot_of(value)];
    // All alike compiles to the identity, whose period is one block.
    if (map.is_identity())
      RC_ASSERT(std::all_of(weights.begin(), weights.end(), [&](uint32_t w) { return w == levels; }));
    else
      RC_ASSERT(counted == weights);
  }));
}

TEST(SteeringMapProperty, ModulusIsTheRemainder) {
  EXPECT_TRUE(rc::check([] {
    const auto divisor = *rc::gen::suchThat(rc::gen::arbitrary<uint32_t>(), [](uint32_t d) { return d > 0; });
    const auto value = *rc::gen::arbitrary<uint64_t>();
    const Modulus modulus(divisor);
    RC_ASSERT(modulus.of(value) == value % divisor);
    RC_ASSERT(modulus.of(UINT64_MAX - value % 1000) == (UINT64_MAX - value % 1000) % divisor);
  }));
  for (uint32_t divisor = 1; divisor < 2000; ++divisor)
    for (const uint64_t value :
         {uint64_t{0}, uint64_t{divisor - 1}, uint64_t{divisor}, uint64_t{divisor} << 31, UINT64_MAX})
      ASSERT_EQ(Modulus(divisor).of(value), value % divisor);
}

TEST(SteeringMap, RefusesPatternsThatSayNothing) {
  EXPECT_FALSE(SteeringMap::identity(0));
  EXPECT_FALSE(SteeringMap::identity(65'537));
  EXPECT_FALSE(SteeringMap::permitting(8, {}));
  const std::vector<uint32_t> outside = {8};
  EXPECT_EQ(SteeringMap::permitting(8, outside).error().message,
            "a steering map permits slot 8, but there are only 8");
  const std::vector<uint32_t> none = {0, 0};
  EXPECT_FALSE(SteeringMap::weighted(none, 4));
  const std::vector<uint32_t> heavy = {5, 1};
  EXPECT_EQ(SteeringMap::weighted(heavy, 4).error().message, "slot 0 has weight 5; at most 4 is allowed");
}

TEST(SteeringMap, AllSlotsAlikeIsTheIdentity) {
  const std::vector<uint32_t> weights(16, 3);
  EXPECT_EQ(SteeringMap::weighted(weights, 3).value(), SteeringMap::identity(16).value());
  const std::vector<uint32_t> residues = {0, 1, 2, 2};
  EXPECT_TRUE(SteeringMap::permitting(3, residues).value().is_identity());
}

TEST(KeyedPermutation, TouchesEveryIndexOnceWhateverTheKey) {
  for (const uint32_t count : {1u, 2u, 3u, 4u, 5u, 96u, 128u, 777u, 1000u, 6144u, 8192u}) {
    std::vector<bool> seen(count, false);
    const KeyedPermutation permutation(count, 0x5eed + count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t value = permutation(i);
      ASSERT_LT(value, count);
      ASSERT_FALSE(seen[value]) << count;
      seen[value] = true;
    }
  }
}

TEST(StartOrder, EachCycleIsAFreshOrder) {
  StartOrder order(96, 42);
  std::vector<std::vector<uint32_t>> cycles;
  for (int cycle = 0; cycle < 20; ++cycle) {
    std::vector<uint32_t> drawn;
    for (int i = 0; i < 96; ++i) {
      EXPECT_EQ(order.peek(), order.peek()) << "looking uses nothing up";
      drawn.push_back(order.peek());
      order.advance();
    }
    std::vector<uint32_t> sorted = drawn;
    std::sort(sorted.begin(), sorted.end());
    std::vector<uint32_t> all(96);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
    for (const auto& earlier : cycles) EXPECT_NE(drawn, earlier);
    cycles.push_back(std::move(drawn));
  }
}

}  // namespace
}  // namespace evenkeel::idgen
