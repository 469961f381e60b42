#include "proxy/session/timings.h"

#include <gtest/gtest.h>

namespace evenkeel::session {
namespace {

using namespace std::chrono_literals;

TEST(SlowLog, SumsByShapeAndSchema) {
  SlowLog log;
  log.note("SELECT ?", "shop", 5us, 1);
  log.note("SELECT ?", "shop", 7us, 2);
  log.note("SELECT ?", "other", 100us, 3);
  const auto shapes = log.shapes();
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_EQ(shapes[0].schema, "other");
  EXPECT_EQ(shapes[1].count, 2);
  EXPECT_EQ(shapes[1].total_micros, 12);
  EXPECT_EQ(shapes[1].longest_micros, 7);
  EXPECT_EQ(shapes[1].last_unix_ms, 2);
}

TEST(SlowLog, ForgetsTheLeastAndCutsLongTexts) {
  SlowLog log;
  for (size_t i = 0; i < SlowLog::shapes_max + 50; ++i) {
    log.note("SELECT " + std::to_string(i), "shop", std::chrono::microseconds(i + 1), 0);
  }
  auto shapes = log.shapes();
  EXPECT_EQ(shapes.size(), SlowLog::shapes_max);
  EXPECT_EQ(shapes.front().total_micros, SlowLog::shapes_max + 50);
  std::string long_text;
  while (long_text.size() < 2 * SlowLog::fingerprint_max) long_text += "ä";
  log.note("x" + long_text, "shop", 1s, 0);
  shapes = log.shapes();
  EXPECT_EQ(shapes.front().fingerprint.size(), SlowLog::fingerprint_max - 1);
}

}  // namespace
}  // namespace evenkeel::session
