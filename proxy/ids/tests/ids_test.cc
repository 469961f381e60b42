#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

#include "idgen/layout.h"
#include "proxy/ids/routes.h"
#include "proxy/ids/statements.h"
#include "proxy/protocol/auth/digest.h"

namespace evenkeel::ids {
namespace {

// Gives 1, 2, 3 … and at most `at_once` of them in one draw.
class CountingGenerator final : public idgen::KeyGenerator {
 public:
  explicit CountingGenerator(uint32_t at_once) : at_once_(at_once) {}

  Result<idgen::DrawnKeys> draw(const idgen::KeyDemand& demand, std::span<uint64_t> keys) override {
    if (broken) return fail(make_error(ErrorKind::clock, 1105, "the clock stepped back"));
    idgen::DrawnKeys drawn{std::min(demand.rows, at_once_), demand.rows, {}};
    for (uint32_t i = 0; i < drawn.drawn; ++i) keys[i] = ++last_;
    if (!drawn.complete()) drawn.wait.micros = 150;
    return drawn;
  }
  Status set_map(idgen::SteeringMap) override { return {}; }
  std::shared_ptr<const idgen::SteeringMap> map() const override { return nullptr; }
  void close() override {}
  Status ready() const override { return {}; }
  idgen::Counters counters() const override {
    idgen::Counters counters;
    counters.ids = last_;
    return counters;
  }
  const std::string& table() const override { return table_; }
  uint32_t slots() const override { return 1; }

  bool broken = false;

 private:
  uint32_t at_once_;
  uint64_t last_ = 0;
  std::string table_ = "t";
};

class IdsTest : public ::testing::Test {
 protected:
  IdsTest() : spaces_(open(), 50), statements_(spaces_) {
    settings_.tokens = {{"robot", protocol::auth::sha256({"t"}), answer::Rights::read}};
    gate_.admit_by(accounts_, settings_);
    add_routes(router_, {&spaces_, &clock_, [this] { return reason_; },
                         [](metrics::Page& page) { page.gauge("more", "", {}, 1); }});
  }

  std::vector<OpenSpace> open() {
    return {{"orders", 128, idgen::Layout(), &quick_}, {"lines", 4, idgen::Layout(), &slow_}};
  }

  // The cells of the answer, the error, or how long to wait (then the same of the answer behind it).
  std::string said(const std::string& sql, const std::vector<mysql::Value>& values = {}) {
    auto phrase = answer::Phrase::read(sql);
    if (phrase && !values.empty()) phrase = phrase->bind(values);
    if (!phrase) return phrase.error().message;
    return told(statements_.answer(*phrase, answer::Caller()));
  }
  static std::string told(const Result<answer::Answer>& answer) {
    if (!answer) return std::to_string(answer.error().code) + " " + answer.error().message;
    if (const auto* later = std::get_if<answer::Later>(&answer->what)) {
      return "after " + std::to_string(later->delay.count()) + "us: " + told(later->again());
    }
    const auto& table = std::get<mysql::ResultTable>(answer->what);
    std::string text;
    for (const auto& column : table.columns) text += (text.empty() ? "" : " ") + column.name;
    for (const auto& row : table.rows) {
      text += " |";
      for (const auto& cell : row) text += " " + mysql::to_string(cell);
    }
    return text;
  }
  std::string columns_of(const std::string& sql) {
    auto columns = statements_.describe(*answer::Phrase::read(sql));
    if (!columns) return columns.error().message;
    std::string text;
    for (const auto& column : *columns) text += column.name + " ";
    return text;
  }
  std::string asked(const std::string& method, const std::string& target, bool token = true) {
    http::Request request;
    request.method = method;
    if (!http::split_target(target, request.path, request.query)) return "bad target";
    request.headers["host"] = "127.0.0.1";
    if (token) request.headers["authorization"] = "Bearer t";
    http::Outcome outcome = router_.respond(request);
    std::string text;
    while (auto* later = std::get_if<http::Later>(&outcome.what)) {
      text += "after " + std::to_string(later->delay.count()) + "us: ";
      const auto again = later->again;
      outcome = again();
    }
    const auto& response = std::get<http::Response>(outcome.what);
    return text + std::to_string(response.status) + " " + response.body;
  }

