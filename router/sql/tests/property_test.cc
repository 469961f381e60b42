// Properties over generated text: pieces of SQL put together at random, and random bytes.
#include <array>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"
#include "router/sql/fingerprint.h"
#include "router/sql/literal.h"
#include "router/sql/parser.h"
#include "router/sql/splice.h"
#include "router/sql/tests/dump.h"
#include "router/sql/tests/rules_text.h"

namespace evenkeel::sql {
namespace {

LexRules any_rules() {
  static constexpr std::array<const char*, 7> charsets = {"utf8mb4", "latin1", "gbk",  "gb18030",
                                                          "big5",    "sjis",   "cp932"};
  LexRules rules = rules_of(charsets[*rc::gen::inRange<size_t>(0, charsets.size())]);
  rules.flavour = *rc::gen::element(mysql::Flavour::mysql, mysql::Flavour::mariadb);
  rules.version = rules.flavour == mysql::Flavour::mysql ? 80036 : 101119;
  rules.ansi_quotes = *rc::gen::arbitrary<bool>();
  rules.no_backslash_escapes = *rc::gen::arbitrary<bool>();
  rules.pipes_as_concat = *rc::gen::arbitrary<bool>();
  rules.high_not_precedence = *rc::gen::arbitrary<bool>();
  return rules;
}

// Words, signs and literals that the grammar knows, in any order.
std::string any_pieces() {
  static const std::vector<std::string> pieces = {
      "SELECT",   "FROM",   "WHERE",   "t",       "a",      "`b`",       "\"c\"",     "'d'",       "1",
      "2.5",      "3e4",    "x'41'",   "?",       "@v",     "@@w",       ",",         ".",         "(",
      ")",        "(",      ")",       "=",       "<=>",    ":=",        "+",         "-",         "*",
      "/",        "%",      "||",      "&&",      "!",      "~",         "->",        "AND",       "OR",
      "NOT",      "IN",     "BETWEEN", "LIKE",    "IS",     "NULL",      "JOIN",      "LEFT",      "ON",
      "USING",    "GROUP",  "BY",      "ORDER",   "LIMIT",  "UNION",     "ALL",       "INSERT",    "INTO",
      "VALUES",   "SET",    "UPDATE",  "DELETE",  "CASE",   "WHEN",      "THEN",      "END",       "INTERVAL",
      "DAY",      "COUNT",  "SUM",     "OVER",    "WITH",   "AS",        "EXISTS",    "FOR",       "LOCK",
      "COLLATE",  "BINARY", "DATE",    "DEFAULT", "ROW",    "TABLE",     "CREATE",    "ALTER",     "DROP",
      "BEGIN",    "SHOW",   "EXPLAIN", "ROUTE",   "/*!",    "*/",        "/* c */",   "-- x\n",    ";",
      "_utf8mb4", "{",      "}",       "CAST",    "WINDOW", "PARTITION", "RETURNING", "DUPLICATE", "KEY"};
  std::string text;
  for (const auto& piece : *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) {
    text += piece;
    if (*rc::gen::inRange(0, 4) != 0) text += ' ';
  }
  return text;
}

void check_lexed(const std::string& text, const Tokens& tokens) {
  RC_ASSERT(!tokens.items.empty());
  RC_ASSERT(tokens.items.back().kind == TokenKind::end);
  uint32_t before = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    RC_ASSERT(tokens[i].begin >= before);
    RC_ASSERT(tokens[i].end > tokens[i].begin);
    before = tokens[i].end;
  }
  RC_ASSERT(before <= text.size());
}

void check_statement(const std::string& text, const LexRules& rules) {
  Tokens tokens;
  if (!lex(text, rules, tokens)) return;
  check_lexed(text, tokens);
  std::string same;
  splice(tokens, {0, static_cast<uint32_t>(tokens.size() - 1)}, {}, same);
  RC_ASSERT(same == text);
  const auto parsed = parse(tokens, rules);
  if (!parsed) return;
  for (const SpanPair& pair : nested_spans(**parsed)) {
    if (!(pair.parent.first <= pair.child.first && pair.child.first <= pair.child.last &&
          pair.child.last <= pair.parent.last)) {
      RC_FAIL(pair.what + " outside its parent in " + text);
    }
  }
  uint32_t parameters = 0;
  for (const Token& token : tokens.items) parameters += token.kind == TokenKind::parameter ? 1 : 0;
  RC_ASSERT((*parsed)->parameters == parameters);
}

RC_GTEST_PROP(Properties, LexerIsTotal, (const std::string& bytes)) {
  const LexRules rules = any_rules();
  Tokens tokens;
  if (lex(bytes, rules, tokens)) check_lexed(bytes, tokens);
}

RC_GTEST_PROP(Properties, PiecesKeepTheirPlaces, ()) { check_statement(any_pieces(), any_rules()); }

// Statements of the corpus with a token taken out, doubled or exchanged.
RC_GTEST_PROP(Properties, ChangedStatementsKeepTheirPlaces, ()) {
  static const std::vector<std::string> corpus = [] {
    std::vector<std::string> lines;
    for (const auto& file : std::filesystem::directory_iterator("router/sql/tests/corpus")) {
      std::ifstream in(file.path());
      for (std::string line; std::getline(in, line);) {
        if (!line.empty() && !line.starts_with("#")) lines.push_back(line);
      }
    }
    return lines;
  }();
  const LexRules rules = any_rules();
  std::string text = *rc::gen::elementOf(corpus);
  Tokens tokens;
  if (!lex(text, rules, tokens) || tokens.size() < 3) return;
  const auto last = static_cast<uint32_t>(tokens.size() - 1);
  const auto at = *rc::gen::inRange<uint32_t>(0, last);
  const auto other = *rc::gen::inRange<uint32_t>(0, last);
  const std::string insert = " " + std::string(tokens.text_of(other)) + " ";
  std::string changed;
  splice(tokens, {0, last}, {{{at, *rc::gen::arbitrary<bool>() ? at : at + 1}, insert}}, changed);
  check_statement(changed, rules);
}

RC_GTEST_PROP(Properties, LiteralsReadBack, (std::string text)) {
  const LexRules rules = any_rules();
  // Bytes that matter to quoting, often.
  for (char& c : text) {
    if (*rc::gen::inRange(0, 3) == 0)
      c = *rc::gen::element('\'', '\\', '"', '\0', '\n', '\x1a', '\xbf', '\x81', '\x5c', '%');
  }
  std::string statement = "SELECT ";
  append_literal(mysql::Value::string(text), rules, statement);
  statement += ", 1";
  Tokens tokens;
  RC_ASSERT(lex(statement, rules, tokens).has_value());
  const auto parsed = parse(tokens, rules);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT((*parsed)->query->block->items.size() == 2u);
  const auto value = literal_value(*(*parsed)->query->block->items[0].expr, tokens, rules);
  RC_ASSERT(value == mysql::Value::string(text));
}

RC_GTEST_PROP(Properties, NumbersReadBack, (int64_t whole, uint64_t natural, double real)) {
  const auto back = [](const mysql::Value& value) {
    std::string statement = "SELECT ";
    append_literal(value, {}, statement);
    Tokens tokens;
    RC_ASSERT(lex(statement, {}, tokens).has_value());
    const auto parsed = parse(tokens, {});
    RC_ASSERT(parsed.has_value());
    return *literal_value(*(*parsed)->query->block->items[0].expr, tokens, {});
  };
  RC_ASSERT(back(mysql::Value::int64(whole)) == mysql::Value::int64(whole));
  RC_ASSERT(back(mysql::Value::uint64(natural)).as_uint64() == natural);
  RC_ASSERT(back(mysql::Value::real(real)).as_real() == real);
}

RC_GTEST_PROP(Properties, EqualShapesHaveEqualKinds, ()) {
  const LexRules rules = any_rules();
  const std::string one = any_pieces();
  const std::string two = *rc::gen::arbitrary<bool>() ? any_pieces() : one + " ";
  Tokens a, b;
  if (!lex(one, rules, a) || !lex(two, rules, b)) return;
  std::string shape_a, shape_b;
  append_shape(a, {0, static_cast<uint32_t>(a.size() - 1)}, shape_a);
  append_shape(b, {0, static_cast<uint32_t>(b.size() - 1)}, shape_b);
  if (shape_a != shape_b) return;
  RC_ASSERT(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    RC_ASSERT(a[i].kind == b[i].kind);
    RC_ASSERT(a[i].op == b[i].op);
    RC_ASSERT(a[i].keyword == b[i].keyword);
  }
}

std::string repeated(std::string_view piece, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

Result<StatementPtr> parsed(const std::string& text, Tokens& tokens) {
  const LexRules rules = rules_of("mariadb");
  EVENKEEL_TRY(lex(text, rules, tokens));
  return parse(tokens, rules);
}

TEST(Limits, DeepTextIsAnErrorAndLongTextIsNot) {
  constexpr size_t many = 100'000;
  Tokens tokens;
  const std::vector<std::string> deep = {
      "SELECT " + repeated("(", many) + "1" + repeated(")", many),
      "SELECT " + repeated("f(", many) + "1" + repeated(")", many),
      "SELECT " + repeated("- ", many) + "1",
      "SELECT " + repeated("NOT ", many) + "1",
      "SELECT 1" + repeated(" + 1", many),
      "SELECT 1" + repeated(" COLLATE c", many),
      "SELECT " + repeated("(SELECT ", many) + "1" + repeated(")", many),
      "SELECT 1 FROM " + repeated("(", many) + "t" + repeated(")", many),
      "SELECT 1 FROM " + repeated("(SELECT 1 FROM ", many) + "t" + repeated(") d", many),
      "SELECT 1 FROM t" + repeated(" JOIN t", many),
      "SELECT 1 FROM t" + repeated(", t", many),
      "SELECT 1" + repeated(" UNION SELECT 1", many),
      "SELECT " + repeated("CASE WHEN ", many) + "1" + repeated(" THEN 1 END", many),
      "SELECT @a" + repeated(" := @a", many),
  };
  for (const std::string& text : deep) {
    const auto result = parsed(text, tokens);
    ASSERT_FALSE(result) << text.substr(0, 60);
    EXPECT_EQ(result.error().kind, ErrorKind::limit) << text.substr(0, 60) << ": " << result.error().message;
  }
  for (const std::string& text :
       {"SELECT 1 WHERE 1" + repeated(" OR 1", many), "SELECT 1 WHERE 1" + repeated(" AND 1", many),
        "SELECT 1" + repeated(", 1", many), "SELECT 1 IN (1" + repeated(", 1", many) + ")",
        "INSERT INTO t VALUES (1)" + repeated(", (1)", many),
        "SELECT 1" + repeated(" UNION ALL SELECT 1", 900)}) {
    const auto result = parsed(text, tokens);
    ASSERT_TRUE(result) << text.substr(0, 60) << ": " << result.error().message;
    EXPECT_FALSE((*result)->has_opaque) << text.substr(0, 60);
  }
}

// Heights add up over subqueries: a walk that recurses never goes deeper than the limit.
TEST(Limits, HeightCountsThroughSubqueries) {
  std::string text = "1";
  for (int i = 0; i < 50; ++i) text = "(SELECT " + text + repeated(" + 1", 100) + ")";
  Tokens tokens;
  const auto result = parsed("SELECT " + text, tokens);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace evenkeel::sql
