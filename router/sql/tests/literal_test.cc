#include "router/sql/literal.h"

#include <gtest/gtest.h>
#include <limits>

#include "router/sql/parser.h"
#include "router/sql/tests/rules_text.h"

namespace evenkeel::sql {
namespace {

using mysql::Value;

// The value of the only select item.
Result<Value> value_of(const std::string& literal, const LexRules& rules = {}) {
  const std::string text = "SELECT " + literal;
  Tokens tokens;
  EVENKEEL_TRY(lex(text, rules, tokens));
  EVENKEEL_ASSIGN(const StatementPtr statement, parse(tokens, rules));
  return literal_value(*statement->query->block->items[0].expr, tokens, rules);
}

TEST(LiteralValue, Numbers) {
  EXPECT_EQ(value_of("0"), Value::int64(0));
  EXPECT_EQ(value_of("007"), Value::int64(7));
  EXPECT_EQ(value_of("9223372036854775807"), Value::int64(INT64_MAX));
  EXPECT_EQ(value_of("9223372036854775808"), Value::uint64(uint64_t{1} << 63));
  EXPECT_EQ(value_of("18446744073709551615"), Value::uint64(UINT64_MAX));
  EXPECT_EQ(value_of("18446744073709551616"), Value::decimal("18446744073709551616"));
  EXPECT_EQ(value_of("00018446744073709551616"), Value::decimal("18446744073709551616"));
  EXPECT_EQ(value_of("-9223372036854775808"), Value::int64(INT64_MIN));
  EXPECT_EQ(value_of("-9223372036854775809"), Value::decimal("-9223372036854775809"));
  EXPECT_EQ(value_of("-5"), Value::int64(-5));
  EXPECT_EQ(value_of("+5"), Value::int64(5));
  EXPECT_EQ(value_of("-1.50"), Value::decimal("-1.50"));
  EXPECT_EQ(value_of(".5"), Value::decimal("0.5"));
  EXPECT_EQ(value_of("5."), Value::decimal("5"));
  EXPECT_EQ(value_of("1.5e3"), Value::real(1500));
  EXPECT_EQ(value_of("-1E-2"), Value::real(-0.01));
  EXPECT_FALSE(value_of("1e999"));
  EXPECT_EQ(value_of("TRUE"), Value::int64(1));
  EXPECT_EQ(value_of("false"), Value::int64(0));
  EXPECT_EQ(value_of("NULL"), Value::null());
}

TEST(LiteralValue, StringsBitsAndIntroducers) {
  EXPECT_EQ(value_of(R"('it''s \'\n\0\Z\%\_\x')"), Value::string(std::string("it's '\n\0\x1a\\%\\_x", 14)));
  EXPECT_EQ(value_of(R"("a""b'c")"), Value::string("a\"b'c"));
  EXPECT_EQ(value_of(R"('a\b')", rules_of("no_backslash_escapes")), Value::string("a\\b"));
  EXPECT_EQ(value_of("'a' 'b' \"c\""), Value::string("abc"));
  EXPECT_EQ(value_of("N'x'"), Value::string("x"));
  EXPECT_EQ(value_of("x'00Ff'"), Value::bytes(std::string("\0\xff", 2)));
  EXPECT_EQ(value_of("0xabc"), Value::bytes("\x0a\xbc"));
  EXPECT_EQ(value_of("b'100000001'"), Value::bytes("\x01\x01"));
  EXPECT_EQ(value_of("0b11"), Value::bytes("\x03"));
  EXPECT_EQ(value_of("b''"), Value::bytes(""));
  EXPECT_EQ(value_of("_binary'a\xff'"), Value::bytes("a\xff"));
  EXPECT_EQ(value_of("_latin1'abc'"), Value::string("abc"));
  EXPECT_EQ(value_of("_utf8mb4 x'41'"), Value::string("A"));
  EXPECT_FALSE(value_of("_latin1'\xe4'"));
  EXPECT_FALSE(value_of("_utf16 x'0041'"));
  // The second byte of a gbk character is no backslash.
  EXPECT_EQ(value_of("'\xbf\x5c'", rules_of("gbk")), Value::string("\xbf\x5c"));
  EXPECT_EQ(value_of("'\xbf\x5c'''", rules_of("gbk")), Value::string("\xbf\x5c'"));
}

TEST(LiteralValue, TemporalsInTheServersOwnFormOnly) {
  EXPECT_EQ(value_of("DATE '2026-01-02'"), Value::temporal(Value::Kind::date, "2026-01-02"));
  EXPECT_EQ(value_of("{ts '2026-01-02 03:04:05.678'}"),
            Value::temporal(Value::Kind::datetime, "2026-01-02 03:04:05.678"));
  EXPECT_EQ(value_of("TIME '-838:59:59'"), Value::temporal(Value::Kind::time, "-838:59:59"));
  EXPECT_FALSE(value_of("DATE '20260102'"));
  EXPECT_FALSE(value_of("TIMESTAMP '2026-01-02'"));
  EXPECT_FALSE(value_of("TIME '1 10:00:00'"));
}

TEST(LiteralValue, OnlyLiterals) {
  for (const char* text : {"1 + 1", "a", "?", "NOW()", "(1)", "-a", "~1", "- -1"})
    EXPECT_FALSE(value_of(text)) << text;
}

TEST(AppendLiteral, Kinds) {
  const auto text = [](const Value& value) {
    std::string out;
    append_literal(value, {}, out);
    return out;
  };
  EXPECT_EQ(text(Value::null()), "NULL");
  EXPECT_EQ(text(Value::int64(-5)), "-5");
  EXPECT_EQ(text(Value::uint64(UINT64_MAX)), "18446744073709551615");
  EXPECT_EQ(text(Value::decimal("-1.50")), "-1.50");
  EXPECT_EQ(text(Value::real(3)), "3e0");
  EXPECT_EQ(text(Value::real(0.1)), "0.10000000000000001e0");
  EXPECT_EQ(text(Value::real(1e300)), "1.0000000000000001e+300");
  EXPECT_EQ(text(Value::single_real(0.5F)), "0.5e0");
  EXPECT_EQ(text(Value::bytes(std::string("\0'", 2))), "x'0027'");
  EXPECT_EQ(text(Value::temporal(Value::Kind::date, "2026-01-02")), "'2026-01-02'");
  EXPECT_EQ(text(Value::string("a'b\\c")), "'a''b\\\\c'");
}

TEST(AppendIdentifier, DoublesBackticks) {
  std::string out;
  append_identifier("a`b", out);
  EXPECT_EQ(out, "`a``b`");
}

}  // namespace
}  // namespace evenkeel::sql
