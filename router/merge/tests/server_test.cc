// The merger against real servers: what it makes of the parts must be what the server makes of the whole.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <iostream>

#include "base/random.h"
#include "router/merge/scalar.h"
#include "router/merge/tests/raw_client.h"
#include "router/merge/tests/test_rows.h"
#include "tests/support/one_server.h"

namespace evenkeel::merge::testing {
namespace {

constexpr int parts = 5;
constexpr uint64_t seed = 20261130;

struct Flavour {
  const char* name;
  demo::ServerKind kind;
  bool is_mysql;
};
void PrintTo(const Flavour& flavour, std::ostream* out) { *out << flavour.name; }

// One server for all tests of a flavour.
class Server : public ::testing::TestWithParam<Flavour> {
 protected:
  static void TearDownTestSuite() { servers().clear(); }

  void SetUp() override {
    const std::string absent = testing_support::absent_reason(GetParam().kind);
    if (!absent.empty()) GTEST_SKIP() << "SKIPPED: " << absent;
    auto& server = servers()[GetParam().kind];
    if (!server) start(server);
    ASSERT_TRUE(server);
    client_ = std::make_unique<RawClient>(server->port(0), "raw");
    for (const char* sql :
         {"SET sql_mode=''", "SET NAMES utf8mb4", "CREATE DATABASE IF NOT EXISTS m", "USE m"}) {
      client_->query(sql);
    }
  }

  // t(id, part, c): `value` gives a literal per row; every ninth row is NULL.
  template <typename F>
  void fill(const std::string& type, int rows, F value) {
    client_->query("DROP TABLE IF EXISTS t");
    client_->query("CREATE TABLE t (id INT PRIMARY KEY, part INT, g INT, c " + type +
                   " NULL) CHARACTER SET utf8mb4");
    std::string sql = "INSERT INTO t VALUES ";
    for (int i = 0; i < rows; ++i) {
      sql += (i == 0 ? "(" : ",(") + std::to_string(i) + "," + std::to_string(random_.below(parts)) + "," +
             std::to_string(random_.below(7)) + "," + (random_.below(9) == 0 ? "NULL" : value()) + ")";
    }
    client_->query(sql);
  }

  // Merges `sql` with @ replaced by "part = n" for each part, expects `whole`.
  void expect_merge(const Spec& spec, const std::string& sql, const Answer& whole, RowFormat format) {
    std::vector<std::vector<std::string>> sources;
    std::vector<ColumnFacts> inputs;
    for (int part = 0; part < parts; ++part) {
      std::string text = sql;
      text.replace(text.find('@'), 1, "part = " + std::to_string(part));
      Answer answer = client_->query(text, format);
      inputs = answer.columns;
      sources.push_back(std::move(answer.rows));
    }
    auto merger = make_merger(spec, format, inputs, whole.columns, parts);
    ASSERT_TRUE(merger.has_value()) << merger.error().message;
    const auto rows = run(**merger, sources, Feeding::asked);
    ASSERT_EQ(rows.size(), whole.rows.size()) << sql;
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(rows[i], whole.rows[i])
          << sql << "\nrow " << i
          << ", text: " << (format == RowFormat::text ? rows[i] + " for " + whole.rows[i] : "");
    }
  }

  static void start(std::unique_ptr<demo::Cluster>& server) {
    auto started = testing_support::start_one_server(GetParam().kind);
    ASSERT_TRUE(started) << started.error().message;
    auto client = demo::SqlClient::connect((*started)->port(0), (*started)->administrator(), "");
    ASSERT_TRUE(client) << client.error().message;
    for (const char* sql : {"CREATE USER raw@'%'", "GRANT ALL ON *.* TO raw@'%'"}) {
      const auto done = client->execute(sql);
      ASSERT_TRUE(done) << done.error().message;
    }
    server = std::move(*started);
  }
  static std::map<demo::ServerKind, std::unique_ptr<demo::Cluster>>& servers() {
    static std::map<demo::ServerKind, std::unique_ptr<demo::Cluster>> all;
    return all;
  }

