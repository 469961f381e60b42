#include "proxy/admin/dashboard/json.h"

#include <gtest/gtest.h>
#include <limits>

namespace evenkeel::admin {
namespace {

using nlohmann::json;
using skew::SteerOrder;
using skew::Target;

std::string problem_of(std::string_view body) {
  const auto order = order_of(body);
  return order ? "understood" : order.error().message;
}

TEST(OrderOf, ReadsEveryKind) {
  const auto avoid = order_of(
      R"({"schema": "shop", "table": "orders", "what": "avoid", "duration_s": 7200, "if_version": 7,
          "targets": [{"instance": "ds0"}, {"database": "shop_05"}, {"first": 0, "last": 31}]})");
  ASSERT_TRUE(avoid) << avoid.error().message;
  EXPECT_EQ(avoid->if_version, 7u);
  EXPECT_EQ(avoid->order.table, (skew::TableName{"shop", "orders"}));
  EXPECT_EQ(avoid->order.what, SteerOrder::What::avoid);
  EXPECT_EQ(avoid->order.duration, std::chrono::seconds(7200));
  EXPECT_EQ(avoid->order.targets, (std::vector<Target>{{Target::Kind::instance, "ds0", 0, 0},
                                                       {Target::Kind::database, "shop_05", 0, 0},
                                                       {Target::Kind::slots, "", 0, 31}}));
  const auto weights = order_of(R"({"schema": "s", "table": "t", "what": "weights",
                                    "weights": [{"first": 4, "last": 4, "weight": 3}, {"instance": "a", "weight": 0}]})");
  ASSERT_TRUE(weights) << weights.error().message;
  ASSERT_EQ(weights->order.weights.size(), 2u);
  EXPECT_EQ(weights->order.weights[0], (skew::WeightedTarget{{Target::Kind::slots, "", 4, 4}, 3}));
  EXPECT_EQ(weights->order.weights[1], (skew::WeightedTarget{{Target::Kind::instance, "a", 0, 0}, 0}));
  for (const auto& [word, what] :
       {std::pair{"auto", SteerOrder::What::automatic}, std::pair{"advise", SteerOrder::What::advise},
        std::pair{"off", SteerOrder::What::off}}) {
    const auto plain = order_of(json{{"schema", "s"}, {"table", "t"}, {"what", word}}.dump());
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_EQ(plain->order.what, what);
    EXPECT_FALSE(plain->order.duration);
  }
}

