#include "proxy/skew/samples.h"

#include <gtest/gtest.h>

#include "proxy/skew/count_ledger.h"

namespace evenkeel::skew {
namespace {

CountsRecord counts(int64_t since, int64_t at, std::vector<int64_t> rows) {
  CountsRecord record;
  record.since_unix_ms = since;
  record.unix_ms = at;
  record.inserted = rows;
  record.rows = std::move(rows);
  return record;
}

TEST(CountLedger, AddsProxiesThatComeGoAndStartAnew) {
  CountLedger ledger(2, 1'000);
  ledger.note("1", counts(500, 1'500, {10, 20}));  // counted before the ledger: in the tables already
  EXPECT_EQ(ledger.rows()[0], 0);
  ledger.note("1", counts(500, 2'000, {13, 20}));
  ledger.note("2", counts(1'200, 2'000, {1, 1}));  // began later: all of it is new
  EXPECT_EQ(ledger.rows()[0], 4);
  EXPECT_EQ(ledger.rows()[1], 1);
  ledger.note("1", counts(500, 1'900, {11, 20}));  // an older word comes late
  EXPECT_EQ(ledger.rows()[0], 4);
  ledger.note("1", counts(3'000, 3'100, {5, 0}));  // restarted: counts from 0
  EXPECT_EQ(ledger.rows()[0], 9);
  ledger.note("1", counts(3'000, 3'200, {5, 0, 7}));  // another number of tables: not ours
  EXPECT_EQ(ledger.rows()[0], 9);
}

TEST(Samples, CountsAreCarriedForward) {
  Samples samples(2, 0.3);
  samples.set_counted(std::vector<int64_t>{100, 100});
  samples.note_exact(0, 1'000, 5'000, 90);  // 10 rows were counted while the table was
  EXPECT_EQ(samples.at(0).rows, 1'010);
  samples.set_counted(std::vector<int64_t>{150, 100});
  EXPECT_EQ(samples.at(0).rows, 1'060);
  EXPECT_EQ(samples.at(0).counted_since, 60);
  EXPECT_EQ(samples.at(0).error, 0);
  samples.set_counted(std::vector<int64_t>{-5'000, 100});
  EXPECT_EQ(samples.at(0).rows, 0) << "never below nothing";
}

TEST(Samples, EstimatesNeverMoveWhatWasCounted) {
  Samples samples(1, 0.3);
  samples.note_exact(0, 10'000, 5'000, 0);
  for (const uint64_t wrong : {7'000U, 13'000U, 8'000U}) samples.note_estimate(0, wrong, 1 << 20, 6'000);
  EXPECT_EQ(samples.at(0).rows, 10'000);
  EXPECT_EQ(samples.due(7'000, 100'000), std::nullopt);
  samples.note_estimate(0, 2'000, 1 << 20,
                        6'000);  // more than estimates differ: counted again, not believed
  EXPECT_EQ(samples.at(0).rows, 10'000);
  EXPECT_EQ(samples.due(7'000, 100'000), std::nullopt) << "not more often than every tenth of the interval";
  EXPECT_EQ(samples.due(16'000, 100'000), 0U);
}

TEST(Samples, EstimatesAloneDoNotSwing) {
  Samples samples(1, 0.3);
  samples.note_estimate(0, 10'000, 1 << 20, 1'000);
  samples.note_estimate(0, 12'500, 1 << 20, 2'000);
  EXPECT_EQ(samples.at(0).rows, 10'000);
  samples.note_estimate(0, 50'000, 1 << 20, 3'000);
  EXPECT_EQ(samples.at(0).rows, 50'000);
  EXPECT_EQ(samples.at(0).error, 15'000);
  EXPECT_EQ(samples.at(0).source, Source::estimate);
}

TEST(Samples, OldestAndUncountedAreDue) {
  Samples samples(3, 0.3);
  EXPECT_EQ(samples.due(0, 1'000), 0U);
  samples.note_exact(0, 1, 1'000, 0);
  samples.note_exact(1, 1, 900, 0);
  EXPECT_EQ(samples.due(1'000, 1'000), 2U);
  samples.note_exact(2, 1, 1'000, 0);
  EXPECT_EQ(samples.due(1'000, 1'000), std::nullopt);
  EXPECT_EQ(samples.due(2'500, 1'000), 1U);
}

TEST(Samples, BytesOfWhatWasNotAskedAreOfTheMeanRow) {
  Samples samples(2, 0.3);
  samples.note_exact(0, 1'000, 1, 0);
  samples.note_exact(1, 500, 1, 0);
  samples.note_estimate(0, 1'000, 100'000, 2);
  EXPECT_DOUBLE_EQ(samples.bytes()[0], 100'000);
  EXPECT_DOUBLE_EQ(samples.bytes()[1], 50'000);
}

}  // namespace
}  // namespace evenkeel::skew
