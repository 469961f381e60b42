// Small parts by themselves: decimals, reals as text, broken rows, steady-state memory.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "router/merge/decimal.h"
#include "router/merge/row.h"
#include "router/merge/scalar.h"
#include "router/merge/tests/counting_new.h"
#include "router/merge/tests/test_rows.h"

namespace evenkeel::merge::testing {
namespace {

std::string real_text(double real, mysql::ColumnType type = mysql::ColumnType::double_,
                      uint8_t decimals = 31) {
  std::string text;
  write_real(real, type, decimals, text);
  return text;
}

// As MariaDB 10.11 and MySQL 9.7 print them.
TEST(Real, ShortestDigitsInTheServersNotation) {
  EXPECT_EQ(real_text(0.1), "0.1");
  EXPECT_EQ(real_text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(real_text(1e14), "100000000000000");
  EXPECT_EQ(real_text(1e15), "1e15");
  EXPECT_EQ(real_text(123456789.123456789), "123456789.12345679");
  EXPECT_EQ(real_text(1e-15), "0.000000000000001");
  EXPECT_EQ(real_text(1.5e-16), "1.5e-16");
  EXPECT_EQ(real_text(-1.7976931348623157e308), "-1.7976931348623157e308");
  EXPECT_EQ(real_text(5e-324), "5e-324");
  EXPECT_EQ(real_text(33333333333333333.0), "3.3333333333333332e16");
  EXPECT_EQ(real_text(3291747294992023.5), "3291747294992023.5");
  EXPECT_EQ(real_text(3291747294992023), "3.291747294992023e15");
  EXPECT_EQ(real_text(0.0), "0");
  EXPECT_EQ(real_text(-0.0), "-0");
  EXPECT_EQ(real_text(1, mysql::ColumnType::double_, 39), "1");
}

TEST(Real, FixedDecimals) {
  EXPECT_EQ(real_text(-6348924925843.91, mysql::ColumnType::double_, 4), "-6348924925843.9100");
  EXPECT_EQ(real_text(0, mysql::ColumnType::double_, 2), "0.00");
  EXPECT_EQ(real_text(0.001, mysql::ColumnType::double_, 5), "0.00100");
  EXPECT_EQ(real_text(0.0015, mysql::ColumnType::double_, 3), "0.002");
  EXPECT_EQ(real_text(12.5, mysql::ColumnType::double_, 0), "12");
  EXPECT_EQ(real_text(120, mysql::ColumnType::double_, 0), "120");
  EXPECT_EQ(real_text(0.305, mysql::ColumnType::double_, 3), "0.305");
  EXPECT_EQ(real_text(-1e20, mysql::ColumnType::double_, 2), "-100000000000000000000.00");
  EXPECT_EQ(real_text(1.7976931348623157e308, mysql::ColumnType::double_, 30).size(), 309U + 31U);
}

TEST(Real, SinglePrecisionHasSixDigits) {
  EXPECT_EQ(real_text(123456789.0F, mysql::ColumnType::float_), "123457000");
  EXPECT_EQ(real_text(16777217.0F, mysql::ColumnType::float_), "16777200");
  EXPECT_EQ(real_text(1.0 / 3, mysql::ColumnType::float_), "0.333333");
  EXPECT_EQ(real_text(1e38, mysql::ColumnType::float_), "1e38");
}

TEST(Real, TextGivesTheValueBack) {
  std::mt19937_64 random(20261130);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random();
    double real = 0;
    std::memcpy(&real, &bits, sizeof real);
    if (!std::isfinite(real)) continue;
    const std::string text = real_text(real);
    double back = 0;
    ASSERT_TRUE(read_real(RowFormat::text, column_of("double"), text, back)) << text;
    ASSERT_EQ(real, back) << text;
  }
}

int order(std::string_view a, std::string_view b) { return compare(*read_decimal(a), *read_decimal(b)); }

TEST(DecimalText, ComparesByValue) {
  EXPECT_EQ(order("1", "1.000"), 0);
  EXPECT_EQ(order("0001.50", "1.5"), 0);
  EXPECT_EQ(order("-0.00", "0"), 0);
  EXPECT_EQ(order(".5", "0.5"), 0);
  EXPECT_LT(order("9", "10"), 0);
  EXPECT_LT(order("-10", "-9"), 0);
  EXPECT_LT(order("-0.1", "0"), 0);
  EXPECT_LT(order("1.09", "1.1"), 0);
  EXPECT_LT(order("1", "1.0000000000000000000000000000000000000001"), 0);
  EXPECT_LT(order(std::string(200, '9'), "1" + std::string(200, '0')), 0);
  for (const char* none : {"", "-", ".", "1e5", "1.2.3", " 1", "0x1", "1,5"}) {
    EXPECT_FALSE(read_decimal(none).has_value()) << none;
  }
}

std::string sum_of(std::initializer_list<const char*> values, uint8_t scale) {
  Decimal sum, value;
  for (const char* text : values) {
    if (!Decimal::parse(text, value)) return "not a decimal";
    if (!sum.add(value)) return "overflow";
  }
  std::string text;
  sum.write(scale, text);
  return text;
}

TEST(Decimal, Sums) {
  EXPECT_EQ(sum_of({}, 2), "0.00");
  EXPECT_EQ(sum_of({"0.1", "0.2"}, 1), "0.3");
  EXPECT_EQ(sum_of({"-0.01", "0.01"}, 2), "0.00");
  EXPECT_EQ(sum_of({"1", "0.25", "-3"}, 2), "-1.75");
  EXPECT_EQ(sum_of({"0.045"}, 2), "0.05");
  EXPECT_EQ(sum_of({"-0.045"}, 2), "-0.05");
  const std::string nines(65, '9');
  EXPECT_EQ(sum_of({nines.c_str()}, 0), nines);
  EXPECT_EQ(sum_of({nines.c_str(), "1"}, 0), "overflow");
  EXPECT_EQ(sum_of({("-" + nines).c_str(), "1"}, 0), "-" + nines.substr(1) + "8");
  EXPECT_EQ(sum_of({("1" + nines).c_str()}, 0), "not a decimal");
  EXPECT_EQ(sum_of({"1000000000000000000", "1000000000000000001"}, 0), "2000000000000000001");
}

TEST(Rows, EveryTruncationIsMalformed) {
  const std::vector<ColumnFacts> columns = {
      column_of("int"),      column_of("varchar"), column_of("datetime(6)"),
      column_of("double"),   column_of("bigint"),  column_of("decimal(2)"),
      column_of("smallint"), column_of("time"),    column_of("tinyint")};
  const TestRow cells = {
      "7", std::string(300, 'x'), "2026-11-30 01:02:03.000004", "1.5", "-1", "2.50", "3", "-01:02:03", "1"};
  for (const RowFormat format : {RowFormat::text, RowFormat::binary}) {
    const RowReader reader(format, columns);
    std::vector<Cell> out(columns.size());
    const std::string row = encode(format, columns, cells);
    ASSERT_TRUE(reader.read_all(row, out));
    EXPECT_EQ(out[1].value, *cells[1]);
    EXPECT_EQ(out[1].raw().size(), 303U);
    for (size_t size = 0; size < row.size(); ++size)
      EXPECT_FALSE(reader.read_all(row.substr(0, size), out)) << size;
    EXPECT_FALSE(reader.read_all(row + "x", out));
  }
}

TEST(Rows, LengthsThatLie) {
  const RowReader reader(RowFormat::text, {column_of("varchar")});
  std::vector<Cell> out(1);
  for (const std::string row :
       {"\xfe\xff\xff\xff\xff\xff\xff\xff\xff", "\xfd\xff\xff\xff", "\xfc\x01", "\xff", "\xfe"}) {
    EXPECT_FALSE(reader.read_all(row, out));
  }
}

TEST(Merger, CallerDefectsBecomeErrors) {
  const std::vector<ColumnFacts> columns = {column_of("int")};
  Spec spec;
  spec.how = How::concat;
  auto merger = make_merger(spec, RowFormat::text, columns, columns, 1);
  ASSERT_TRUE(merger.has_value());
  (*merger)->finish(0);
  (*merger)->feed(0,
                  "\x01"
                  "1");
  EXPECT_EQ((*merger)->next(), Merger::Step::error);
  EXPECT_EQ((*merger)->next(), Merger::Step::error);
  merger = make_merger(spec, RowFormat::text, columns, columns, 1);
  (*merger)->feed(7, "");
  EXPECT_EQ((*merger)->next(), Merger::Step::error);
}

// Allocations of `rounds` rounds of a row from each of 16 sources.
size_t allocations_of(Merger& merger, const std::vector<std::string>& rows, int rounds) {
  const size_t before = allocations();
  size_t given = 0;
  for (int i = 0; i < rounds;) {
    const auto step = merger.next();
    if (step == Merger::Step::need) {
      merger.feed(merger.needed(), rows[static_cast<size_t>(i) % rows.size()]);
      continue;
    }
    if (step != Merger::Step::row) return SIZE_MAX;
    given += merger.row().size();
    ++i;
  }
  return given == 0 ? SIZE_MAX : allocations() - before;
}

TEST(Memory, SteadyStateDoesNotAllocate) {
  const std::vector<ColumnFacts> columns = {column_of("bigint"), column_of("decimal(2)"),
                                            column_of("varchar"), column_of("datetime(6)")};
  const std::vector<ColumnFacts> visible(columns.begin(), columns.begin() + 3);
  for (const RowFormat format : {RowFormat::text, RowFormat::binary}) {
    const std::string row =
        encode(format, columns, {"7", "12.50", std::string(100, 'x'), "2026-11-30 01:02:03.000004"});
    for (const How how : {How::concat, How::ordered}) {
      Spec spec;
      spec.how = how;
      spec.visible_columns = 3;
      spec.order = {{0, false, Comparison::signed_integer},
                    {1, true, Comparison::decimal},
                    {3, false, Comparison::temporal}};
      auto merger = make_merger(spec, format, columns, visible, 16);
      ASSERT_TRUE(merger.has_value());
      ASSERT_NE(allocations_of(**merger, {row}, 200), SIZE_MAX);
      EXPECT_EQ(allocations_of(**merger, {row}, 10000), 0U);
    }
  }
}

TEST(Memory, RowsFedFarAheadSurviveMovesOfTheirMemory) {
  const std::vector<ColumnFacts> columns = {column_of("int"), column_of("varchar")};
  Spec spec;
  spec.how = How::ordered;
  spec.order = {{1, false, Comparison::bytes}, {0, false, Comparison::signed_integer}};
  auto merger = make_merger(spec, RowFormat::text, columns, columns, 2);
  ASSERT_TRUE(merger.has_value());
  // The keys are views into the queues, whose memory grows and is compacted while rows wait.
  int next = 0, fed[2] = {0, 1};
  const auto row = [&](int i) {
    char text[16];
    std::snprintf(text, sizeof text, "%08d", i);
    return encode(RowFormat::text, columns, {std::to_string(i), text + std::string(50, 'y')});
  };
  while (next < 30000) {
    switch ((*merger)->next()) {
      case Merger::Step::row:
        ASSERT_EQ((*merger)->row(), row(next));
        ++next;
        if (next % 7 == 0) (*merger)->feed(0, row(std::exchange(fed[0], fed[0] + 2)));
        break;
      case Merger::Step::need: {
        const uint32_t source = (*merger)->needed();
        for (int i = 0; i < 37; ++i)
          (*merger)->feed(source, row(std::exchange(fed[source], fed[source] + 2)));
        break;
      }
      default:
        FAIL();
    }
  }
}

}  // namespace
}  // namespace evenkeel::merge::testing