TEST(OrderOf, NamesWhatIsWrong) {
  EXPECT_EQ(problem_of("["), "the body is not a JSON object");
  EXPECT_EQ(problem_of("[]"), "the body is not a JSON object");
  EXPECT_EQ(problem_of("{}"), "field 'schema' must be a text that is not empty");
  const auto with = [](const json& more) {
    json body{{"schema", "s"}, {"table", "t"}, {"what", "avoid"}, {"targets", {{{"first", 1}, {"last", 2}}}}};
    body.merge_patch(more);
    return problem_of(body.dump());
  };
  EXPECT_EQ(with(json::object()), "understood");
  EXPECT_EQ(with({{"what", "destroy"}}),
            "field 'what' must be one of avoid, only, weights, auto, advise, off");
  EXPECT_EQ(with({{"what", 5}}), "field 'what' must be a text that is not empty");
  EXPECT_EQ(with({{"force", true}}),
            "field 'force' is not known here; allowed are schema, table, what, targets, weights, duration_s, "
            "if_version");
  EXPECT_EQ(with({{"duration_s", -1}}), "field 'duration_s' must be a whole number from 0 to 31622400");
  EXPECT_EQ(with({{"if_version", "7"}}),
            "field 'if_version' must be a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(with({{"what", "off"}}), "field 'targets' must be left away for this order");
  EXPECT_EQ(with({{"what", "weights"}}), "field 'targets' must be left away for this order");
  EXPECT_EQ(with({{"targets", json::array()}}),
            "field 'targets' must be a list that is not empty for this order");
  EXPECT_EQ(with({{"targets", {1}}}), "field 'targets' must be a list of objects");
  const std::string one_of =
      "field 'targets' must be a list in which each element has one of: instance; database; first and last";
  EXPECT_EQ(with({{"targets", {{{"first", 1}}}}}), one_of);
  EXPECT_EQ(with({{"targets", {{{"last", 1}}}}}), one_of);
  EXPECT_EQ(with({{"targets", {{{"instance", "a"}, {"database", "b"}}}}}), one_of);
  EXPECT_EQ(with({{"targets", {json::object()}}}), one_of);
  EXPECT_EQ(with({{"targets", {{{"first", 3}, {"last", 2}}}}}), "field 'last' must be at least `first`");
  EXPECT_EQ(with({{"targets", {{{"instance", "a"}, {"weight", 2}}}}}),
            "field 'weight' is not known here; allowed are instance, database, first, last");
}

TEST(TableOfValues, KeepsNumbersExact) {
  using mysql::Value;
  mysql::ResultTable table;
  table.columns = {{"a", Value::Kind::string}, {"b", Value::Kind::uint64}};
  table.rows = {{Value::string("<b>"), Value::uint64(5)},
                {Value::null(), Value::uint64(18446744073709551615u)},
                {Value::decimal("1.50"), Value::int64(-3)}};
  EXPECT_EQ(
      table_of_values(table),
      json::parse(
          R"({"columns": ["a", "b"], "rows": [["<b>", 5], [null, "18446744073709551615"], ["1.50", -3]]})"));
  EXPECT_EQ(table_of_values({}), json::parse(R"({"columns": [], "rows": []})"));
}

TEST(FiguresJson, SaysOneElementASlot) {
  skew::TableFigures figures;
  figures.name = {"shop", "orders"};
  figures.at = skew::WallTime(std::chrono::milliseconds(1'790'000'000'123));
  figures.slots = {{20, 4096, skew::FigureSource::exact, std::chrono::seconds(3), 7},
                   {10, 2048, skew::FigureSource::carried, std::chrono::seconds(4), 9},
                   {0, 0, skew::FigureSource::unknown, std::chrono::seconds(0), 0},
                   {1, 1, skew::FigureSource::estimate, std::chrono::seconds(1), 1}};
  figures.bound = 1.5;
  figures.mode = skew::SteeringMode::automatic;
  const json idle = figures_json(figures);
  EXPECT_EQ(idle["at_ms"], 1'790'000'000'123);
  EXPECT_EQ(idle["rows"], json({20, 10, 0, 1}));
  EXPECT_EQ(idle["bytes"], json({4096, 2048, 0, 1}));
  EXPECT_EQ(idle["inserted"], json({7, 9, 0, 1}));
  EXPECT_EQ(idle["age_s"], json({3, 4, 0, 1}));
  EXPECT_EQ(idle["source"], "xc-e");
  EXPECT_EQ(idle["mode"], "auto");
  EXPECT_TRUE(idle["map"]["weights"].is_null());
  EXPECT_TRUE(idle["map"]["until_ms"].is_null());
  EXPECT_TRUE(idle["outlook"]["until_even_s"].is_null());
  EXPECT_FALSE(summary_json(figures)["steering"]);
  EXPECT_EQ(summary_json(figures)["rows"], 31);

  figures.map.weights = {0, 1, 1, 1};
  figures.map.until = figures.at + std::chrono::hours(1);
  figures.outlook.until_even = std::chrono::seconds(90);
  figures.proxies = {{"p1", 3}};
  const json steering = figures_json(figures);
  EXPECT_EQ(steering["map"]["weights"], json({0, 1, 1, 1}));
  EXPECT_EQ(steering["map"]["until_ms"], 1'790'003'600'123);
  EXPECT_EQ(steering["outlook"]["until_even_s"], 90);
  EXPECT_EQ(steering["proxies"], json::parse(R"([{"proxy": "p1", "version": 3}])"));
  EXPECT_TRUE(summary_json(figures)["steering"]);

  figures.bound = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(figures_json(figures)["bound"].is_null());
  EXPECT_TRUE(summary_json(figures)["bound"].is_null());
}

}  // namespace
}  // namespace evenkeel::admin
