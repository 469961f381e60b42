#include "proxy/session/statement_cache.h"

#include <gtest/gtest.h>

#include "router/sql/parser.h"

namespace evenkeel::session {
namespace {

class StatementCacheTest : public ::testing::Test {
 protected:
  // Whether `sql` was there; afterwards it is.
  bool hit(std::string_view sql, uint64_t catalog_version = 1) {
    const sql::LexRules rules = facts.lex;
    sql::Tokens tokens;
    EXPECT_TRUE(sql::lex(sql, rules, tokens)) << sql;
    const sql::Span all{0, static_cast<uint32_t>(tokens.size() - 1)};
    if (const auto* found = cache.find(tokens, all, facts, catalog_version)) {
      EXPECT_NE(found->statement, nullptr);
      return true;
    }
    CachedStatement made;
    auto parsed = sql::parse(tokens, rules, all);
    EXPECT_TRUE(parsed) << sql;
    made.statement = *parsed;
    cache.insert(tokens, made);
    return false;
  }

  plan::SessionFacts facts;
  StatementCache cache{3};
};

TEST_F(StatementCacheTest, OtherValuesAreTheSameStatement) {
  EXPECT_FALSE(hit("SELECT a FROM t WHERE id = 1"));
  EXPECT_TRUE(hit("SELECT a FROM t WHERE id = 2"));
  EXPECT_TRUE(hit("select  a from t /* c */ where id = 99"));
  EXPECT_EQ(cache.size(), 1u);
}

// What is not a value to the planner: NULL for a number, a text for a number, another number of rows.
TEST_F(StatementCacheTest, OtherKindsOfLiteralsAreOtherStatements) {
  EXPECT_FALSE(hit("SELECT a FROM t WHERE id = 1"));
  EXPECT_FALSE(hit("SELECT a FROM t WHERE id = NULL"));
  EXPECT_FALSE(hit("SELECT a FROM t WHERE id = '1'"));
  EXPECT_FALSE(hit("SELECT a FROM t WHERE id IN (1, 2)"));
}

TEST_F(StatementCacheTest, LiteralsThatTheStructureDependsOnAreCompared) {
  EXPECT_FALSE(hit("SELECT a, b FROM t ORDER BY 1"));
  EXPECT_TRUE(hit("SELECT a, b FROM t ORDER BY 1"));
  EXPECT_FALSE(hit("SELECT a, b FROM t ORDER BY 2"));
  // Both stand under one key.
  EXPECT_TRUE(hit("SELECT a, b FROM t ORDER BY 1"));
  EXPECT_TRUE(hit("SELECT a, b FROM t ORDER BY 2"));
  EXPECT_EQ(cache.size(), 2u);
}

TEST_F(StatementCacheTest, TheSessionIsPartOfTheKey) {
  const std::string_view sql = "SELECT a FROM t WHERE id = 1";
  EXPECT_FALSE(hit(sql));
  facts.database = "shop";
  EXPECT_FALSE(hit(sql));
  facts.no_auto_value_on_zero = true;
  EXPECT_FALSE(hit(sql));
  EXPECT_TRUE(hit(sql));
  EXPECT_FALSE(hit(sql, 2)) << "the catalog has changed";
}

TEST_F(StatementCacheTest, TheLeastRecentlyUsedGoes) {
  EXPECT_FALSE(hit("SELECT a FROM t"));
  EXPECT_FALSE(hit("SELECT b FROM t"));
  EXPECT_FALSE(hit("SELECT c FROM t"));
  EXPECT_TRUE(hit("SELECT a FROM t"));
  EXPECT_FALSE(hit("SELECT d FROM t"));
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_TRUE(hit("SELECT a FROM t"));
  EXPECT_FALSE(hit("SELECT b FROM t")) << "it was the oldest";
}

// Entries of one hash are told apart when one of them goes.
TEST_F(StatementCacheTest, EvictionTakesTheRightOneOfAKey) {
  EXPECT_FALSE(hit("SELECT a, b FROM t ORDER BY 1"));
  EXPECT_FALSE(hit("SELECT a, b FROM t ORDER BY 2"));
  EXPECT_TRUE(hit("SELECT a, b FROM t ORDER BY 1"));
  EXPECT_FALSE(hit("SELECT c FROM t"));
  EXPECT_FALSE(hit("SELECT d FROM t"));
  EXPECT_TRUE(hit("SELECT a, b FROM t ORDER BY 1"));
  EXPECT_FALSE(hit("SELECT a, b FROM t ORDER BY 2"));
}

TEST(StatementCacheOff, KeepsNothing) {
  StatementCache cache(0);
  sql::Tokens tokens;
  ASSERT_TRUE(sql::lex("SELECT 1", {}, tokens));
  EXPECT_EQ(cache.find(tokens, {0, 2}, {}, 1), nullptr);
  cache.insert(tokens, {*sql::parse(tokens, {}), nullptr, std::nullopt, nullptr});
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
}  // namespace evenkeel::session
