#include "proxy/skew/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel::skew {
namespace {

using ::testing::HasSubstr;

constexpr int64_t start_ms = 1'790'000'000'000;  // 2026-09-21 13:33 UTC

class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() : rows(128, 100'000), errors(128, 0) {
    std::fill(rows.begin(), rows.begin() + 32, 200'000);
    settings.mode = Mode::automatic;
    seen.now_unix_ms = start_ms;
    seen.counted = 128;
    seen.rows_per_second = 1'000;
    seen.peak_per_second = 1'000;
    seen.ids_per_second = 4'096'000;
    seen.levels = 32;
  }
  Decision look() {
    seen.rows = rows;
    seen.figures = rows;
    seen.errors = errors;
    Decision decision = decide(settings, record, seen, "test");
    if (decision.record) record = *decision.record;
    return decision;
  }
  void later(int64_t ms) { seen.now_unix_ms += ms; }
  std::string last() const { return record.history.empty() ? "" : record.history.back().what; }

  std::vector<double> rows;
  std::vector<double> errors;
  TableSettings settings;
  Observation seen;
  SteeringRecord record;
};

TEST_F(ControllerTest, BeginsAboveTheUpperBoundAndEndsAtTheLower) {
  look();
  EXPECT_EQ(record.origin, Origin::automatic);
  EXPECT_EQ(last(), "steering on");
  EXPECT_THAT(record.history.back().reason, HasSubstr("max/mean is 1.6000"));
  EXPECT_EQ(record.map_version, 1U);
  EXPECT_EQ(record.weights.of(0), 0U);
  EXPECT_EQ(record.weights.of(32), 1U);
  // Between the bounds it goes on.
  std::fill(rows.begin() + 32, rows.end(), 190'000);
  later(3'000);
  look();
  EXPECT_EQ(record.origin, Origin::automatic);
  std::fill(rows.begin() + 32, rows.end(), 198'000);
  later(3'000);
  look();
  EXPECT_EQ(record.origin, Origin::none);
  EXPECT_TRUE(record.weights.identity());
  EXPECT_EQ(record.map_version, 2U);
  EXPECT_THAT(record.history.back().reason, HasSubstr("the lower bound is 1.0100"));
  // Between the bounds it does not begin again.
  std::fill(rows.begin() + 32, rows.end(), 170'000);
  later(3'600'000);
  EXPECT_FALSE(look().record);
}

TEST_F(ControllerTest, ChanceAloneIsNoReason) {
  // Mean 100: 1.4 is what chance makes.
  std::fill(rows.begin(), rows.end(), 100);
  rows[0] = 135;
  const Decision decision = look();
  EXPECT_FALSE(decision.record);
  EXPECT_THAT(decision.standing, HasSubstr("below what chance makes"));
  rows[0] = 150;
  look();
  EXPECT_EQ(record.origin, Origin::automatic);
}

TEST_F(ControllerTest, EmptyTablesAreLeftAlone) {
  std::fill(rows.begin(), rows.end(), 0);
  rows[0] = 3;
  EXPECT_FALSE(look().record);
}

TEST_F(ControllerTest, WaitsUntilAllTablesAreCounted) {
  seen.counted = 100;
  EXPECT_THAT(look().standing, HasSubstr("100 of 128 tables have been counted"));
  EXPECT_FALSE(record.on());
}

TEST_F(ControllerTest, EstimatesMustExceedTheBoundHoweverWrongTheyAre) {
  seen.tables_are_counted = false;
  seen.counted = 0;
  for (size_t slot = 0; slot < errors.size(); ++slot) errors[slot] = rows[slot] * 0.3;
  EXPECT_THAT(look().standing, HasSubstr("within the error of the estimates"));
  EXPECT_FALSE(record.on());
  std::fill(rows.begin(), rows.begin() + 2, 900'000);
  look();
  EXPECT_TRUE(record.on());
}

TEST_F(ControllerTest, RefusesWhatWouldLetInsertsWaitAndSaysSoOnce) {
  seen.ids_per_second = 4'096;
  seen.peak_per_second = 3'000;
  look();
  EXPECT_FALSE(record.on());
  EXPECT_EQ(last(), "refused");
  EXPECT_THAT(record.history.back().reason, HasSubstr("leaves 3072 ids a second"));
  EXPECT_THAT(record.history.back().reason, HasSubstr("drew 3000 lately"));
  for (int i = 0; i < 10; ++i) {
    later(3'000);
    EXPECT_FALSE(look().record);
  }
  seen.peak_per_second = 2'000;
  look();
  EXPECT_TRUE(record.on());
}

TEST_F(ControllerTest, EndsWhenInsertsBecomeFasterAndRests) {
  look();
  seen.peak_per_second = 4'000'000;
  later(3'000);
  look();
  EXPECT_FALSE(record.on());
  EXPECT_THAT(record.history.back().reason, HasSubstr("inserts must not wait"));
  seen.peak_per_second = 1'000;
  later(capacity_rest_ms - 1'000);
  look();
  EXPECT_FALSE(record.on());
  later(2'000);
  look();
  EXPECT_TRUE(record.on());
}

TEST_F(ControllerTest, TakesFlatWeightsWhereUnevenOnesLeaveTooLittle) {
  rows[127] = 0;  // wants more than the others
  look();
  ASSERT_TRUE(record.on());
  EXPECT_GT(record.weights.levels, 1U);
  const double uneven = record.weights.capacity();
  seen.ids_per_second = 10'000;
  seen.peak_per_second = 10'000 * (uneven + 0.75) / 2 / capacity_headroom;
  later(3'000);
  look();
  ASSERT_TRUE(record.on());
  EXPECT_DOUBLE_EQ(record.weights.capacity(), 0.75);
}

TEST_F(ControllerTest, AdvisesOnce) {
  settings.mode = Mode::advise;
  look();
  EXPECT_FALSE(record.on());
  EXPECT_EQ(last(), "advice");
  EXPECT_THAT(record.history.back().reason, HasSubstr("96 of 128 tables alike; none for 0-31"));
  later(3'000);
  EXPECT_FALSE(look().record);
}

TEST_F(ControllerTest, StaysWithinDailyWindowsAndItsDuration) {
  settings.windows = {{22 * 60, 5 * 60}};
  EXPECT_THAT(look().standing, HasSubstr("outside the daily windows"));
  later(9 * 3'600'000);  // 22:33
  look();
  EXPECT_TRUE(record.on());
  later(7 * 3'600'000);  // 05:33
  look();
  EXPECT_FALSE(record.on());
  settings.windows.clear();
  settings.max_duration = std::chrono::hours(1);
  later(3'600'000);
  look();
  ASSERT_TRUE(record.on());
  later(3'600'000);
  look();
  EXPECT_FALSE(record.on());
  EXPECT_THAT(record.history.back().reason, HasSubstr("maximum duration"));
  later(1'800'000);
  look();
  EXPECT_FALSE(record.on()) << "it rests as long as it may last";
}

TEST_F(ControllerTest, MapsThatNobodyRenewsAreNotObeyed) {
  look();
  EXPECT_TRUE(in_force(record, seen.now_unix_ms));
  EXPECT_FALSE(in_force(record, seen.now_unix_ms + map_validity_ms));
  later(map_validity_ms / 2 + 1'000);
  const uint64_t version = record.map_version;
  EXPECT_TRUE(look().record) << "renewed";
  EXPECT_EQ(record.map_version, version);
  EXPECT_TRUE(in_force(record, seen.now_unix_ms + map_validity_ms - 1));
}

TEST_F(ControllerTest, OrdersEndByThemselves) {
  put_in_force(record, weights_of({false, true}), Origin::ordered, {}, 2);
  record.until_unix_ms = start_ms + 1'000;
  rows.resize(2);
  errors.resize(2);
  EXPECT_FALSE(look().record);
  later(1'000);
  look();
  EXPECT_FALSE(record.on());
  record.mode_ordered = true;
  record.mode = Mode::off;
  record.mode_until_unix_ms = seen.now_unix_ms;
  look();
  EXPECT_FALSE(record.mode_ordered);
}

}  // namespace
}  // namespace evenkeel::skew
