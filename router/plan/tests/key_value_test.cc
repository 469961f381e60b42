// What a value of one type matches in a column of another, as MySQL and MariaDB compare and store.
#include "router/plan/key_value.h"

#include <gtest/gtest.h>
#include <limits>

namespace evenkeel::plan {
namespace {

using mysql::ColumnType;
using mysql::Value;

catalog::Column integer_column(ColumnType type, bool is_unsigned = false) {
  catalog::Column column;
  column.name = "k";
  column.type = type;
  column.is_unsigned = is_unsigned;
  column.type_text = "int";
  return column;
}

catalog::Column string_column(ColumnType type, std::string collation, uint32_t length) {
  catalog::Column column;
  column.name = "k";
  column.type = type;
  column.collation_name = std::move(collation);
  column.char_length = length;
  column.type_text = type == ColumnType::string ? "char" : "varchar";
  return column;
}

const catalog::Column bigint = integer_column(ColumnType::longlong);
const catalog::Column unsigned_bigint = integer_column(ColumnType::longlong, true);
const catalog::Column tinyint = integer_column(ColumnType::tiny);
const TextFacts utf8mb4{"utf8mb4", false};

struct MatchCase {
  const char* what;
  catalog::Column column;
  Value constant;
  KeyFit fit;
  Value value;
};

class Match : public ::testing::TestWithParam<MatchCase> {};

TEST_P(Match, AsTheServerCompares) {
  const MatchCase& c = GetParam();
  const KeyMatch match = match_key(c.column, c.constant, utf8mb4);
  EXPECT_EQ(match.fit, c.fit) << c.what;
  if (c.fit == KeyFit::exact) {
    EXPECT_EQ(match.value, c.value) << c.what << ": " << to_string(match.value);
  }
}

constexpr int64_t bound = exact_double_bound;

INSTANTIATE_TEST_SUITE_P(
    Integers, Match,
    ::testing::Values(
        MatchCase{"integer", bigint, Value::int64(42), KeyFit::exact, Value::int64(42)},
        MatchCase{"unsigned literal", bigint, Value::uint64(42), KeyFit::exact, Value::int64(42)},
        MatchCase{"into unsigned", unsigned_bigint, Value::int64(42), KeyFit::exact, Value::uint64(42)},
        MatchCase{"negative", bigint, Value::int64(-3), KeyFit::exact, Value::int64(-3)},
        MatchCase{"negative, unsigned", unsigned_bigint, Value::int64(-1), KeyFit::matches_nothing, {}},
        MatchCase{"beyond signed", bigint, Value::uint64(1ULL << 63), KeyFit::matches_nothing, {}},
        MatchCase{"largest unsigned", unsigned_bigint, Value::uint64(UINT64_MAX), KeyFit::exact,
                  Value::uint64(UINT64_MAX)},
        MatchCase{"beyond the column", tinyint, Value::int64(128), KeyFit::matches_nothing, {}},
        MatchCase{"edge of the column", tinyint, Value::int64(-128), KeyFit::exact, Value::int64(-128)},
        MatchCase{"NULL", bigint, Value::null(), KeyFit::matches_nothing, {}},
        MatchCase{"whole decimal", bigint, Value::decimal("42.00"), KeyFit::exact, Value::int64(42)},
        MatchCase{"large decimal", bigint, Value::decimal("9223372036854775807"), KeyFit::exact,
                  Value::int64(INT64_MAX)},
        MatchCase{"fraction", bigint, Value::decimal("42.5"), KeyFit::inexact, {}},
        MatchCase{"decimal beyond all",
                  bigint,
                  Value::decimal("123456789012345678901234567890123"),
                  KeyFit::inexact,
                  {}}));

INSTANTIATE_TEST_SUITE_P(
    ComparedAsDouble, Match,
    ::testing::Values(
        MatchCase{"string", bigint, Value::string("42"), KeyFit::exact, Value::int64(42)},
        MatchCase{"negative string", bigint, Value::string("-42"), KeyFit::exact, Value::int64(-42)},
        MatchCase{"leading zeros", bigint, Value::string("0042"), KeyFit::exact, Value::int64(42)},
        MatchCase{"with point", bigint, Value::string("42.0"), KeyFit::exact, Value::int64(42)},
        MatchCase{"with rubbish", bigint, Value::string("42abc"), KeyFit::inexact, {}},
        MatchCase{"with blank", bigint, Value::string(" 42"), KeyFit::inexact, {}},
        MatchCase{"with exponent", bigint, Value::string("4.2e1"), KeyFit::inexact, {}},
        MatchCase{"empty", bigint, Value::string(""), KeyFit::inexact, {}},
        MatchCase{"sign alone", bigint, Value::string("-"), KeyFit::inexact, {}},
        MatchCase{"below 2^53", bigint, Value::string(std::to_string(bound - 1)), KeyFit::exact,
                  Value::int64(bound - 1)},
        // 2^53 + 1 is the same double, but texts are compared as integers.
        MatchCase{"2^53", bigint, Value::string(std::to_string(bound)), KeyFit::exact, Value::int64(bound)},
        MatchCase{"-2^53", bigint, Value::string(std::to_string(-bound)), KeyFit::exact,
                  Value::int64(-bound)},
        MatchCase{"string beyond the column", tinyint, Value::string("300"), KeyFit::inexact, {}},
        MatchCase{"whole double", bigint, Value::real(42), KeyFit::exact, Value::int64(42)},
        MatchCase{"negative zero", bigint, Value::real(-0.0), KeyFit::exact, Value::int64(0)},
        MatchCase{"fraction", bigint, Value::real(42.5), KeyFit::inexact, {}},
        MatchCase{"double 2^53", bigint, Value::real(9007199254740992.0), KeyFit::inexact, {}},
        MatchCase{"not a number",
                  bigint,
                  Value::real(std::numeric_limits<double>::quiet_NaN()),
                  KeyFit::inexact,
                  {}},
        MatchCase{
            "infinite", bigint, Value::real(std::numeric_limits<double>::infinity()), KeyFit::inexact, {}},
        MatchCase{"float", bigint, Value::single_real(7), KeyFit::exact, Value::int64(7)},
        MatchCase{"bytes", bigint, Value::bytes("42"), KeyFit::inexact, {}},
        MatchCase{"date", bigint, Value::temporal(Value::Kind::date, "2026-01-01"), KeyFit::inexact, {}}));

const catalog::Column by_code = string_column(ColumnType::varchar, "utf8mb4_bin", 8);
const catalog::Column fixed = string_column(ColumnType::string, "utf8mb4_bin", 8);
const catalog::Column folded = string_column(ColumnType::varchar, "utf8mb4_general_ci", 8);
const catalog::Column no_pad = string_column(ColumnType::varchar, "utf8mb4_0900_bin", 8);
const catalog::Column latin1 = string_column(ColumnType::varchar, "latin1_bin", 8);
const catalog::Column bytes = string_column(ColumnType::varchar, "binary", 8);
const catalog::Column fixed_bytes = string_column(ColumnType::string, "binary", 4);
const catalog::Column wide = string_column(ColumnType::varchar, "utf16_bin", 8);

INSTANTIATE_TEST_SUITE_P(
    Strings, Match,
    ::testing::Values(
        MatchCase{"by code", by_code, Value::string("ab"), KeyFit::exact, Value::string("ab")},
        MatchCase{"blanks do not count", by_code, Value::string("ab  "), KeyFit::exact, Value::string("ab")},
        MatchCase{"blanks count", no_pad, Value::string("ab "), KeyFit::exact, Value::string("ab ")},
        MatchCase{"binary keeps blanks", bytes, Value::string("ab "), KeyFit::exact, Value::string("ab ")},
        MatchCase{"case folding", folded, Value::string("ab"), KeyFit::inexact, {}},
        MatchCase{"number", by_code, Value::int64(5), KeyFit::inexact, {}},
        MatchCase{"same set", by_code, Value::string("\xc3\xa4"), KeyFit::exact, Value::string("\xc3\xa4")},
        MatchCase{"other set, ASCII", latin1, Value::string("ab"), KeyFit::exact, Value::string("ab")},
        MatchCase{"other set", latin1, Value::string("\xc3\xa4"), KeyFit::inexact, {}},
        MatchCase{"two-byte set", wide, Value::string("ab"), KeyFit::inexact, {}},
        MatchCase{"bytes", by_code, Value::bytes("ab"), KeyFit::exact, Value::string("ab")}));

TEST(Match, TrustsNoLiteralWithASetOfItsOwn) {
  EXPECT_EQ(match_key(by_code, Value::string("ab"), {"utf8mb4", true}).fit, KeyFit::inexact);
  EXPECT_EQ(match_key(by_code, Value::string("\xc3\xa4"), {"", false}).fit, KeyFit::inexact);
}

TEST(Stored, IsExactlyWhatWasWrittenOrRefused) {
  const auto stored = [](const catalog::Column& column, const Value& value) {
    return stored_key(column, value, utf8mb4);
  };
  EXPECT_EQ(stored(bigint, Value::string("7")), Value::int64(7));
  EXPECT_EQ(stored(bigint, Value::string("9007199254740993")), Value::int64(9007199254740993));
  EXPECT_EQ(stored(bigint, Value::decimal("7.0")), Value::int64(7));
  EXPECT_EQ(stored(bigint, Value::real(7)), Value::int64(7));
  for (const Value& value : {Value::decimal("7.5"), Value::real(7.5), Value::string("7a"), Value::string(""),
                             Value::bytes("7"), Value::temporal(Value::Kind::date, "2026-01-01")}) {
    const auto refused = stored(bigint, value);
    ASSERT_FALSE(refused) << to_string(value);
    EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
    EXPECT_NE(refused.error().message.find("'k'"), std::string::npos);
  }
  EXPECT_EQ(stored(tinyint, Value::int64(128)).error().code, 1264);
  EXPECT_EQ(stored(unsigned_bigint, Value::int64(-1)).error().code, 1264);
  EXPECT_EQ(stored(bigint, Value::null()).error().code, 1048);
}

TEST(Stored, StringsAreTrimmedAsTheyAreCompared) {
  EXPECT_EQ(stored_key(by_code, Value::string("ab "), utf8mb4), Value::string("ab"));
  EXPECT_EQ(stored_key(fixed, Value::string("ab "), utf8mb4), Value::string("ab"));
  EXPECT_EQ(stored_key(no_pad, Value::string("ab "), utf8mb4), Value::string("ab "));
  // Eight characters of two bytes each fit into VARCHAR(8).
  std::string umlauts;
  for (int i = 0; i < 8; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(stored_key(by_code, Value::string(umlauts), utf8mb4), Value::string(umlauts));
  EXPECT_FALSE(stored_key(by_code, Value::string(umlauts + "x"), utf8mb4));
  EXPECT_FALSE(stored_key(folded, Value::string("ab"), utf8mb4));
  EXPECT_FALSE(stored_key(by_code, Value::int64(5), utf8mb4));
  // BINARY(4) would be filled up with zero bytes.
  EXPECT_TRUE(stored_key(fixed_bytes, Value::bytes("abcd"), utf8mb4));
  EXPECT_FALSE(stored_key(fixed_bytes, Value::bytes("abc"), utf8mb4));
}

TEST(Zero, AsksForAKeyInEveryExactForm) {
  for (const Value& zero : {Value::int64(0), Value::uint64(0), Value::decimal("0.00"), Value::string("0"),
                            Value::string("-0"), Value::real(-0.0)}) {
    EXPECT_TRUE(is_exact_zero(zero)) << to_string(zero);
  }
  for (const Value& other : {Value::int64(1), Value::decimal("0.1"), Value::string(""), Value::null()}) {
    EXPECT_FALSE(is_exact_zero(other)) << to_string(other);
  }
}

TEST(Family, EqualColumnsLieInOneSlotOnlyWhenStoredAlike) {
  EXPECT_TRUE(same_key_family(bigint, tinyint));
  EXPECT_FALSE(same_key_family(bigint, unsigned_bigint));
  EXPECT_FALSE(same_key_family(bigint, by_code));
  EXPECT_TRUE(same_key_family(by_code, by_code));
  EXPECT_FALSE(same_key_family(by_code, latin1));
  EXPECT_FALSE(same_key_family(folded, folded));
}

}  // namespace
}  // namespace evenkeel::plan
