// Lexer, parser, splice and fingerprint on three statements: a 37-byte point select, a 213-byte join and a
// multi-row INSERT of 1,000 rows.
#include <benchmark/benchmark.h>
#include <string>

#include "router/sql/fingerprint.h"
#include "router/sql/parser.h"
#include "router/sql/splice.h"

namespace {

using namespace evenkeel::sql;

const std::string& statement(int64_t which) {
  static const std::string point = "SELECT c FROM sbtest1 WHERE id=5023847";
  static const std::string join =
      "SELECT o.id, o.user_id, o.status, l.product_id, l.quantity, l.price FROM orders o INNER JOIN "
      "order_lines l ON "
      "o.id = l.order_id WHERE o.id = 749183274650112 AND o.status IN ('NEW', 'PAID') ORDER BY l.product_id "
      "LIMIT 50";
  static const std::string insert = [] {
    std::string text = "INSERT INTO orders (user_id, status, amount) VALUES ";
    for (int row = 0; row < 1000; ++row) {
      text += (row == 0 ? "(" : ", (") + std::to_string(1000 + row) + ", 'NEW', 19.90)";
    }
    return text;
  }();
  return which == 0 ? point : which == 1 ? join : insert;
}

void label(benchmark::State& state, const Tokens& tokens) {
  static const char* const names[] = {"point select", "join", "1,000-row insert"};
  state.SetLabel(std::string(names[state.range(0)]) + ", " + std::to_string(tokens.text.size()) + " bytes, " +
                 std::to_string(tokens.size()) + " tokens");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * tokens.text.size()));
}

Span all(const Tokens& tokens) { return {0, static_cast<uint32_t>(tokens.size() - 1)}; }

void sql_lex(benchmark::State& state) {
  const std::string& text = statement(state.range(0));
  Tokens tokens;
  for (auto _ : state) {
    if (!lex(text, {}, tokens)) state.SkipWithError("not lexed");
    benchmark::DoNotOptimize(tokens.items.data());
  }
  label(state, tokens);
}

void sql_parse(benchmark::State& state) {
  Tokens tokens;
  if (!lex(statement(state.range(0)), {}, tokens)) state.SkipWithError("not lexed");
  for (auto _ : state) {
    auto parsed = parse(tokens, {});
    if (!parsed || (*parsed)->has_opaque) state.SkipWithError("not parsed");
    benchmark::DoNotOptimize(parsed);
  }
  label(state, tokens);
}

void sql_splice(benchmark::State& state) {
  Tokens tokens;
  if (!lex(statement(state.range(0)), {}, tokens)) state.SkipWithError("not lexed");
  const std::vector<Edit> edits = {{{3, 4}, "`shard_03`.`orders_017`"}};
  std::string out;
  for (auto _ : state) {
    out.clear();
    splice(tokens, all(tokens), edits, out);
    benchmark::DoNotOptimize(out.data());
  }
  label(state, tokens);
}

void sql_shape(benchmark::State& state) {
  Tokens tokens;
  if (!lex(statement(state.range(0)), {}, tokens)) state.SkipWithError("not lexed");
  std::string out;
  for (auto _ : state) {
    out.clear();
    append_shape(tokens, all(tokens), out);
    benchmark::DoNotOptimize(shape_hash(out));
  }
  label(state, tokens);
}

BENCHMARK(sql_lex)->DenseRange(0, 2);
BENCHMARK(sql_parse)->DenseRange(0, 2);
BENCHMARK(sql_splice)->DenseRange(0, 2);
BENCHMARK(sql_shape)->DenseRange(0, 2);

}  // namespace