  std::unique_ptr<RawClient> client_;
  SeededRandom random_{seed};
};

INSTANTIATE_TEST_SUITE_P(All, Server,
                         ::testing::Values(Flavour{"mariadb", demo::ServerKind::mariadb, false},
                                           Flavour{"mysql", demo::ServerKind::mysql, true}),
                         [](const auto& instance) { return instance.param.name; });

std::string digits(SeededRandom& random, size_t most) {
  std::string text;
  for (size_t i = random.below(most) + 1; i > 0; --i)
    text.push_back(static_cast<char>('0' + random.below(10)));
  return text;
}
std::string sign(SeededRandom& random) { return random.below(2) == 0 ? "-" : ""; }
std::string two(uint64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }
std::string clock_text(SeededRandom& random) {
  std::string text = two(random.below(24)) + ":" + two(random.below(60)) + ":" + two(random.below(60));
  if (random.below(2) == 0) text += "." + digits(random, 6);
  return random.below(4) == 0 ? "00:00:00" : text;
}

struct Kind {
  std::string type;
  std::string key;  // what is ordered by; "c" or a hidden expression
  Comparison comparison;
  std::string (*value)(SeededRandom&);
};

std::string integer(SeededRandom& r) {
  return sign(r) + digits(r, 20);
}  // out of range: clamped by the server
std::string natural(SeededRandom& r) { return digits(r, 21); }
std::string decimal(SeededRandom& r) { return sign(r) + digits(r, 40) + "." + digits(r, 32); }
std::string real(SeededRandom& r) {
  return sign(r) + digits(r, 9) + "e" + sign(r) + std::to_string(r.below(30));
}
std::string moment(SeededRandom& r) {
  if (r.below(20) == 0) return "'0000-00-00'";
  const std::string day = "-" + two(1 + r.below(12)) + "-" + two(1 + r.below(28));
  return "'" + std::to_string(1971 + r.below(60)) + day + (r.below(3) == 0 ? "'" : " " + clock_text(r) + "'");
}
std::string duration(SeededRandom& r) {
  return "'" + sign(r) + std::to_string(r.below(838)) + clock_text(r).substr(2) + "'";
}
std::string word(SeededRandom& r) {
  static const char* pieces[] = {
      "a", "A", "b", "B", "é", "E", " ", "\t", "z", "ß", "s", "!", "ø", "0", "\xf0\x9f\x98\x80"};
  std::string text = "'";
  for (size_t i = r.below(5); i > 0; --i) text += pieces[r.below(std::size(pieces))];
  return text + "'";
}
std::string bytes(SeededRandom& r) {
  std::string text = "x'";
  for (size_t i = r.below(5); i > 0; --i) text += two(r.below(100));
  return text + "'";
}
std::string letter(SeededRandom& r) { return r.below(2) == 0 ? "'z'" : r.below(2) == 0 ? "'b'" : "'a'"; }

std::vector<Kind> kinds(bool is_mysql) {
  std::vector<Kind> all;
  for (const char* type : {"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "BOOL"}) {
    all.push_back({type, "c", Comparison::signed_integer, integer});
    if (std::strcmp(type, "BOOL") != 0) {
      all.push_back({type + std::string(" UNSIGNED"), "c", Comparison::unsigned_integer, natural});
      all.push_back({type + std::string(" UNSIGNED ZEROFILL"), "c", Comparison::unsigned_integer, natural});
    }
  }
  all.push_back({"YEAR", "c", Comparison::unsigned_integer, [](SeededRandom& r) {
                   return r.below(10) == 0 ? std::string("0") : std::to_string(1901 + r.below(255));
                 }});
  for (const char* type :
       {"DECIMAL(65,30)", "DECIMAL(10,2)", "DECIMAL(30,0)", "DECIMAL(12,3) UNSIGNED ZEROFILL"}) {
    all.push_back({type, "c", Comparison::decimal, decimal});
  }
  all.push_back({"DOUBLE", "c", Comparison::real, real});
  all.push_back({"DOUBLE(12,3)", "c", Comparison::real, real});
  all.push_back({"FLOAT(7,2)", "c", Comparison::real, real});
  all.push_back({"FLOAT", "c+0e0", Comparison::real, real});
  for (const char* type : {"DATE", "DATETIME", "DATETIME(3)", "DATETIME(6)", "TIMESTAMP", "TIMESTAMP(6)"}) {
    all.push_back({type, "c", Comparison::temporal, moment});
  }
  for (const char* type : {"TIME", "TIME(2)", "TIME(6)"})
    all.push_back({type, "c", Comparison::temporal, duration});
  for (const char* type : {"VARBINARY(20)", "BLOB", "BINARY(6)"})
    all.push_back({type, "c", Comparison::bytes, bytes});
  all.push_back(
      {"BIT(12)", "c", Comparison::bytes, [](SeededRandom& r) { return std::to_string(r.below(4096)); }});
  all.push_back({"ENUM('z','b','a')", "CAST(c AS UNSIGNED)", Comparison::unsigned_integer, letter});
  all.push_back({"SET('z','b','a')", "CAST(c AS UNSIGNED)", Comparison::unsigned_integer, letter});
  for (const char* type :
       {"VARCHAR(20) COLLATE utf8mb4_bin", "CHAR(20) COLLATE utf8mb4_bin", "TEXT COLLATE utf8mb4_bin"}) {
    all.push_back({type, "c", Comparison::padded_bytes, word});
  }
  for (const char* collation : {"utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_swedish_ci"}) {
    all.push_back({std::string("VARCHAR(20) COLLATE ") + collation, "WEIGHT_STRING(c AS CHAR(20))",
                   Comparison::bytes, word});
  }
  if (is_mysql) {
    for (const char* collation : {"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_bin"}) {
      all.push_back(
          {std::string("VARCHAR(20) COLLATE ") + collation, "WEIGHT_STRING(c)", Comparison::bytes, word});
    }
  }
  return all;
}

TEST_P(Server, PartsMergeInTheServersOrder) {
  for (const Kind& kind : kinds(GetParam().is_mysql)) {
    fill(kind.type, 300, [&] { return kind.value(random_); });
    for (const bool descending : {false, true}) {
      for (const RowFormat format : {RowFormat::text, RowFormat::binary}) {
        SCOPED_TRACE(kind.type + (descending ? " desc" : "") +
                     (format == RowFormat::text ? " text" : " binary"));
        // Strings are ordered by the server's collation on both sides; the proxy sees only the hidden key.
        const bool hidden = kind.key != "c";
        const std::string ordered_by = kind.key.rfind("WEIGHT", 0) == 0 ? "c" : kind.key;
        const std::string tail = " ORDER BY " + ordered_by + (descending ? " DESC" : "") + ", id";
        Spec spec;
        spec.how = How::ordered;
        spec.visible_columns = 2;
        spec.order = {{static_cast<uint16_t>(hidden ? 2 : 0), descending, kind.comparison},
                      {1, false, Comparison::signed_integer}};
        const Answer whole = client_->query("SELECT c, id FROM t" + tail, format);
        expect_merge(spec, "SELECT c, id" + (hidden ? ", " + kind.key : "") + " FROM t WHERE @" + tail, whole,
                     format);
      }
    }
  }
}

TEST_P(Server, FloatIsExactInBinaryRows) {
  fill("FLOAT", 300, [&] { return "16777216+" + std::to_string(random_.below(40)); });
  Spec spec;
  spec.how = How::ordered;
  spec.order = {{0, false, Comparison::real}, {1, false, Comparison::signed_integer}};
  expect_merge(spec, "SELECT c, id FROM t WHERE @ ORDER BY c, id",
               client_->query("SELECT c, id FROM t ORDER BY c, id", RowFormat::binary), RowFormat::binary);
}

TEST_P(Server, GroupsOfPartsAreTheServersGroups) {
  using What = OutputColumn::What;
  std::vector<Kind> numbers = {
      {"TINYINT", "", Comparison::signed_integer, integer},
      {"INT", "", Comparison::signed_integer, integer},
      {"BIGINT", "", Comparison::signed_integer, integer},
      {"BIGINT UNSIGNED", "", Comparison::unsigned_integer, natural},
      // Multiples of 1/1024: their sums are exact, whatever the order of addition.
      {"DOUBLE", "", Comparison::real,
       [](SeededRandom& r) { return sign(r) + std::to_string(r.below(1 << 30)) + "e0/1024"; }},
      {"FLOAT", "", Comparison::real,
       [](SeededRandom& r) { return sign(r) + std::to_string(r.below(1000)) + "e0/8"; }},
  };
  for (int scale = 0; scale <= 30; ++scale) {
    numbers.push_back({"DECIMAL(50," + std::to_string(scale) + ")", "", Comparison::decimal,
                       [](SeededRandom& r) { return sign(r) + digits(r, 9) + "." + digits(r, 32); }});
  }
  for (const Kind& kind : numbers) {
    fill(kind.type, 200, [&] { return kind.value(random_); });
    for (const char* tail : {" GROUP BY g ORDER BY g", ""}) {
      for (const RowFormat format : {RowFormat::text, RowFormat::binary}) {
        SCOPED_TRACE(kind.type + tail + (format == RowFormat::text ? " text" : " binary"));
        const bool grouped = tail[0] != '\0';
        const std::string key = grouped ? "g" : "MIN(g)";
        Spec spec;
        spec.how = How::grouped;
        if (grouped) spec.group = {{0, false, Comparison::signed_integer}};
        spec.outputs = {{grouped ? What::first : What::min, 0, 0, Comparison::signed_integer},
                        {What::count, 1, 0, {}},
                        {What::count, 2, 0, {}},
                        {What::sum, 3, 0, {}},
                        {What::min, 4, 0, kind.comparison},
                        {What::max, 5, 0, kind.comparison},
                        {What::avg, 3, 2, {}}};
        const std::string aggregates = "SELECT " + key + ", COUNT(*), COUNT(c), SUM(c), MIN(c), MAX(c)";
        expect_merge(spec, aggregates + " FROM t WHERE @" + tail,
                     client_->query(aggregates + ", AVG(c) FROM t" + tail, format), format);
      }
    }
  }
}

TEST_P(Server, NoRowsAtAll) {
  using What = OutputColumn::What;
  fill("DECIMAL(10,2)", 20, [] { return std::string("1.5"); });
  for (const RowFormat format : {RowFormat::text, RowFormat::binary}) {
    Spec spec;
    spec.how = How::grouped;
    spec.outputs = {{What::count, 0, 0, {}},
                    {What::sum, 1, 0, {}},
                    {What::avg, 1, 0, {}},
                    {What::max, 2, 0, Comparison::decimal}};
    expect_merge(spec, "SELECT COUNT(c), SUM(c), MAX(c) FROM t WHERE id < 0 AND @",
                 client_->query("SELECT COUNT(c), SUM(c), AVG(c), MAX(c) FROM t WHERE id < 0", format),
                 format);
  }
}

TEST_P(Server, RealsArePrintedAsTheServerPrintsThem) {
  std::string sql = "SELECT ";
  std::vector<double> values;
  client_->query("DROP TABLE IF EXISTS r");
  client_->query("CREATE TABLE r (id INT PRIMARY KEY, d DOUBLE, f FLOAT, x DOUBLE(20,4))");
  sql = "INSERT INTO r VALUES ";
  for (int i = 0; i < 2000; ++i) {
    const std::string value =
        sign(random_) + digits(random_, 17) + "e" + sign(random_) + std::to_string(random_.below(21));
    sql += (i == 0 ? "(" : ",(") + std::to_string(i) + "," + value + "," + value + "," + value + ")";
  }
  client_->query(sql);
  const Answer text = client_->query("SELECT d, f, x FROM r ORDER BY id");
  const Answer binary = client_->query("SELECT d, f, x FROM r ORDER BY id", RowFormat::binary);
  const RowReader text_reader(RowFormat::text, text.columns),
      binary_reader(RowFormat::binary, binary.columns);
  std::vector<Cell> shown(3), exact(3);
  for (size_t i = 0; i < text.rows.size(); ++i) {
    ASSERT_TRUE(text_reader.read_all(text.rows[i], shown));
    ASSERT_TRUE(binary_reader.read_all(binary.rows[i], exact));
    for (size_t c = 0; c < 3; ++c) {
      double value = 0;
      ASSERT_TRUE(read_real(RowFormat::binary, binary.columns[c], exact[c].value, value));
      std::string written;
      write_real(value, text.columns[c].type, text.columns[c].decimals, written);
      ASSERT_EQ(written, shown[c].value) << "row " << i << ", column " << c;
    }
  }
}

}  // namespace
}  // namespace evenkeel::merge::testing
