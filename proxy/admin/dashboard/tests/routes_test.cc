#include "proxy/admin/dashboard/routes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/mysql/error_codes.h"
#include "proxy/admin/dashboard/page_files.h"
#include "proxy/protocol/auth/digest.h"

namespace evenkeel::admin {
namespace {

using answer::Rights;
using nlohmann::json;

// One table; remembers what was ordered.
class FakeSkew final : public skew::Operations, public skew::Figures {
 public:
  std::vector<skew::TableName> tables() const override { return {{"shop", "orders"}}; }
  Result<skew::TableFigures> figures(const skew::TableName& name) const override {
    skew::TableFigures figures;
    figures.name = name;
    figures.slots.resize(4);
    figures.slots[2].rows = 5;
    figures.map.version = version;
    return figures;
  }
  Result<std::vector<skew::SkewPoint>> skew_over_time(const skew::TableName&) const override {
    return std::vector<skew::SkewPoint>{{skew::WallTime(std::chrono::milliseconds(9)), 1.5, 1.25, 0.5, true}};
  }
  Result<skew::DryRunFigures> dry_run_figures(const skew::SteerOrder&) const override {
    if (refuses) return fail(*refuses);
    skew::DryRunFigures figures;
    figures.next_rows = {0, 0, 5000, 5000};
    figures.weights = {0, 0, 1, 1};
    figures.remarks = {"look out"};
    return figures;
  }
  Result<mysql::ResultTable> skew(const std::optional<skew::TableName>&, skew::Grouping) const override {
    return words("skew");
  }
  Result<mysql::ResultTable> steering() const override { return words("steering"); }
  Result<mysql::ResultTable> steering_history() const override { return words("history"); }
  Result<mysql::ResultTable> explain(const skew::TableName& table,
                                     std::optional<uint32_t> slot) const override {
    return words(table.table + (slot ? std::to_string(*slot) : ""));
  }
  Result<mysql::ResultTable> dry_run(const skew::SteerOrder&) const override { return words("dry"); }
  Result<mysql::ResultTable> steer(const skew::SteerOrder& order) override {
    if (refuses) return fail(*refuses);
    ordered.push_back(order);
    ++version;
    return words("done");
  }

  std::vector<skew::SteerOrder> ordered;
  std::optional<Error> refuses;
  uint64_t version = 7;

 private:
  static mysql::ResultTable words(const std::string& text) {
    return {{{"word", mysql::Value::Kind::string}}, {{mysql::Value::string(text)}}};
  }
};

answer::Account account(const std::string& name, Rights rights) {
  answer::Account made;
  made.name = name;
  made.rights = rights;
  const auto once = protocol::auth::sha256({"secret"});
  made.sha2_verifier = protocol::auth::sha256({protocol::auth::view_of(once)});
  return made;
}

rule::RuleSetPtr shop_rules() {
  rule::Settings settings;
  settings.instances = {"ds0", "ds1"};
  rule::TableSettings orders;
  orders.name = "orders";
  orders.key = "id";
  orders.topology.instances = settings.instances;
  orders.topology.databases = 2;
  orders.topology.tables = 4;
  orders.topology.database_pattern = "shop_{:02}";
  orders.topology.table_pattern = "orders_{:03}";
  rule::SchemaSettings shop;
  shop.name = "shop";
  shop.default_instance = "ds0";
  shop.tables = {orders};
  settings.schemas = {shop};
  auto built = rule::RuleSet::build(settings);
  EXPECT_TRUE(built) << built.error().message;
  return *built;
}

class RoutesTest : public ::testing::Test {
 protected:
  RoutesTest() { add_dashboard(router_, gate_, {rules_.get(), &skew_, &skew_, &sessions_, "evenkeel test"}); }

