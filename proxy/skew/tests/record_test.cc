#include "proxy/skew/record.h"

#include <gtest/gtest.h>

namespace evenkeel::skew {
namespace {

TEST(Records, SteeringReadsBackAsWritten) {
  SteeringRecord record;
  record.map_version = 7;
  record.weights = {{0, 0, 32, 31, 32}, 32};
  record.origin = Origin::automatic;
  record.mode_ordered = true;
  record.mode = Mode::advise;
  record.mode_until_unix_ms = 9;
  record.since_unix_ms = 1;
  record.until_unix_ms = 2;
  record.valid_until_unix_ms = 3;
  record.ended_unix_ms = 4;
  record.rests_until_unix_ms = 5;
  record.ratio_at_start = 1.6;
  record.best_ratio = 1.25;
  record.best_unix_ms = 6;
  record.refusal = "advice";
  record.note({7, 1, "steering on", "admin 'an\"na'", "max/mean \xff is 1.6", "map", 1});
  const auto again = decode_steering(encode(record));
  ASSERT_TRUE(again.has_value());
  record.history[0].reason = "max/mean \xEF\xBF\xBD is 1.6";  // what is no UTF-8 is replaced
  EXPECT_EQ(*again, record);
}

TEST(Records, CountsAndSizesReadBackAsWritten) {
  const CountsRecord counts{"evenkeel pid 1", 1, 2, 3, 4, 5, 6.5, 7.25, {-1, -1, 0, 5}, {0, 0, 9, 9}};
  EXPECT_EQ(*decode_counts(encode(counts)), counts);
  const SizesRecord sizes{1'000,
                          "evenkeel pid 1",
                          "even",
                          {{10, 200, Source::exact, 5'000, -3, 0}, {20, 0, Source::estimate, 6'000, 0, 6}}};
  EXPECT_EQ(*decode_sizes(encode(sizes)), sizes);
}

TEST(Records, DamageIsAnError) {
  EXPECT_FALSE(decode_steering("").has_value());
  EXPECT_FALSE(decode_steering("{}").has_value());
  EXPECT_FALSE(decode_counts("[1]").has_value());
  EXPECT_FALSE(decode_sizes(R"({"at":1,"by":"","standing":"","rows":[1,2],"bytes":[1],"sources":[],)"
                            R"("sampled":[],"counted":[],"errors":[]})")
                   .has_value());
  EXPECT_FALSE(decode_counts(R"({"rows":[[1,99999999999]]})").has_value());
}

TEST(Records, HistoryIsBoundedAndFoldsWhatRepeats) {
  SteeringRecord record;
  for (int i = 0; i < 500; ++i) record.note({1, i, "re-weighted", "controller", "x", "m", 1});
  ASSERT_EQ(record.history.size(), 1U);
  EXPECT_EQ(record.history[0].times, 500U);
  for (int i = 0; i < 500; ++i) record.note({1, i, "ordered", "anna", "x", "m", 1});
  EXPECT_EQ(record.history.size(), SteeringRecord::history_max);
}

TEST(Records, KeyParts) {
  EXPECT_EQ(key_part("shop.orders"), "shop.orders");
  EXPECT_EQ(key_part("sh/op.a-b$\xc3"), "sh-2fop.a-2db-24-c3");
}

}  // namespace
}  // namespace evenkeel::skew
