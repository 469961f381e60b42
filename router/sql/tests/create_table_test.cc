#include "router/sql/create_table.h"

#include <gtest/gtest.h>

#include "router/sql/tests/rules_text.h"

namespace evenkeel::sql {
namespace {

Result<TableDefinition> parsed(std::string_view text) {
  const LexRules rules = rules_of("mariadb");
  Tokens tokens;
  EVENKEEL_TRY(lex(text, rules, tokens));
  return parse_create_table(tokens, rules, {0, static_cast<uint32_t>(tokens.size() - 1)});
}

TEST(CreateTable, AsTheServerShowsOne) {
  const auto result = parsed(R"(CREATE TABLE `orders_000` (
  `id` bigint(20) unsigned NOT NULL,
  `user_id` bigint(20) NOT NULL DEFAULT 0,
  `state` enum('new','it''s','') COLLATE utf8mb4_bin DEFAULT 'new',
  `amount` decimal(10,2) DEFAULT NULL COMMENT 'a, b) c',
  `note` varchar(64) CHARACTER SET latin1 COLLATE latin1_german1_ci NOT NULL DEFAULT '',
  `made` timestamp(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6),
  `twice` int(11) GENERATED ALWAYS AS (`user_id` * 2) STORED,
  `hidden` int(11) INVISIBLE DEFAULT (uuid()),
  `flag` tinyint(1) unsigned zerofill DEFAULT -1,
  PRIMARY KEY (`id`),
  UNIQUE KEY `u` (`user_id`,`note`(10)),
  KEY `k` (`state`) USING BTREE COMMENT 'x',
  FULLTEXT KEY `f` (`note`),
  CONSTRAINT `c` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE,
  CONSTRAINT `p` CHECK (`amount` > 0)
) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='t';)");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->table, "orders_000");
  EXPECT_EQ(result->charset, "utf8mb4");
  EXPECT_EQ(result->collate, "utf8mb4_general_ci");
  EXPECT_EQ(result->engine, "InnoDB");
  ASSERT_EQ(result->columns.size(), 9u);
  const auto& c = result->columns;
  EXPECT_EQ(c[0].type, "bigint");
  EXPECT_EQ(c[0].length, 20u);
  EXPECT_TRUE(c[0].is_unsigned);
  EXPECT_FALSE(c[0].nullable);
  EXPECT_FALSE(c[0].has_default);
  EXPECT_TRUE(c[1].has_default);
  EXPECT_EQ(c[2].members, (std::vector<std::string>{"new", "it's", ""}));
  EXPECT_EQ(c[2].collate, "utf8mb4_bin");
  EXPECT_EQ(c[3].decimals, 2u);
  EXPECT_TRUE(c[3].default_is_null);
  EXPECT_EQ(c[4].charset, "latin1");
  EXPECT_EQ(c[4].collate, "latin1_german1_ci");
  EXPECT_EQ(c[5].type, "timestamp");
  EXPECT_EQ(c[5].length, 6u);
  EXPECT_TRUE(c[5].has_default);
  EXPECT_TRUE(c[6].generated);
  EXPECT_TRUE(c[7].invisible);
  EXPECT_TRUE(c[7].has_default);
  EXPECT_TRUE(c[8].zerofill);
  const std::vector<KeyDefinition> keys = {{KeyKind::primary, "PRIMARY", {{"id", 0}}},
                                           {KeyKind::unique, "u", {{"user_id", 0}, {"note", 10}}},
                                           {KeyKind::plain, "k", {{"state", 0}}},
                                           {KeyKind::fulltext, "f", {{"note", 0}}}};
  EXPECT_EQ(result->keys, keys);
}

TEST(CreateTable, Spellings) {
  const auto result = parsed(
      "create temporary table if not exists s.t (id serial, a INTEGER primary key, b bool not null unique, "
      "c DOUBLE PRECISION, d national varchar(5), e character varying(3) binary, f dec(5), g long, "
      "h char(1) byte, index ((a + 1), b desc), unique (c), date date, key x using hash (a), "
      "j int as (a + 1) virtual, k int check (k > 0), l int references u (x) on delete cascade) charset "
      "latin1");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->temporary);
  EXPECT_TRUE(result->if_not_exists);
  EXPECT_EQ(result->schema, "s");
  EXPECT_EQ(result->charset, "latin1");
  std::string types;
  for (const ColumnDefinition& column : result->columns) types += column.name + ":" + column.type + " ";
  EXPECT_EQ(types,
            "id:bigint a:int b:tinyint c:double d:varchar e:varchar f:decimal g:mediumtext h:binary "
            "date:date j:int "
            "k:int l:int ");
  EXPECT_TRUE(result->columns[0].auto_increment);
  EXPECT_TRUE(result->columns[0].is_unsigned);
  EXPECT_FALSE(result->columns[1].nullable);
  EXPECT_EQ(result->columns[2].length, 1u);
  EXPECT_EQ(result->columns[4].charset, "utf8");
  EXPECT_TRUE(result->columns[5].binary);
  const std::vector<KeyDefinition> keys = {
      {KeyKind::unique, "", {{"id", 0}}}, {KeyKind::primary, "PRIMARY", {{"a", 0}}},
      {KeyKind::unique, "", {{"b", 0}}},  {KeyKind::plain, "", {{"", 0}, {"b", 0}}},
      {KeyKind::unique, "", {{"c", 0}}},  {KeyKind::plain, "x", {{"a", 0}}}};
  EXPECT_EQ(result->keys, keys);
}

TEST(CreateTable, Refusals) {
  const auto code = [](std::string_view text) {
    const auto result = parsed(text);
    return result ? 0 : int{result.error().code};
  };
  EXPECT_EQ(code("CREATE TABLE t LIKE u"), 1235);
  EXPECT_EQ(code("CREATE TABLE t (LIKE u)"), 1235);
  EXPECT_EQ(code("CREATE TABLE t SELECT 1"), 1235);
  EXPECT_EQ(code("CREATE TABLE t (a INT) AS SELECT 1 AS a"), 1235);
  EXPECT_EQ(code("CREATE TABLE t (a INT) ENGINE=InnoDB WITH SYSTEM VERSIONING"), 0);
  EXPECT_EQ(code("CREATE TABLE t (a INT, A INT)"), 1060);
  EXPECT_EQ(code("CREATE TABLE t (a INT, KEY (b))"), 1072);
  EXPECT_EQ(code("CREATE TABLE t"), 1064);
  EXPECT_EQ(code("CREATE TABLE t (a)"), 1064);
  EXPECT_EQ(code("CREATE TABLE t (a INT"), 1064);
  EXPECT_EQ(code("CREATE TABLE t (a INT,)"), 1064);
  EXPECT_EQ(code("DROP TABLE t"), 1064);
  EXPECT_EQ(code(""), 1064);
}

}  // namespace
}  // namespace evenkeel::sql
