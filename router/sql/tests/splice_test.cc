#include "router/sql/splice.h"

#include <gtest/gtest.h>

#include "router/sql/fingerprint.h"
#include "router/sql/keywords.h"

namespace evenkeel::sql {
namespace {

class SpliceTest : public testing::Test {
 protected:
  std::string spliced(std::string_view text, std::vector<Edit> edits, Span part = {0, UINT32_MAX}) {
    const Status lexed = lex(text, {}, tokens_);
    EXPECT_TRUE(lexed) << lexed.error().message;
    std::string out;
    splice(tokens_, part, edits, out);
    return out;
  }
  std::string shape(std::string_view text) {
    EXPECT_TRUE(lex(text, {}, tokens_));
    std::string out;
    append_shape(tokens_, {0, static_cast<uint32_t>(tokens_.size() - 1)}, out);
    return out;
  }
  std::string fingerprint(std::string_view text) {
    EXPECT_TRUE(lex(text, {}, tokens_));
    return fingerprint_text(tokens_, {0, static_cast<uint32_t>(tokens_.size() - 1)});
  }
  Tokens tokens_;
};

TEST_F(SpliceTest, KeepsEverythingBetweenTokens) {
  const std::string text = " /* head */ SELECT a -- x\n FROM\tt/*y*/; # tail";
  EXPECT_EQ(spliced(text, {}), text);
}

TEST_F(SpliceTest, ReplacesAndInserts) {
  // tokens: SELECT a FROM t WHERE id = 5
  EXPECT_EQ(spliced("SELECT a FROM t WHERE id = 5 -- c", {{{3, 4}, "`d`.`t_1`"}, {{7, 8}, "6"}}),
            "SELECT a FROM `d`.`t_1` WHERE id = 6 -- c");
  EXPECT_EQ(spliced("SELECT a FROM t", {{{1, 1}, "x, "}, {{1, 1}, "y, "}, {{3, 4}, "u"}}),
            "SELECT x, y, a FROM u");
  EXPECT_EQ(spliced("SELECT a, b FROM t", {{{1, 4}, "c"}}), "SELECT c FROM t");
}

TEST_F(SpliceTest, InsertsAtTheEndBeforeAComment) {
  EXPECT_EQ(spliced("SELECT a FROM t -- end", {{{4, 4}, " LIMIT 5"}}), "SELECT a FROM t LIMIT 5 -- end");
}

TEST_F(SpliceTest, CutsAPart) {
  EXPECT_EQ(spliced("SELECT 1; /* two */ SELECT b /* c */ FROM t -- end", {}, {3, 7}),
            "SELECT b /* c */ FROM t");
  EXPECT_EQ(spliced("SELECT a FROM (SELECT b FROM t) d", {{{7, 8}, "u"}}, {4, 8}), "SELECT b FROM u");
}

TEST_F(SpliceTest, ExecutedCommentsStayWholeOrAreUnwrapped) {
  const std::string text = "SELECT a FROM t /*!40000 FORCE INDEX (i) */ WHERE b = 1 /*! LIMIT 5 */";
  EXPECT_EQ(spliced(text, {}), text);
  EXPECT_EQ(spliced(text, {{{3, 4}, "u"}}),
            "SELECT a FROM u /*!40000 FORCE INDEX (i) */ WHERE b = 1 /*! LIMIT 5 */");
  // The part ends inside a comment: its opening alone would be an error.
  const uint32_t end = 14;
  EXPECT_EQ(spliced(text, {}, {0, end}), "SELECT a FROM t   FORCE INDEX (i)   WHERE b = 1   LIMIT");
  // An edit takes the end of a comment away.
  EXPECT_EQ(spliced(text, {{{8, 13}, "x"}}), "SELECT a FROM t   FORCE INDEX (ix   LIMIT 5  ");
}

TEST_F(SpliceTest, ShapeLeavesLiteralsOut) {
  EXPECT_EQ(shape("SELECT a FROM t WHERE id = 5"), shape("select a\nfrom t /* c */ where id=77"));
  EXPECT_EQ(shape("SELECT 'a' FROM t"), shape("SELECT 'bc' FROM t"));
  EXPECT_NE(shape("SELECT a FROM t WHERE id = 5"), shape("SELECT a FROM t WHERE id = 0"));
  EXPECT_NE(shape("SELECT a FROM t WHERE id = 5"), shape("SELECT a FROM t WHERE id = '5'"));
  EXPECT_NE(shape("SELECT a FROM t WHERE id = 5"), shape("SELECT a FROM t WHERE id = 5.0"));
  EXPECT_NE(shape("SELECT a FROM t"), shape("SELECT A FROM t"));
  EXPECT_NE(shape("SELECT a FROM t"), shape("SELECT `a` FROM t"));
  EXPECT_NE(shape("SELECT a + b"), shape("SELECT a - b"));
  EXPECT_NE(shape("SELECT NULL"), shape("SELECT 1"));
  EXPECT_NE(shape("f(1)"), shape("f(1, 1)"));
  EXPECT_EQ(shape_hash(shape("SELECT 1")), shape_hash(shape("SELECT 2")));
}

TEST_F(SpliceTest, LongNamesKeepShapesApart) {
  const std::string name(300, 'n');
  EXPECT_NE(shape("SELECT " + name + " x"), shape("SELECT " + name + "x"));
  EXPECT_EQ(shape("SELECT " + name + " = 1"), shape("SELECT " + name + " = 2"));
}

TEST_F(SpliceTest, FingerprintReadsWell) {
  EXPECT_EQ(fingerprint("SELECT a.b, COUNT( * )  FROM t WHERE id IN (1,2, 3) AND x = 'secret' AND f(1)"),
            "SELECT a.b, COUNT(*) FROM t WHERE id IN (?, ...) AND x = ? AND f(?)");
  EXPECT_EQ(fingerprint(
                "INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL), (-3, DEFAULT) ON DUPLICATE KEY UPDATE a=1"),
            "INSERT INTO t(a, b) VALUES (?, ...) ON DUPLICATE KEY UPDATE a = ?");
  EXPECT_EQ(fingerprint("SELECT x'00', 0b1, 1e5, _utf8'a', N'b', ?"), "SELECT ?, ?, ?, _utf8 ?, ?, ?");
}

TEST(Keywords, FoldedAndReserved) {
  EXPECT_EQ(find_keyword("select"), Keyword::select);
  EXPECT_EQ(find_keyword("SeLeCt"), Keyword::select);
  EXPECT_EQ(find_keyword("SQL_CALC_FOUND_ROWS"), Keyword::sql_calc_found_rows);
  EXPECT_EQ(find_keyword("master_ssl_VERIFY_server_cert"), Keyword::master_ssl_verify_server_cert);
  EXPECT_EQ(find_keyword("master_ssl_verify-server_cert"), Keyword::none);
  EXPECT_EQ(find_keyword("selec"), Keyword::none);
  EXPECT_EQ(find_keyword("selects"), Keyword::none);
  EXPECT_EQ(find_keyword(""), Keyword::none);
  EXPECT_EQ(find_keyword("a"), Keyword::none);
  EXPECT_EQ(to_string(Keyword::group_concat), "group_concat");
  EXPECT_TRUE(is_reserved(Keyword::rank, mysql::Flavour::mysql, 80036));
  EXPECT_FALSE(is_reserved(Keyword::rank, mysql::Flavour::mariadb, 101119));
  EXPECT_TRUE(is_reserved(Keyword::returning, mysql::Flavour::mariadb, 101119));
  EXPECT_FALSE(is_reserved(Keyword::qualify, mysql::Flavour::mysql, 80036));
  EXPECT_TRUE(is_reserved(Keyword::qualify, mysql::Flavour::mysql, 90000));
}

TEST(NextStatement, StopsAtSemicolonsButNotInsideBodies) {
  Tokens tokens;
  ASSERT_TRUE(lex("SELECT ';'; SELECT 2;", {}, tokens));
  EXPECT_EQ(next_statement(tokens, 0), 3u);
  EXPECT_EQ(next_statement(tokens, 3), 6u);
  EXPECT_EQ(next_statement(tokens, 6), 6u);
  for (const char* body : {"CREATE DEFINER=`a`@`b` PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
                           "CREATE OR REPLACE TRIGGER r AFTER INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END",
                           "BEGIN NOT ATOMIC SELECT 1; END", "ALTER EVENT e DO BEGIN SELECT 1; END"}) {
    ASSERT_TRUE(lex(body, {}, tokens));
    EXPECT_EQ(next_statement(tokens, 0), tokens.size() - 1) << body;
  }
  ASSERT_TRUE(lex("CREATE TABLE event (a INT); SELECT 1", {}, tokens));
  EXPECT_LT(next_statement(tokens, 0), tokens.size() - 1);
}

}  // namespace
}  // namespace evenkeel::sql
