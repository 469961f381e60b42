#include "idgen/gene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "base/clock.h"
#include "base/random.h"
#include "idgen/layout.h"
#include "idgen/snowflake_generator.h"

namespace evenkeel::idgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Genes : public ::testing::Test {
 protected:
  std::unique_ptr<SnowflakeGenerator> make(const Gene& gene, uint32_t slots) {
    GeneratorSettings settings;
    settings.clock.max_borrow_ticks = 0;
    SnowflakeGenerator::Parts parts{settings,
                                    "orders",
                                    slots,
                                    std::make_shared<TickWindow>(5, 1, UINT64_MAX >> 1),
                                    std::make_shared<DirectTicks>(clock),
                                    7};
    parts.gene = gene;
    auto made = SnowflakeGenerator::create(std::move(parts));
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }
  // Ids of random genes until the unit is used up.
  std::vector<uint64_t> fill_unit(SnowflakeGenerator& generator, SeededRandom& random) {
    std::vector<uint64_t> ids;
    for (;;) {
      const auto gene = static_cast<uint32_t>(random.below(generator.gene_modulus()));
      uint64_t id = 0;
      const auto drawn = generator.draw({.rows = 1, .row_slots = std::span(&gene, 1)}, std::span(&id, 1));
      EXPECT_TRUE(drawn);
      if (!drawn || !drawn->complete()) return ids;
      EXPECT_EQ(id % generator.gene_modulus(), gene);
      ids.push_back(id);
    }
  }

  ManualClock clock{1'790'000'000'000'000};
};

// idgen's notes, C10: unique whatever the method, and the id names the key's table for every divisor.
TEST_F(Genes, EachMethodGivesUniqueIdsOfTheGene) {
  for (const Gene& gene :
       {Gene{GeneMethod::shared, 0}, Gene{GeneMethod::shared, 384}, Gene{GeneMethod::blocks, 256},
        Gene{GeneMethod::classes, 0}, Gene{GeneMethod::classes, 384}}) {
    const auto generator = make(gene, 128);
    SeededRandom random(17);
    std::set<uint64_t> seen;
    size_t total = 0;
    for (int ms = 0; ms < 20; ++ms) {
      const auto ids = fill_unit(*generator, random);
      total += ids.size();
      seen.insert(ids.begin(), ids.end());
      clock.advance(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(seen.size(), total) << to_string(gene.method);
    EXPECT_GT(total, 0u);
  }
}

TEST_F(Genes, TheMethodsDifferInWhatAUnitHolds) {
  const auto mean_of = [&](const Gene& gene) {
    const auto generator = make(gene, 128);
    SeededRandom random(3);
    double total = 0;
    for (int ms = 0; ms < 200; ++ms) {
      clock.advance(std::chrono::milliseconds(1));
      total += static_cast<double>(fill_unit(*generator, random).size());
    }
    return total / 200;
  };
  EXPECT_NEAR(mean_of({GeneMethod::shared, 0}), 2 * 4096.0 / 129, 3);
  EXPECT_EQ(mean_of({GeneMethod::blocks, 0}), 32);
  // Each gene has 32 of a unit; random ones use most of all before the first runs out.
  EXPECT_GT(mean_of({GeneMethod::classes, 0}), 1'500);
}

TEST_F(Genes, BlocksLeaveAPlainCounterAboveTheGene) {
  const auto generator = make({GeneMethod::blocks, 128}, 128);
  const std::vector<uint32_t> genes = {127, 0, 5, 5};
  std::vector<uint64_t> ids(4);
  ASSERT_TRUE(generator->draw({.rows = 4, .row_slots = genes}, ids));
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(ids[i] % 128, genes[i]);
    EXPECT_EQ(decompose({}, ids[i]).sequence / 128, i);
  }
}

TEST_F(Genes, ClassesRefuseEveryOtherWayToMakeAnId) {
  const auto generator = make({GeneMethod::classes, 0}, 128);
  uint64_t id = 0;
  const auto plain = generator->draw({}, std::span(&id, 1));
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message, HasSubstr("each id needs a gene"));
  const std::vector<uint32_t> upper = {64, 65};
  EXPECT_THAT(generator->set_map(SteeringMap::permitting(128, upper).value()).error().message,
              HasSubstr("steering does not apply"));
}

TEST_F(Genes, SharedMixesWithPlainIdsWithoutARepeat) {
  const auto generator = make({}, 128);
  std::set<uint64_t> seen;
  SeededRandom random(5);
  for (int i = 0; i < 5'000; ++i) {
    if (i % 20 == 0) clock.advance(std::chrono::milliseconds(1));
    const auto gene = static_cast<uint32_t>(random.below(128));
    uint64_t id = 0;
    KeyDemand demand;
    if (random.below(2) == 0) demand.row_slots = std::span(&gene, 1);
    const auto drawn = generator->draw(demand, std::span(&id, 1));
    ASSERT_TRUE(drawn);
    if (!drawn->complete()) continue;
    ASSERT_TRUE(seen.insert(id).second);
  }
}

TEST(Gene, ChecksSayWhatCannotWork) {
  const Layout classic;
  EXPECT_THAT(check_gene({}, classic, 128).errors, IsEmpty());
  EXPECT_THAT(check_gene({GeneMethod::shared, 3072}, classic, 96).errors, IsEmpty());
  EXPECT_THAT(check_gene({GeneMethod::shared, 3072}, classic, 96).warnings,
              ElementsAre(HasSubstr("holds 1 ids")));
  EXPECT_THAT(check_gene({GeneMethod::shared, 1024}, classic, 96).errors,
              ElementsAre(HasSubstr("no multiple of 96 tables")));
  EXPECT_THAT(check_gene({GeneMethod::blocks, 384}, classic, 128).errors,
              ElementsAre(HasSubstr("power of two")));
  EXPECT_THAT(check_gene({GeneMethod::shared, 8192}, classic, 128).errors,
              ElementsAre(HasSubstr("above the 4096 ids")));
}

}  // namespace
}  // namespace evenkeel::idgen
