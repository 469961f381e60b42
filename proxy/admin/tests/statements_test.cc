#include "proxy/admin/statements.h"

#include <gtest/gtest.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::admin {
namespace {

using answer::Caller;
using answer::Rights;
using mysql::ResultTable;
using mysql::Value;

ResultTable one_cell(const std::string& text) { return {{{"said"}}, {{Value::string(text)}}}; }

class FakeOperations final : public skew::Operations {
 public:
  Result<ResultTable> skew(const std::optional<skew::TableName>& table, skew::Grouping) const override {
    return one_cell("skew " + (table ? table->table : "of all"));
  }
  Result<ResultTable> steering() const override { return one_cell("steering"); }
  Result<ResultTable> steering_history() const override { return one_cell("history"); }
  Result<ResultTable> explain(const skew::TableName& table, std::optional<uint32_t> slot) const override {
    return one_cell("explain " + table.table + (slot ? std::to_string(*slot) : ""));
  }
  Result<ResultTable> dry_run(const skew::SteerOrder& order) const override {
    return one_cell("dry " + order.ordered_by);
  }
  Result<ResultTable> steer(const skew::SteerOrder& order) override {
    steered = order;
    return one_cell("done");
  }

  std::optional<skew::SteerOrder> steered;
};

class AdminStatementsTest : public ::testing::Test {
 protected:
  Sources sources() {
    Sources out;
    out.topology = [] { return one_cell("topology"); };
    out.generators = [] { return one_cell("generators"); };
    out.workers = [] { return one_cell("workers"); };
    out.sessions = [] { return one_cell("sessions"); };
    out.pools = [] { return one_cell("pools"); };
    out.statistics = [] { return one_cell("statistics"); };
    out.slow_queries = [] { return one_cell("slow"); };
    out.decode = [](uint64_t id, const auto&) { return one_cell("decoded " + std::to_string(id)); };
    out.reload = [] { return one_cell("reloaded"); };
    out.kill = [this](uint64_t id, bool query_only) {
      killed = {id, query_only};
      return id == 7;
    };
    out.skew = &operations;
    return out;
  }
  std::string said(AdminStatements& statements, const std::string& sql, Rights rights) {
    const Caller caller{"anna", "10.0.0.7", 3, rights};
    const auto answer = statements.answer(answer::Phrase::read(sql).value(), caller);
    if (!answer) return std::to_string(answer.error().code) + " " + answer.error().message;
    if (const auto* table = std::get_if<ResultTable>(&answer->what)) return table->rows.at(0).at(0).text();
    return "OK";
  }

  FakeOperations operations;
  std::pair<uint64_t, bool> killed{0, false};
};

TEST_F(AdminStatementsTest, EachCommandReachesItsSource) {
  AdminStatements statements(sources());
  const std::pair<const char*, const char*> cases[] = {
      {"SHOW TOPOLOGY", "topology"},
      {"SHOW GENERATORS", "generators"},
      {"SHOW WORKERS", "workers"},
      {"SHOW SESSIONS", "sessions"},
      {"SHOW POOLS", "pools"},
      {"SHOW STATISTICS", "statistics"},
      {"SHOW SLOW QUERIES", "slow"},
      {"DECODE ID 5", "decoded 5"},
      {"SHOW SKEW", "skew of all"},
      {"SHOW SKEW FOR t", "skew t"},
      {"SHOW STEERING", "steering"},
      {"SHOW STEERING HISTORY", "history"},
      {"EXPLAIN STEERING t TABLE 4", "explain t4"},
      {"DRY RUN STEER t OFF", "dry admin 'anna' from 10.0.0.7"},
      {"HELP", "SHOW TOPOLOGY"},
  };
  for (const auto& [sql, answer] : cases) EXPECT_EQ(said(statements, sql, Rights::read), answer) << sql;
}

TEST_F(AdminStatementsTest, OperatingNeedsTheRight) {
  AdminStatements statements(sources());
  for (const char* sql : {"STEER t OFF", "RELOAD CONFIG", "KILL 7", "KILL QUERY 7"}) {
    const std::string refused = said(statements, sql, Rights::read);
    EXPECT_TRUE(refused.starts_with("1227 Access denied; 'anna' has the right to read, and ")) << refused;
  }
  EXPECT_FALSE(operations.steered);
  EXPECT_EQ(killed.first, 0);
  EXPECT_EQ(said(statements, "STEER t AVOID TABLES 0-31", Rights::operate), "done");
  ASSERT_TRUE(operations.steered);
  EXPECT_EQ(operations.steered->ordered_by, "admin 'anna' from 10.0.0.7");
  EXPECT_EQ(operations.steered->targets.at(0).last, 31);
  EXPECT_EQ(said(statements, "RELOAD CONFIG", Rights::operate), "reloaded");
  EXPECT_EQ(said(statements, "KILL QUERY 7", Rights::operate), "OK");
  EXPECT_EQ(killed, (std::pair<uint64_t, bool>(7, true)));
  EXPECT_EQ(said(statements, "KILL 8", Rights::operate), "1094 Unknown thread id: 8");
}

TEST_F(AdminStatementsTest, WithoutSteeringItSaysSo) {
  Sources without = sources();
  without.skew = nullptr;
  AdminStatements statements(std::move(without));
  EXPECT_TRUE(said(statements, "SHOW SKEW", Rights::read).starts_with("1235 nothing is measured"));
  EXPECT_EQ(said(statements, "SHOW TOPOLOGY", Rights::read), "topology");
}

}  // namespace
}  // namespace evenkeel::admin
