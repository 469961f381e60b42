// The lexer and parser against a real MariaDB: where strings and comments end, what literals are worth, and
// that nothing is rejected here that the server accepts. Seeds are fixed: each run asks the same questions.
#include <algorithm>
#include <array>
#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/statement.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "router/sql/literal.h"
#include "router/sql/parser.h"
#include "router/sql/splice.h"
#include "router/sql/tests/rules_text.h"
#include "tests/support/one_server.h"

namespace evenkeel::sql {
namespace {

constexpr int er_parse = 1064;

struct Answer {
  int error = 0;
  std::string message;
  std::optional<std::string> value;  // first column of the first row
};

class DifferentialTest : public testing::Test {
 protected:
  static void TearDownTestSuite() {
    connection_.reset();
    server_.reset();
  }
  void SetUp() override {
    const std::string absent = testing_support::absent_reason(demo::ServerKind::mariadb);
    if (!absent.empty()) GTEST_SKIP() << "SKIPPED: " << absent;
    if (!server_) start();
    ASSERT_TRUE(server_ && connection_);
    ASSERT_EQ(ask("CREATE DATABASE IF NOT EXISTS scratch").error, 0);
    ASSERT_EQ(ask("USE scratch").error, 0);
    const Answer version =
        ask("SELECT CONCAT(SUBSTRING_INDEX(VERSION(), '.', 1), LPAD(SUBSTRING_INDEX(SUBSTRING_INDEX("
            "VERSION(), '.', 2), '.', -1), 2, '0'), LPAD(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), "
            "'-', 1), '.', -1), 2, '0'))");
    version_ = static_cast<uint32_t>(std::stoul(version.value.value_or("0")));
    ASSERT_GT(version_, 100000u);
  }

  static void start() {
    auto started = testing_support::start_one_server(demo::ServerKind::mariadb);
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    const auto& account = server_->administrator();
    connection_.reset(get_driver_instance()->connect(fmt::format("tcp://127.0.0.1:{}", server_->port(0)),
                                                     account.user, account.password));
  }

  Answer ask(const std::string& text) {
    Answer answer;
    try {
      const std::unique_ptr<::sql::Statement> statement(connection_->createStatement());
      if (!statement->execute(text)) return answer;
      const std::unique_ptr<::sql::ResultSet> rows(statement->getResultSet());
      if (rows->next() && !rows->isNull(1)) answer.value = rows->getString(1).asStdString();
      while (rows->next()) continue;
    } catch (const ::sql::SQLException& thrown) {
      answer.error = thrown.getErrorCode();
      answer.message = thrown.what();
    }
    return answer;
  }

  // Brings the server's session to the rules.
  LexRules agree(const std::string& charset, const std::string& words) {
    LexRules rules = rules_of("mariadb " + charset + " " + words);
    rules.version = version_;
    std::string modes;
    if (rules.ansi_quotes) modes += ",ANSI_QUOTES";
    if (rules.no_backslash_escapes) modes += ",NO_BACKSLASH_ESCAPES";
    if (rules.pipes_as_concat) modes += ",PIPES_AS_CONCAT";
    if (rules.high_not_precedence) modes += ",HIGH_NOT_PRECEDENCE";
    EXPECT_EQ(ask("SET sql_mode = ''").error, 0);
    EXPECT_EQ(ask("SET NAMES " + charset).error, 0) << charset;
    EXPECT_EQ(ask("SET sql_mode = '" + modes.substr(modes.empty() ? 0 : 1) + "'").error, 0);
    return rules;
  }

  static std::unique_ptr<demo::Cluster> server_;
  static std::unique_ptr<::sql::Connection> connection_;
  uint32_t version_ = 0;
};
std::unique_ptr<demo::Cluster> DifferentialTest::server_;
std::unique_ptr<::sql::Connection> DifferentialTest::connection_;

struct Line {
  std::string rules;
  std::string text;
};

std::vector<Line> corpus() {
  std::vector<Line> lines;
  for (const auto& file : std::filesystem::directory_iterator("router/sql/tests/corpus")) {
    std::ifstream in(file.path());
    std::string rules;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("#:")) rules = line.substr(2);
      if (line.empty() || line.starts_with("#") || rules.find("mysql") != std::string::npos) continue;
      if (file.path().stem() != "explain_route") lines.push_back({rules, line});
    }
  }
  return lines;
}

