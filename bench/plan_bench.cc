// What planning costs once a shape is bound, and what binding costs: 128 tables on 4 instances.
#include <benchmark/benchmark.h>
#include <string>
#include <vector>

#include "router/plan/tests/planning.h"
#include "router/sql/parser.h"

namespace evenkeel::plan {
namespace {

constexpr std::string_view world_text = R"(
instances ds0 ds1 ds2 ds3
schema shop ds0
table orders key=id generated=id databases=16 tables=128
CREATE TABLE orders (
  id BIGINT NOT NULL PRIMARY KEY,
  user_id BIGINT,
  amount DECIMAL(12,2),
  qty INT,
  region VARCHAR(8)
);
)";

const testing::World& world() {
  static const testing::World made = *testing::read_world(world_text);
  return made;
}

// One statement, bound.
struct Bound {
  explicit Bound(std::string text) : sql(std::move(text)) {
    facts.database = "shop";
    if (!sql::lex(sql, facts.lex, tokens)) return;
    const auto parsed = sql::parse(tokens, facts.lex);
    if (!parsed) return;
    statement = *parsed;
    auto made = plan::bind(statement, tokens, world().catalog, world().rules, facts);
    if (made) bound = *made;
  }

  std::string sql;
  SessionFacts facts;
  sql::Tokens tokens;
  sql::StatementPtr statement;
  BoundPtr bound;
};

void run_plan(benchmark::State& state, const std::string& sql, std::vector<mysql::Value> parameters = {}) {
  const Bound shape(sql);
  if (!shape.bound) return state.SkipWithError("not bound");
  const Arguments arguments{shape.tokens, parameters, shape.facts, !parameters.empty()};
  for (auto _ : state) {
    const auto demand = key_demand(*shape.bound, arguments);
    std::vector<uint64_t> keys(demand->rows.size());
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = 1'000'000 + i;
    auto made = plan(*shape.bound, arguments, keys);
    if (!made) return state.SkipWithError(made.error().message.c_str());
    benchmark::DoNotOptimize(made);
  }
}

std::string rows(int count) {
  std::string out = "INSERT INTO orders(user_id, amount) VALUES ";
  for (int i = 0; i < count; ++i) out += (i == 0 ? "(" : ", (") + std::to_string(i) + ", 9.99)";
  return out;
}

void point_select(benchmark::State& state) { run_plan(state, "SELECT * FROM orders WHERE id = 123456789"); }
void point_select_binary(benchmark::State& state) {
  run_plan(state, "SELECT * FROM orders WHERE id = ?", {mysql::Value::int64(123456789)});
}
void forward(benchmark::State& state) { run_plan(state, "SELECT * FROM regions WHERE code = 'eu'"); }
void insert_one(benchmark::State& state) { run_plan(state, rows(1)); }
void insert_hundred(benchmark::State& state) { run_plan(state, rows(100)); }
void scatter_in_list(benchmark::State& state) {
  run_plan(state, "SELECT * FROM orders WHERE id IN (1, 2, 3, 40, 50, 60, 70, 80, 90, 100)");
}
void scatter_all(benchmark::State& state) {
  run_plan(state, "SELECT id, qty FROM orders WHERE qty > 5 ORDER BY qty LIMIT 10");
}

void bind_point_select(benchmark::State& state) {
  const Bound shape("SELECT * FROM orders WHERE id = 123456789");
  for (auto _ : state) {
    auto bound = plan::bind(shape.statement, shape.tokens, world().catalog, world().rules, shape.facts);
    benchmark::DoNotOptimize(bound);
  }
}

BENCHMARK(point_select);
BENCHMARK(point_select_binary);
BENCHMARK(forward);
BENCHMARK(insert_one);
BENCHMARK(insert_hundred);
BENCHMARK(scatter_in_list);
BENCHMARK(scatter_all);
BENCHMARK(bind_point_select);

}  // namespace
}  // namespace evenkeel::plan