  CountingGenerator quick_{1000};
  CountingGenerator slow_{2};
  KeySpaces spaces_;
  IdStatements statements_;
  std::vector<answer::Account> accounts_;
  http::Settings settings_;
  ManualClock clock_;
  http::Gate gate_{accounts_, settings_, clock_};
  http::Router router_{gate_};
  std::optional<std::string> reason_;
};

constexpr const char* syntax = "1064 You have an error in your SQL syntax: ";

TEST_F(IdsTest, StatementsGiveIds) {
  EXPECT_EQ(said("SELECT NEXT_ID('orders')"), "NEXT_ID('orders') | 1");
  EXPECT_EQ(said("select next_id( 'orders' ) AS id;"), "id | 2");
  EXPECT_EQ(said("SELECT * FROM NEXT_IDS('orders', 3)"), "id | 3 | 4 | 5");
  EXPECT_EQ(
      said("SELECT id FROM NEXT_IDS(?, ?) AS t", {mysql::Value::string("orders"), mysql::Value::string("2")}),
      "id | 6 | 7");
  EXPECT_EQ(said("SELECT NEXT_ID(?)", {mysql::Value::bytes("orders")}), "NEXT_ID(?) | 8");
  EXPECT_EQ(columns_of("SELECT * FROM NEXT_IDS(?, ?)"), "id ");
  EXPECT_EQ(columns_of("SELECT NEXT_ID(?) x"), "x ");
  EXPECT_EQ(said("SHOW KEY SPACES"),
            "key_space layout slots ids | 'orders' 'ms:41:10:12:1704067200000' 128 8 | 'lines' "
            "'ms:41:10:12:1704067200000' 4 0");
  EXPECT_TRUE(said("HELP").starts_with("statement meaning | 'SELECT NEXT_ID("));
}

TEST_F(IdsTest, WhatIsNotThereYetIsWaitedFor) {
  EXPECT_EQ(said("SELECT * FROM NEXT_IDS('lines', 5)"), "after 150us: after 150us: id | 1 | 2 | 3 | 4 | 5");
  EXPECT_EQ(
      asked("POST", "/ids/lines?count=3"),
      "after 150us: 200 "
      "{\"ids\":[\"6\",\"7\",\"8\"],\"key_space\":\"lines\",\"layout\":\"ms:41:10:12:1704067200000\"}\n");
}

TEST_F(IdsTest, StatementsThatAreWrongSayWhere) {
  EXPECT_EQ(said("SELECT NEXT_ID('order')"), "1146 there is no key space 'order'; there are orders, lines");
  EXPECT_EQ(
      said("SELECT * FROM NEXT_IDS('orders', 51)"),
      std::string(syntax) +
          "'51' at character 34 was not expected; allowed here: how many ids, a whole number from 1 to 50");
  EXPECT_EQ(said("SELECT * FROM NEXT_IDS('orders')"),
            std::string(syntax) + "')' at character 32 was not expected; allowed here: , and another value");
  EXPECT_EQ(
      said("SELECT * FROM orders"),
      std::string(syntax) + "'orders' at character 15 was not expected; allowed here: NEXT_IDS, DECODE_ID");
  EXPECT_EQ(said("SELECT NEXT_ID()"),
            std::string(syntax) + "')' at character 16 was not expected; allowed here: a value");
  EXPECT_EQ(
      said("SELECT NEXT_ID('orders'), 1"),
      std::string(syntax) + "',' at character 25 was not expected; allowed here: the end of the statement");
  EXPECT_TRUE(said("INSERT INTO t VALUES (1)").starts_with(std::string(syntax) + "'INSERT'"));
  EXPECT_EQ(quick_.counters().ids, 0);
  quick_.broken = true;
  EXPECT_EQ(said("SELECT NEXT_ID('orders')"), "1105 the clock stepped back");
}

TEST_F(IdsTest, IdsAreDecoded) {
  const idgen::Layout layout;
  const uint64_t id = idgen::compose(layout, {1000, 5, 130});
  EXPECT_EQ(said("SELECT * FROM DECODE_ID(" + std::to_string(id) + ", 'orders')"),
            "id key_space time worker worker_parts sequence slot slots | " + std::to_string(id) +
                " 'orders' '2024-01-01T00:00:01.000Z' 5 '" + idgen::decode(layout, id)->worker +
                "' 130 2 128");
  EXPECT_EQ(said("SELECT DECODE_ID(7)"),
            "1064 key spaces differ in layout or slots: say which one the id is of (orders, lines)");
  const std::string too_long = said("SELECT * FROM DECODE_ID(18446744073709551615, 'orders')");
  EXPECT_TRUE(too_long.starts_with("1105 ")) << too_long;
  const auto body = asked("GET", "/decode/" + std::to_string(id) + "?space=orders");
  ASSERT_TRUE(body.starts_with("200 ")) << body;
  const auto json = nlohmann::json::parse(body.substr(4));
  EXPECT_EQ(json["id"], std::to_string(id));
  EXPECT_EQ(json["worker"], 5);
  EXPECT_EQ(json["sequence"], 130);
  EXPECT_EQ(json["slot"], 2);
  EXPECT_EQ(json["time"], "2024-01-01T00:00:01.000Z");
  EXPECT_TRUE(asked("GET", "/decode/x1").starts_with("400"));
  EXPECT_TRUE(asked("GET", "/decode/18446744073709551615?space=orders").starts_with("422"));
}

TEST_F(IdsTest, HttpChecksWhatIsAsked) {
  EXPECT_TRUE(asked("POST", "/ids/orders", false).starts_with("401"));
  EXPECT_TRUE(asked("GET", "/ids/orders").starts_with("405"));
  EXPECT_TRUE(asked("POST", "/ids/order").starts_with("404"));
  for (const char* bad : {"0", "51", "-1", "x", "", "1.5"}) {
    EXPECT_TRUE(asked("POST", std::string("/ids/orders?count=") + bad).starts_with("400")) << bad;
  }
  EXPECT_TRUE(asked("POST", "/ids/orders?cuont=5").starts_with("400"));
  EXPECT_TRUE(asked("POST", "/ids/orders?layout=ms%3A41%3A10%3A12%3A1").starts_with("409"));
  EXPECT_TRUE(asked("POST", "/ids/orders?layout=ms:41:10:12:1704067200000&count=2")
                  .starts_with("200 {\"ids\":[\"1\",\"2\"]"));
  quick_.broken = true;
  EXPECT_EQ(asked("POST", "/ids/orders"),
            "503 {\"error\":{\"message\":\"the clock stepped back\",\"status\":503}}\n");
}

TEST_F(IdsTest, HealthAndMetricsNeedNoLogin) {
  EXPECT_EQ(asked("GET", "/healthz", false), "200 ok\n");
  EXPECT_EQ(asked("GET", "/readyz", false), "200 ready\n");
  reason_ = "stopping";
  EXPECT_EQ(asked("GET", "/readyz", false), "503 {\"error\":{\"message\":\"stopping\",\"status\":503}}\n");
  said("SELECT NEXT_ID('orders')");
  const std::string metrics = asked("GET", "/metrics", false);
  EXPECT_NE(metrics.find("evenkeel_ids_total{key_space=\"orders\"} 1\n"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("\nmore 1\n"), std::string::npos);
  // 2093-09-06T15:47:35.552Z is far away, then near.
  EXPECT_NE(metrics.find("evenkeel_id_ends_within_a_year{key_space=\"orders\"} 0\n"), std::string::npos);
  clock_.step_wall(std::chrono::seconds(exhaustion_unix_ms(idgen::Layout()) / 1'000 -
                                        clock_.unix_millis() / 1'000 - 360 * 86'400));
  const std::string late = asked("GET", "/metrics", false);
  EXPECT_NE(late.find("evenkeel_id_ends_within_a_year{key_space=\"orders\"} 1\n"), std::string::npos) << late;
  EXPECT_NE(late.find("evenkeel_id_seconds_left{key_space=\"orders\"} 31104000\n"), std::string::npos)
      << late;
  EXPECT_TRUE(asked("GET", "/key-spaces/lines").find("\"max_count\":50") != std::string::npos);
  EXPECT_TRUE(asked("GET", "/key-spaces", false).starts_with("401"));
}

}  // namespace
}  // namespace evenkeel::ids