  http::Response ask(const std::string& method, const std::string& target, const std::string& authorization,
                     const std::string& body = "", const std::string& type = "application/json") {
    http::Request request;
    request.method = method;
    request.client = "10.0.0.7";
    EXPECT_TRUE(http::split_target(target, request.path, request.query));
    request.headers["host"] = "localhost";
    if (!authorization.empty()) request.headers["authorization"] = authorization;
    if (!body.empty()) request.headers["content-type"] = type;
    request.body = body;
    return std::get<http::Response>(router_.respond(request).what);
  }
  std::string session_of(const std::string& basic) {
    const http::Response opened = ask("POST", "/api/v1/session", basic);
    EXPECT_EQ(opened.status, 200) << opened.body;
    return "Bearer " + json::parse(opened.body)["token"].get<std::string>();
  }
  static std::string message(const http::Response& response) {
    return json::parse(response.body)["error"]["message"];
  }
  static std::string order(json more = json::object()) {
    json body{
        {"schema", "shop"}, {"table", "orders"}, {"what", "avoid"}, {"targets", {{{"instance", "ds0"}}}}};
    body.merge_patch(more);
    return body.dump();
  }

  const std::string anna_ = "Basic YW5uYTpzZWNyZXQ=";  // anna:secret
  const std::string rita_ = "Basic cml0YTpzZWNyZXQ=";  // rita:secret
  ManualClock clock_;
  std::vector<answer::Account> accounts_{account("anna", Rights::operate), account("rita", Rights::read)};
  http::Settings settings_;
  http::Gate gate_{accounts_, settings_, clock_};
  http::Router router_{gate_};
  uint8_t byte_ = 0;
  PageSessions sessions_{clock_, [this](std::span<std::byte> out) {
                           for (std::byte& byte : out) byte = std::byte{byte_};
                           ++byte_;
                         }};
  rule::RuleSetPtr rules_ = shop_rules();
  FakeSkew skew_;
};

TEST_F(RoutesTest, ThePageIsForEverybodyAndItsPolicyStrict) {
  for (const PageFile& file : page_files()) {
    const http::Response response =
        ask("GET", file.name == "index.html" ? "/" : "/dashboard/" + std::string(file.name), "");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, file.content);
    const auto policy =
        std::find_if(response.headers.begin(), response.headers.end(),
                     [](const auto& header) { return header.first == "Content-Security-Policy"; });
    ASSERT_NE(policy, response.headers.end());
    EXPECT_EQ(policy->second.find("unsafe"), std::string::npos);
    EXPECT_NE(policy->second.find("default-src 'none'"), std::string::npos);
    // Nothing is fetched from elsewhere: the only addresses are names of XML.
    for (size_t at = 0; (at = file.content.find("://", at)) != std::string_view::npos; ++at)
      EXPECT_EQ(file.content.substr(at, 13), "://www.w3.org") << file.name;
  }
  EXPECT_EQ(ask("GET", "/", "").content_type, "text/html; charset=utf-8");
  EXPECT_EQ(ask("GET", "/dashboard/dashboard.js", "").content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(ask("GET", "/dashboard/absent.js", "").status, 404);
}

TEST_F(RoutesTest, NothingElseIsToldWithoutALogin) {
  for (const char* path :
       {"session", "tables", "layout", "figures", "history", "explain", "steering", "steering/history"})
    EXPECT_EQ(ask("GET", "/api/v1/" + std::string(path), "").status, 401) << path;
  EXPECT_EQ(ask("POST", "/api/v1/dry-run", "", order()).status, 401);
  EXPECT_EQ(ask("POST", "/api/v1/steer", "", order()).status, 401);
  EXPECT_TRUE(skew_.ordered.empty());
}

TEST_F(RoutesTest, ASessionIsOpenedByPasswordUsedAndClosed) {
  const std::string token = session_of(anna_);
  const json session = json::parse(ask("GET", "/api/v1/session", token).body);
  EXPECT_EQ(session, (json{{"user", "anna"}, {"rights", "operate"}, {"proxy", "evenkeel test"}}));
  EXPECT_EQ(ask("POST", "/api/v1/session", token).status, 400);
  EXPECT_EQ(ask("DELETE", "/api/v1/session", token).status, 204);
  EXPECT_EQ(ask("GET", "/api/v1/session", token).status, 401);
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/session", session_of(rita_)).body)["rights"], "read");
}

TEST_F(RoutesTest, FiguresAreOfTheTableThatIsNamed) {
  const std::string table = "?schema=shop&table=orders";
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/tables", rita_).body)["tables"][0]["rows"], 5);
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/figures" + table, rita_).body)["rows"], json({0, 0, 5, 0}));
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/history" + table, rita_).body),
            json::parse(R"({"points": [[9, 1.5, 1.25, 0.5, 1]]})"));
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/explain" + table + "&slot=3", rita_).body)["rows"],
            json::parse(R"([["orders3"]])"));
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/explain" + table, rita_).body)["rows"],
            json::parse(R"([["orders"]])"));
  EXPECT_EQ(ask("GET", "/api/v1/explain" + table + "&slot=x", rita_).status, 422);
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/steering", rita_).body)["rows"],
            json::parse(R"([["steering"]])"));
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/steering/history", rita_).body)["rows"],
            json::parse(R"([["history"]])"));
  EXPECT_EQ(json::parse(ask("GET", "/api/v1/layout" + table, rita_).body), json::parse(R"({
      "schema": "shop", "table": "orders", "slots": 4, "instances": [
        {"name": "ds0", "databases": [{"name": "shop_00", "slots": [0, 1], "tables": ["orders_000", "orders_001"]}]},
        {"name": "ds1", "databases": [{"name": "shop_01", "slots": [2, 3], "tables": ["orders_002", "orders_003"]}]}]})"));
  for (const char* wrong : {"", "?schema=shop", "?schema=shop&table=%3Cb%3E"}) {
    const http::Response response = ask("GET", "/api/v1/figures" + std::string(wrong), rita_);
    EXPECT_EQ(response.status, 404);
    EXPECT_NE(message(response).find("those that exist: shop.orders"), std::string::npos);
  }
}

