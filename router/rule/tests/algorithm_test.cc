#include "router/rule/algorithm.h"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <thread>

#include "base/limits.h"
#include "router/rule/residues.h"
#include "router/rule/slot_counts.h"

namespace evenkeel::rule {
namespace {

using mysql::Value;

std::shared_ptr<const Algorithm> algorithm(std::string_view name, uint32_t slots) {
  auto made = make_algorithm(name, slots);
  EXPECT_TRUE(made.has_value());
  return *made;
}

Slot slot(std::string_view name, uint32_t slots, const Value& value) {
  auto found = algorithm(name, slots)->slot_of(value);
  EXPECT_TRUE(found.has_value()) << to_string(value);
  return found.value_or(UINT32_MAX);
}

TEST(Mod, KeepsRemaindersNonNegative) {
  EXPECT_EQ(slot("mod", 128, Value::int64(0)), 0u);
  EXPECT_EQ(slot("mod", 128, Value::int64(130)), 2u);
  EXPECT_EQ(slot("mod", 128, Value::int64(-1)), 127u);
  EXPECT_EQ(slot("mod", 128, Value::int64(-128)), 0u);
  EXPECT_EQ(slot("mod", 128, Value::int64(-129)), 127u);
  EXPECT_EQ(slot("mod", 1, Value::int64(-7)), 0u);
}

TEST(Mod, TakesTheWholeRangeOfBothIntegerKinds) {
  EXPECT_EQ(slot("mod", 100, Value::uint64(std::numeric_limits<uint64_t>::max())), 15u);  // …551615
  EXPECT_EQ(slot("mod", 100, Value::int64(std::numeric_limits<int64_t>::max())), 7u);     // …775807
  EXPECT_EQ(slot("mod", 100, Value::int64(std::numeric_limits<int64_t>::min())), 92u);    // -…775808
}

RC_GTEST_PROP(ModProperty, IsTheMathematicalRemainder, (int64_t key)) {
  const auto slots = *rc::gen::inRange<uint32_t>(1, limits::slots_max + 1);
  const __int128 found = slot("mod", slots, Value::int64(key));
  RC_ASSERT(found >= 0 && found < slots);
  RC_ASSERT((static_cast<__int128>(key) - found) % slots == 0);
}

RC_GTEST_PROP(ModProperty, DoesNotDependOnTheKindOfInteger, ()) {
  const auto key = *rc::gen::inRange<int64_t>(0, std::numeric_limits<int64_t>::max());
  RC_ASSERT(slot("mod", 96, Value::int64(key)) == slot("mod", 96, Value::uint64(static_cast<uint64_t>(key))));
}

TEST(Mod, RefusesWhatIsNoInteger) {
  for (const Value& value :
       {Value::null(), Value::string("1"), Value::bytes("1"), Value::decimal("1"), Value::real(1),
        Value::single_real(1), Value::temporal(Value::Kind::date, "2026-01-02")}) {
    auto refused = algorithm("mod", 8)->slot_of(value);
    ASSERT_FALSE(refused.has_value()) << to_string(value);
    EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
  }
}

// DO NOT CHANGE: rows lie where these say. Computed with the xxhash library's own XXH3_64bits (libxxhash
// 0.8.1), modulo 2^16 and 8192.
TEST(HashMod, GoldenValues) {
  const struct {
    Value value;
    uint64_t hash;
  } cases[] = {
      {Value::int64(0), 1838281907459330133u},
      {Value::int64(1), 7335560060985733464u},
      {Value::uint64(42), 1303733993043075473u},
      {Value::int64(-1), 13557426653709967903u},
      {Value::uint64(std::numeric_limits<uint64_t>::max()), 10462331918002303863u},
      {Value::int64(std::numeric_limits<int64_t>::min()), 17115503357333685393u},
      {Value::string("alice"), 5593767425381308080u},
      {Value::bytes(""), 3244421341483603138u},
  };
  for (const auto& golden : cases) {
    for (uint32_t slots : {1u, 7u, 128u, 8192u, 65536u}) {
      EXPECT_EQ(slot("hash_mod", slots, golden.value), golden.hash % slots) << to_string(golden.value);
    }
  }
}

TEST(HashMod, OneKeyOneSlotWhateverItsKind) {
  const Slot expected = slot("hash_mod", 8192, Value::int64(42));
  EXPECT_EQ(slot("hash_mod", 8192, Value::uint64(42)), expected);
  EXPECT_EQ(slot("hash_mod", 8192, Value::string("42")), expected);
  EXPECT_EQ(slot("hash_mod", 8192, Value::bytes("42")), expected);
}

TEST(HashMod, RefusesWhatHasNoFixedText) {
  for (const Value& value : {Value::null(), Value::decimal("1"), Value::real(1),
                             Value::temporal(Value::Kind::datetime, "2026-01-02 00:00:00")}) {
    EXPECT_FALSE(algorithm("hash_mod", 8)->slot_of(value).has_value()) << to_string(value);
  }
}

TEST(Algorithms, SayWhatTheyAre) {
  EXPECT_TRUE(algorithm("mod", 96)->steerable());
  EXPECT_EQ(algorithm("mod", 96)->period(), 96u);
  EXPECT_FALSE(algorithm("mod", 96)->accepts_strings());
  EXPECT_FALSE(algorithm("hash_mod", 96)->steerable());
  EXPECT_EQ(algorithm("hash_mod", 96)->period(), 0u);
  EXPECT_TRUE(algorithm("hash_mod", 96)->accepts_strings());
}

TEST(Algorithms, NamesAndSizesAreChecked) {
  EXPECT_EQ(make_algorithm("crc32", 8).error().message,
            "unknown sharding algorithm \"crc32\"; known are mod, hash_mod, range, list, interval");
  EXPECT_EQ(make_algorithm("mod", 0).error().message, "0 slots; allowed are 1 to 65536");
  EXPECT_FALSE(make_algorithm("mod", limits::slots_max + 1).has_value());
  EXPECT_TRUE(make_algorithm("mod", limits::slots_max).has_value());
}

TEST(Residues, OfModAreItsSlots) {
  const std::vector<Slot> slots = residue_slots(*algorithm("mod", 5));
  EXPECT_EQ(slots, (std::vector<Slot>{0, 1, 2, 3, 4}));
  const std::vector<Slot> wanted = {4, 1, 1, 99};
  EXPECT_EQ(permitted_residues(*algorithm("mod", 5), wanted), (std::vector<uint32_t>{1, 4}));
}

TEST(Residues, NoneWithoutAPeriod) {
  const std::vector<Slot> wanted = {0};
  EXPECT_TRUE(residue_slots(*algorithm("hash_mod", 5)).empty());
  EXPECT_TRUE(permitted_residues(*algorithm("hash_mod", 5), wanted).empty());
}

// Reaches even slots alone.
class EvenOnly final : public Algorithm {
 public:
  std::string_view name() const override { return "even_only"; }
  uint32_t slots() const override { return 6; }
  Result<Slot> slot_of(const Value& value) const override {
    return static_cast<Slot>(value.as_uint64() * 2 % 6);
  }
  uint64_t period() const override { return 3; }
  bool steerable() const override { return false; }
  bool accepts_strings() const override { return false; }
};

TEST(Residues, FindWhatNoKeyReaches) {
  EXPECT_EQ(unreachable_slots(EvenOnly()), (std::vector<Slot>{1, 3, 5}));
  const std::vector<Slot> wanted = {4};
  EXPECT_EQ(permitted_residues(EvenOnly(), wanted), (std::vector<uint32_t>{2}));
  EXPECT_TRUE(unreachable_slots(*algorithm("mod", 8192)).empty());
  EXPECT_TRUE(unreachable_slots(*algorithm("hash_mod", 8192)).empty());
}

TEST(SlotCounts, AddsUpFromManyThreads) {
  SlotCounts counts(3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&counts] {
      for (int n = 0; n < 1000; ++n) counts.add(1, 2);
      counts.add(2, -1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts.snapshot(), (std::vector<int64_t>{0, 8000, -4}));
}

}  // namespace
}  // namespace evenkeel::rule
