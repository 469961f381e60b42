#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/mysql/collation.h"
#include "base/mysql/error_codes.h"
#include "base/mysql/value.h"
#include "base/random.h"
#include "base/result.h"

namespace evenkeel {
namespace {

TEST(Error, CarriesTheSqlstateOfItsNumber) {
  EXPECT_EQ(make_error(ErrorKind::statement, mysql::er::dup_entry, "x").sqlstate, "23000");
  EXPECT_EQ(unsupported("HAVING").code, 1235);
  EXPECT_EQ(mysql::sqlstate_of(65000), "HY000");
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(config_error("odd"));
  return value / 2;
}

Result<int> quarter(int value) {
  EVENKEEL_ASSIGN(const int once, half(value));
  EVENKEEL_ASSIGN(const int twice, half(once));
  return twice;
}

TEST(Result, AssignPassesTheFirstErrorOn) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Clock, ManualClockMovesOnlyWhenTold) {
  ManualClock clock(1'000'000);
  clock.advance(std::chrono::milliseconds(5));
  EXPECT_EQ(clock.unix_micros(), 1'005'000);
  clock.step_wall(std::chrono::seconds(-1));
  EXPECT_EQ(clock.unix_micros(), 5'000);
  EXPECT_EQ(clock.steady(), std::chrono::milliseconds(5));
}

TEST(Random, SameSeedSameNumbers) {
  SeededRandom a(7);
  SeededRandom b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Random, BelowStaysBelowAndReachesAll) {
  SeededRandom random(1);
  uint32_t seen = 0;
  for (int i = 0; i < 1000; ++i) seen |= 1u << random.below(10);
  EXPECT_EQ(seen, 0x3ffu);
}

TEST(Value, PrintsAsSql) {
  EXPECT_EQ(to_string(mysql::Value::null()), "NULL");
  EXPECT_EQ(to_string(mysql::Value::int64(-3)), "-3");
  EXPECT_EQ(to_string(mysql::Value::string("it's")), "'it''s'");
  EXPECT_EQ(to_string(mysql::Value::bytes(std::string("\0\xff", 2))), "x'00ff'");
}

TEST(Collation, FindsByIdNameAndCharset) {
  EXPECT_EQ(mysql::find_collation(uint16_t{45})->name, "utf8mb4_general_ci");
  EXPECT_EQ(mysql::find_collation("UTF8MB4_BIN")->id, 46);
  EXPECT_EQ(mysql::default_collation_of("latin1")->id, 8);
  EXPECT_EQ(mysql::step_of("cp932"), mysql::CharsetStep::sjis);
  EXPECT_EQ(mysql::step_of("ucs2"), mysql::CharsetStep::not_allowed);
}

}  // namespace
}  // namespace evenkeel
