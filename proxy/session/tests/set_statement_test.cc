#include "proxy/session/set_statement.h"

#include <gtest/gtest.h>

#include "base/mysql/error_codes.h"
#include "router/sql/parser.h"

namespace evenkeel::session {
namespace {

using Items = std::vector<exec::Variables::Item>;

Result<SetEffects> effects_of(std::string_view sql) {
  static sql::LexRules rules;
  sql::Tokens tokens;
  EVENKEEL_TRY(sql::lex(sql, rules, tokens));
  EVENKEEL_ASSIGN(const sql::StatementPtr statement, sql::parse(tokens, rules));
  return interpret_set(*statement->set, tokens, rules);
}

Items changes_of(std::string_view sql) {
  const auto effects = effects_of(sql);
  EXPECT_TRUE(effects) << sql << ": " << effects.error().message;
  return effects ? effects->changes : Items{};
}

uint16_t refusal_of(std::string_view sql) {
  const auto effects = effects_of(sql);
  EXPECT_FALSE(effects) << sql;
  return effects ? uint16_t{0} : effects.error().code;
}

TEST(SetStatement, LiteralsAreKeptAsTheyMean) {
  EXPECT_EQ(changes_of("SET @a = 5"), (Items{{"@`a`", "5"}}));
  EXPECT_EQ(changes_of("SET @a = 'it''s'"), (Items{{"@`a`", "_utf8mb4 x'69742773'"}}))
      << "quoted so that no sql_mode changes it";
  EXPECT_EQ(changes_of("SET @a = NULL"), (Items{{"@`a`", ""}})) << "a user variable's default is NULL";
  EXPECT_EQ(changes_of("SET @a = 1, @b = 'x', @a = 2"),
            (Items{{"@`a`", "1"}, {"@`b`", "'x'"}, {"@`a`", "2"}}));
}

TEST(SetStatement, ExpressionsAreQuestions) {
  const auto effects = effects_of("SET @a = 1, @b = 1 + 1, @c = NOW()");
  ASSERT_TRUE(effects);
  ASSERT_EQ(effects->questions.size(), 2u);
  EXPECT_EQ(effects->questions[0].change, 1u);
  EXPECT_EQ(effects->questions[0].expression, "1 + 1");
  EXPECT_EQ(effects->questions[1].change, 2u);
  EXPECT_EQ(effects->questions[1].expression, "NOW()");
}

TEST(SetStatement, AutocommitIsTheSessionsOwn) {
  for (const char* sql : {"SET autocommit = 1", "SET AUTOCOMMIT = ON", "SET @@session.autocommit = 'on'",
                          "SET autocommit = DEFAULT", "SET autocommit = TRUE"}) {
    const auto effects = effects_of(sql);
    ASSERT_TRUE(effects) << sql;
    EXPECT_EQ(effects->autocommit, true) << sql;
    EXPECT_TRUE(effects->changes.empty()) << "no instance is told: " << sql;
  }
  EXPECT_EQ(effects_of("SET autocommit = 0")->autocommit, false);
  EXPECT_EQ(refusal_of("SET autocommit = 2"), mysql::er::wrong_value_for_var);
}

TEST(SetStatement, LastInsertIdIsTheSessionsOwn) {
  EXPECT_EQ(effects_of("SET last_insert_id = 18446744073709551615")->last_insert_id, UINT64_MAX);
  EXPECT_EQ(effects_of("SET identity = 7")->last_insert_id, 7u);
  EXPECT_EQ(refusal_of("SET last_insert_id = 18446744073709551616"), mysql::er::wrong_value_for_var);
  EXPECT_EQ(refusal_of("SET last_insert_id = 'x'"), mysql::er::wrong_value_for_var);
}

TEST(SetStatement, WhatAPooledConnectionMustNotBeGivenIsRefused) {
  for (const char* sql :
       {"SET GLOBAL max_connections = 1", "SET auto_increment_increment = 2", "SET sql_select_limit = 10",
        "SET insert_id = 5", "SET sql_log_bin = 0", "SET pseudo_thread_id = 1", "SET PASSWORD = 'x'"}) {
    EXPECT_EQ(refusal_of(sql), mysql::er::not_supported_yet) << sql;
  }
  for (const char* sql : {"SET auto_increment_increment = 1", "SET sql_log_bin = ON", "SET insert_id = 0"}) {
    EXPECT_TRUE(changes_of(sql).empty()) << "what holds anyway needs no SET: " << sql;
  }
}

TEST(SetStatement, UnknownValuesAreTried) {
  EXPECT_TRUE(effects_of("SET sql_mode = 'ANSI'")->must_be_tried);
  EXPECT_TRUE(effects_of("SET no_such_variable = 1")->must_be_tried);
  EXPECT_FALSE(effects_of("SET foreign_key_checks = 0")->must_be_tried);
  EXPECT_TRUE(effects_of("SET foreign_key_checks = 7")->must_be_tried);
}

TEST(SetStatement, NamesSetsThree) {
  const Items latin{{"character_set_client", "'latin1'"},
                    {"character_set_results", "'latin1'"},
                    {"collation_connection", "'latin1_swedish_ci'"}};
  EXPECT_EQ(changes_of("SET NAMES latin1"), latin);
  EXPECT_EQ(changes_of("SET NAMES 'latin1'"), latin);
  EXPECT_EQ(changes_of("SET NAMES latin1 COLLATE latin1_bin").back().second, "'latin1_bin'");
  EXPECT_EQ(refusal_of("SET NAMES klingon"), mysql::er::unknown_character_set);
  EXPECT_EQ(refusal_of("SET NAMES ucs2"), mysql::er::wrong_value_for_var) << "no client character set";
}

TEST(SetStatement, TransactionCharacteristics) {
  const auto one_shot = effects_of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY");
  ASSERT_TRUE(one_shot);
  EXPECT_TRUE(one_shot->changes.empty());
  EXPECT_FALSE(one_shot->one_shot.empty());
  const Items held{{"transaction_isolation", "'REPEATABLE-READ'"}, {"transaction_read_only", "0"}};
  EXPECT_EQ(changes_of("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE"), held);
  EXPECT_EQ(refusal_of("SET GLOBAL TRANSACTION READ ONLY"), mysql::er::not_supported_yet);
}

TEST(SqlMode, KnowsWhatTheLexerMustKnow) {
  EXPECT_TRUE(parse_sql_mode("STRICT_ALL_TABLES,ansi_quotes").ansi_quotes);
  EXPECT_FALSE(parse_sql_mode("STRICT_ALL_TABLES").ansi_quotes);
  const SqlMode ansi = parse_sql_mode("ANSI");
  EXPECT_TRUE(ansi.ansi_quotes && ansi.pipes_as_concat && ansi.ignore_space);
  EXPECT_FALSE(ansi.no_backslash_escapes);
  EXPECT_TRUE(parse_sql_mode("NO_BACKSLASH_ESCAPES,NO_AUTO_VALUE_ON_ZERO").no_auto_value_on_zero);
}

TEST(ValueText, QuotesAllButNumbers) {
  EXPECT_EQ(value_text("42", true), "42");
  EXPECT_EQ(value_text("42", false), "'42'");
  EXPECT_EQ(value_text(std::nullopt, true), "NULL");
  EXPECT_EQ(value_text("a'b\\", false), "_utf8mb4 x'6127625c'");
}

}  // namespace
}  // namespace evenkeel::session