TEST_F(RoutesTest, AReaderMayTryAndNotSteer) {
  const http::Response tried = ask("POST", "/api/v1/dry-run", session_of(rita_), order());
  ASSERT_EQ(tried.status, 200) << tried.body;
  EXPECT_EQ(json::parse(tried.body)["next_rows"], json({0, 0, 5000, 5000}));
  EXPECT_EQ(json::parse(tried.body)["version"], 7);
  EXPECT_EQ(json::parse(tried.body)["remarks"], json({"look out"}));
  for (const std::string& who : {rita_, session_of(rita_)}) {
    EXPECT_EQ(ask("POST", "/api/v1/steer", who, order()).status, 403);
  }
  EXPECT_TRUE(skew_.ordered.empty());
}

TEST_F(RoutesTest, AnOperatorSteersOnceTheMapIsTheOneThatWasSeen) {
  const std::string token = session_of(anna_);
  ASSERT_EQ(ask("POST", "/api/v1/steer", token, order({{"if_version", 7}})).status, 200);
  ASSERT_EQ(skew_.ordered.size(), 1u);
  EXPECT_EQ(skew_.ordered[0].ordered_by, "admin 'anna' from 10.0.0.7");
  EXPECT_EQ(skew_.ordered[0].targets[0].name, "ds0");
  const http::Response late = ask("POST", "/api/v1/steer", token, order({{"if_version", 7}}));
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(message(late), "the map is version 8 by now, the dry run was about version 7: look again");
  EXPECT_EQ(skew_.ordered.size(), 1u);
  EXPECT_EQ(ask("POST", "/api/v1/steer", anna_, order()).status, 200);
}

TEST_F(RoutesTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(ask("POST", "/api/v1/steer", anna_, order(), "text/plain").status, 415);
  EXPECT_EQ(ask("POST", "/api/v1/steer", anna_, "").status, 415);
  EXPECT_EQ(ask("POST", "/api/v1/steer", anna_, "{").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/steer", anna_, order({{"table", "absent"}})).status, 404);
  skew_.refuses = make_error(ErrorKind::statement, mysql::er::unknown_error, "too little capacity");
  EXPECT_EQ(ask("POST", "/api/v1/steer", anna_, order()).status, 422);
  EXPECT_EQ(message(ask("POST", "/api/v1/dry-run", anna_, order())), "too little capacity");
  skew_.refuses = make_error(ErrorKind::registry, mysql::er::unknown_error, "the registry is away");
  EXPECT_EQ(ask("POST", "/api/v1/steer", anna_, order()).status, 503);
  EXPECT_TRUE(skew_.ordered.empty());
}

}  // namespace
}  // namespace evenkeel::admin