std::string in_hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02X}", static_cast<unsigned char>(c));
  return out;
}

// Whether the text got past the server's parser. Its grammar raises other errors than 1064 as well (an
// unknown variable, a wrong number of arguments), but these come only after it.
bool accepted_by(const Answer& answer) {
  constexpr std::array<int, 10> later = {0, 1046, 1049, 1051, 1052, 1054, 1109, 1146, 1243, 1295};
  return std::find(later.begin(), later.end(), answer.error) != later.end();
}

// What the server answers to PREPARE: 1064 if and only if it is no SQL.
TEST_F(DifferentialTest, TheServerKnowsTheCorpus) {
  for (const Line& line : corpus()) {
    const LexRules rules = agree("utf8mb4", line.rules);
    std::string prepare = "PREPARE s FROM ";
    append_literal(mysql::Value::string(line.text), rules, prepare);
    const Answer answer = ask(prepare);
    EXPECT_NE(answer.error, er_parse) << line.text << "\n" << answer.message;
  }
}

// Statements with a token exchanged, doubled or dropped: what is an error here must be one there.
TEST_F(DifferentialTest, NothingIsRejectedThatTheServerAccepts) {
  const std::vector<Line> lines = corpus();
  const LexRules rules = agree("utf8mb4", "");
  SeededRandom random(20261130);
  int rejected = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string& text = lines[random.below(lines.size())].text;
    Tokens tokens;
    if (!lex(text, rules, tokens) || tokens.size() < 3) continue;
    const auto last = static_cast<uint32_t>(tokens.size() - 1);
    std::vector<Edit> edits;
    const auto at = static_cast<uint32_t>(random.below(last));
    const std::string other(tokens.text_of(static_cast<uint32_t>(random.below(last))));
    edits.push_back(
        {{at, at + static_cast<uint32_t>(random.below(2))}, random.below(3) == 0 ? "" : " " + other + " "});
    std::string changed;
    splice(tokens, {0, last}, edits, changed);
    if (random.below(4) == 0) changed.resize(random.below(changed.size() + 1));
    const bool accepted = lex(changed, rules, tokens).has_value() && parse(tokens, rules).has_value();
    if (accepted) continue;
    ++rejected;
    std::string prepare = "PREPARE s FROM ";
    append_literal(mysql::Value::string(changed), rules, prepare);
    const Answer answer = ask(prepare);
    EXPECT_FALSE(accepted_by(answer)) << changed << "\n" << answer.error << " " << answer.message;
  }
  EXPECT_GT(rejected, 100);
}

// Random bytes between quotes: both must find the same end and the same value.
TEST_F(DifferentialTest, LiteralsEndWhereTheServerEndsThem) {
  constexpr std::array<const char*, 6> charsets = {"utf8mb4", "latin1", "gbk", "big5", "sjis", "cp932"};
  constexpr std::array<const char*, 4> modes = {"", "ansi_quotes", "no_backslash_escapes",
                                                "ansi_quotes no_backslash_escapes"};
  constexpr std::string_view bytes(
      "'\\\"'\\'\\\x5c\x27\xbf\x81\xe0\xa1\xb0\xfc\x40\x7c\x60%_nNrZ0bt a\n\0\x1a;-#/*", 43);
  SeededRandom random(49);
  int agreed = 0;
  for (const char* charset : charsets) {
    for (const char* mode : modes) {
      const LexRules rules = agree(charset, mode);
      for (int i = 0; i < 400; ++i) {
        const char quote = random.below(4) == 0 ? '"' : '\'';
        std::string literal(1, quote);
        for (uint64_t n = random.below(8); n > 0; --n) literal += bytes[random.below(bytes.size())];
        literal += quote;
        const std::string text = "SELECT HEX(" + literal + ")";
        const Answer answer = ask(text);
        Tokens tokens;
        std::optional<std::string> value;
        bool calculated = false;  // 'a' - 'b'
        if (lex(text, rules, tokens)) {
          const auto parsed = parse(tokens, rules);
          const bool one = parsed && !(*parsed)->has_opaque && (*parsed)->query != nullptr &&
                           (*parsed)->query->block->items.size() == 1;
          const Expr* call = one ? (*parsed)->query->block->items[0].expr : nullptr;
          if (call != nullptr && call->kind == ExprKind::function && call->args.size() == 1) {
            calculated = !is_literal(*call->args[0]);
            if (!calculated) value = in_hex(literal_value(*call->args[0], tokens, rules)->text());
          }
        }
        const std::string where = std::string(charset) + " " + mode + ": " + in_hex(text);
        if (value && answer.value) {
          EXPECT_EQ(value, answer.value) << where;
          ++agreed;
        } else if (value) {
          // Bytes that are no text of the character set are refused for that reason alone (1300).
          EXPECT_NE(answer.error, er_parse) << where;
        } else if (answer.value) {
          EXPECT_TRUE(calculated) << where;
        }
      }
    }
  }
  EXPECT_GT(agreed, 2000);
}

