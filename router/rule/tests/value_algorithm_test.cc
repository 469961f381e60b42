// range, list and interval: which values lie where, which lie nowhere, and what is refused when they are
// made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mysql/error_codes.h"
#include "base/random.h"
#include "router/rule/algorithm.h"
#include "router/rule/date_text.h"

namespace evenkeel::rule {
namespace {

using mysql::Value;
using ::testing::HasSubstr;
using Unit = AlgorithmParameters::Unit;

std::shared_ptr<const Algorithm> made(std::string_view name, uint32_t slots,
                                      const AlgorithmParameters& parameters) {
  auto algorithm = make_algorithm(name, slots, parameters);
  EXPECT_TRUE(algorithm) << algorithm.error().message;
  return algorithm.value_or(nullptr);
}

std::string refusal(std::string_view name, uint32_t slots, const AlgorithmParameters& parameters) {
  auto algorithm = make_algorithm(name, slots, parameters);
  return algorithm ? "made" : algorithm.error().message;
}

// The slot; -1: none of them has the value; -2: no rule for its kind.
int slot(const Algorithm& algorithm, const Value& value) {
  const auto found = algorithm.slot_of(value);
  if (found) return static_cast<int>(*found);
  return found.error().code == mysql::er::no_partition_for_given_value ? -1 : -2;
}

Value date(const char* text) { return Value::temporal(Value::Kind::date, text); }
Value datetime(const char* text) { return Value::temporal(Value::Kind::datetime, text); }

AlgorithmParameters bounds(std::vector<int64_t> values) {
  AlgorithmParameters parameters;
  parameters.bounds = std::move(values);
  return parameters;
}

AlgorithmParameters monthly(bool cycle = false) {
  AlgorithmParameters parameters;
  parameters.start = "2026-01-01";
  parameters.every = 1;
  parameters.unit = Unit::month;
  parameters.cycle = cycle;
  return parameters;
}

TEST(Range, OpenEndsTakeEveryInteger) {
  const auto range = made("range", 3, bounds({100, 200}));
  EXPECT_EQ(slot(*range, Value::int64(INT64_MIN)), 0);
  EXPECT_EQ(slot(*range, Value::int64(99)), 0);
  EXPECT_EQ(slot(*range, Value::int64(100)), 1);
  EXPECT_EQ(slot(*range, Value::uint64(199)), 1);
  EXPECT_EQ(slot(*range, Value::int64(200)), 2);
  EXPECT_EQ(slot(*range, Value::uint64(UINT64_MAX)), 2);
}

TEST(Range, ClosedEndsLeaveOtherIntegersOut) {
  const auto range = made("range", 2, bounds({-10, 0, 10}));
  EXPECT_EQ(slot(*range, Value::int64(-11)), -1);
  EXPECT_EQ(slot(*range, Value::int64(-10)), 0);
  EXPECT_EQ(slot(*range, Value::int64(9)), 1);
  EXPECT_EQ(slot(*range, Value::int64(10)), -1);
  EXPECT_EQ(slot(*range, Value::uint64(UINT64_MAX)), -1);
  EXPECT_EQ(slot(*range, Value::string("5")), -2);
  EXPECT_EQ(slot(*range, Value::null()), -2);
  const auto nowhere = range->slot_of(Value::int64(4711));
  EXPECT_THAT(nowhere.error().message, HasSubstr("this integer value"));
  EXPECT_EQ(nowhere.error().message.find("4711"), std::string::npos);
}

// Against asking for each value.
TEST(Range, SlotsBetweenAreThoseOfTheValuesBetween) {
  SeededRandom random(11);
  for (const auto& range : {made("range", 4, bounds({-5, 0, 7})), made("range", 2, bounds({-5, 0, 7}))}) {
    for (int turn = 0; turn < 500; ++turn) {
      const auto low = static_cast<int64_t>(random.below(30)) - 15;
      const int64_t high = low + static_cast<int64_t>(random.below(20)) - 3;
      std::vector<Slot> expected;
      for (int64_t value = low; value <= high; ++value) {
        const auto found = range->slot_of(Value::int64(value));
        if (found && (expected.empty() || expected.back() != *found)) expected.push_back(*found);
      }
      EXPECT_EQ(range->slots_between(Value::int64(low), Value::int64(high)), expected)
          << low << " to " << high;
    }
  }
}

TEST(Range, ImpossibleBoundsAreRefused) {
  EXPECT_THAT(refusal("range", 3, bounds({1, 2, 3})),
              HasSubstr("3 bounds for 3 tables: 2 leave both ends open, 4"));
  EXPECT_THAT(refusal("range", 3, bounds({5, 5})), HasSubstr("bounds must rise, but 5 follows 5"));
  EXPECT_THAT(refusal("mod", 3, bounds({5})), HasSubstr("mod takes no parameters"));
  EXPECT_THAT(refusal("range", 3, monthly()), HasSubstr("takes bounds and nothing else"));
}

TEST(List, NamesValuesAndPerhapsTheRest) {
  AlgorithmParameters parameters;
  parameters.lists = {{int64_t{1}, int64_t{5}}, {int64_t{-2}}};
  const auto strict = made("list", 2, parameters);
  EXPECT_EQ(slot(*strict, Value::int64(5)), 0);
  EXPECT_EQ(slot(*strict, Value::uint64(1)), 0);
  EXPECT_EQ(slot(*strict, Value::int64(-2)), 1);
  EXPECT_EQ(slot(*strict, Value::int64(2)), -1);
  EXPECT_EQ(slot(*strict, Value::uint64(UINT64_MAX)), -1);
  EXPECT_EQ(slot(*strict, Value::string("5")), -2);
  EXPECT_FALSE(strict->slots_between(Value::int64(1), Value::int64(5)).has_value());
  parameters.otherwise = 1;
  EXPECT_EQ(slot(*made("list", 2, parameters), Value::uint64(UINT64_MAX)), 1);
  parameters.lists = {{std::string("cn"), std::string("")}, {}};
  const auto texts = made("list", 2, parameters);
  EXPECT_EQ(slot(*texts, Value::string("cn")), 0);
  EXPECT_EQ(slot(*texts, Value::bytes("")), 0);
  EXPECT_EQ(slot(*texts, Value::string("CN")), 1);
  EXPECT_EQ(slot(*texts, Value::int64(1)), -2);
}

TEST(List, ImpossibleListsAreRefused) {
  AlgorithmParameters parameters;
  parameters.lists = {{int64_t{1}}, {int64_t{1}}};
  EXPECT_THAT(refusal("list", 2, parameters), HasSubstr("in the lists of slots 0 and 1"));
  EXPECT_THAT(refusal("list", 3, parameters), HasSubstr("2 lists for 3 tables"));
  parameters.lists = {{int64_t{1}}, {std::string("a")}};
  EXPECT_THAT(refusal("list", 2, parameters), HasSubstr("mixed"));
  parameters.lists = {{int64_t{1}}, {}};
  EXPECT_THAT(refusal("list", 2, parameters), HasSubstr("the list of slot 1 is empty"));
  parameters.otherwise = 2;
  EXPECT_THAT(refusal("list", 2, parameters), HasSubstr("otherwise 2 is no slot"));
}

TEST(Interval, MonthsDaysAndCycles) {
  const auto months = made("interval", 12, monthly());
  EXPECT_EQ(slot(*months, date("2026-01-01")), 0);
  EXPECT_EQ(slot(*months, datetime("2026-02-28 23:59:59.999999")), 1);
  EXPECT_EQ(slot(*months, date("2026-12-31")), 11);
  EXPECT_EQ(slot(*months, date("2027-01-01")), -1);
  EXPECT_EQ(slot(*months, date("2025-12-31")), -1);
  EXPECT_EQ(slot(*months, date("2026-02-30")), -2);
  EXPECT_EQ(slot(*months, Value::int64(20260101)), -2);
  const auto cycle = made("interval", 12, monthly(true));
  EXPECT_EQ(slot(*cycle, date("2027-03-05")), 2);
  EXPECT_EQ(slot(*cycle, date("2025-12-31")), 11);
  AlgorithmParameters weeks = monthly();
  weeks.every = 7;
  weeks.unit = Unit::day;
  EXPECT_EQ(slot(*made("interval", 4, weeks), datetime("2026-01-14 23:59:59")), 1);
  EXPECT_EQ(slot(*made("interval", 4, weeks), date("2026-01-15")), 2);
}

TEST(Interval, SlotsBetween) {
  const auto months = made("interval", 12, monthly());
  EXPECT_EQ(months->slots_between(date("2026-02-10"), datetime("2026-04-01 00:00:00")),
            (std::vector<Slot>{1, 2, 3}));
  EXPECT_EQ(months->slots_between(date("2020-01-01"), date("2026-01-31")), (std::vector<Slot>{0}));
  EXPECT_EQ(months->slots_between(date("2027-01-01"), date("2028-01-31")), std::vector<Slot>{});
  const auto cycle = made("interval", 12, monthly(true));
  EXPECT_EQ(cycle->slots_between(date("2026-12-10"), date("2027-02-01")), (std::vector<Slot>{0, 1, 11}));
  EXPECT_EQ(cycle->slots_between(date("2026-12-10"), date("2029-02-01"))->size(), 12u);
}

TEST(Interval, ImpossibleStartsAreRefused) {
  AlgorithmParameters parameters = monthly();
  parameters.start = "2026-01-02";
  EXPECT_THAT(refusal("interval", 2, parameters), HasSubstr("beginning of a month"));
  parameters.start = "last year";
  EXPECT_THAT(refusal("interval", 2, parameters), HasSubstr("needs a start"));
  parameters = monthly();
  parameters.every = 0;
  EXPECT_THAT(refusal("interval", 2, parameters), HasSubstr("needs every"));
}

TEST(DateText, ReadsOneFormOnly) {
  EXPECT_EQ(parse_date_time("1970-01-02")->micros, 86'400'000'000);
  EXPECT_EQ(parse_date_time("1969-12-31 23:59:59.5")->micros, -500'000);
  EXPECT_EQ(parse_date_time("1970-01-01 00:00:00.000001")->decimals, 6);
  for (const char* text :
       {"", "2026-1-2", "2026-01-02 ", "2026-01-02T00:00:00", "2026-01-02 24:00:00", "2026-02-29",
        "2026-00-01", "0000-01-01", "2026-01-02 00:00:00.", "2026-01-02 00:00:00.1234567"})
    EXPECT_FALSE(parse_date_time(text)) << text;
}

}  // namespace
}  // namespace evenkeel::rule