// append_literal's text, read by the server.
TEST_F(DifferentialTest, WrittenLiteralsReadBack) {
  constexpr std::array<const char*, 5> charsets = {"latin1", "gbk", "big5", "sjis", "cp932"};
  SeededRandom random(7);
  int agreed = 0;
  for (const char* charset : charsets) {
    for (const char* mode : {"", "no_backslash_escapes"}) {
      const LexRules rules = agree(charset, mode);
      for (int i = 0; i < 300; ++i) {
        std::string value;
        constexpr std::string_view bytes("'\\\"\x5c\x27\xbf\x81\xe0\xa1%\n\0 az", 15);
        for (uint64_t n = random.below(8); n > 0; --n) value += bytes[random.below(bytes.size())];
        std::string text = "SELECT HEX(";
        append_literal(mysql::Value::string(value), rules, text);
        const Answer answer = ask(text + ")");
        EXPECT_NE(answer.error, er_parse) << charset << " " << mode << ": " << in_hex(text);
        if (!answer.value) continue;
        EXPECT_EQ(*answer.value, in_hex(value)) << charset << " " << mode << ": " << in_hex(text);
        ++agreed;
      }
    }
  }
  EXPECT_GT(agreed, 1000);
}

// Sums with comments of all kinds between: the same summands must be seen.
TEST_F(DifferentialTest, CommentsHideWhatTheServerSkips) {
  const LexRules rules = agree("utf8mb4", "");
  const std::vector<std::string> pieces = {
      "+1 ",       "+20 ",      "+300 ",       "+4000 ",     "/*",         "*/",         " /*!",
      "/*!50000 ", "/*!50700 ", "/*!99999 ",   "/*!100000 ", "/*!999999 ", "/*M!50701 ", "/*M!",
      "-- ",       "--",        "#",           "\n",         "'",          "`",          "/",
      "*",         "/*!5000 ",  "/*!1012345 ", " ",          "/*+ ",       "/**/",       "/*/"};
  SeededRandom random(34);
  int agreed = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = "SELECT 0";
    for (uint64_t n = random.below(9); n > 0; --n) text += pieces[random.below(pieces.size())];
    const Answer answer = ask(text);
    Tokens tokens;
    std::optional<uint64_t> sum;
    if (lex(text, rules, tokens)) {
      sum = 0;
      for (uint32_t at = 1; sum && at + 1 < tokens.size(); ++at) {
        const bool sign = at % 2 == 0;
        if (sign ? tokens[at].op != Op::plus : tokens[at].kind != TokenKind::integer) {
          sum.reset();
        } else if (!sign) {
          *sum += std::stoull(std::string(tokens.text_of(at)));
        }
      }
      if (tokens.size() % 2 == 0) sum.reset();
    }
    if (sum) {
      EXPECT_EQ(answer.value, std::to_string(*sum)) << text << "\n" << answer.message;
      ++agreed;
    } else if (!lex(text, rules, tokens)) {
      EXPECT_EQ(answer.error, er_parse) << text;
    }
  }
  EXPECT_GT(agreed, 800);
}

}  // namespace
}  // namespace evenkeel::sql
