// Merging: rows a second through the k-way merge, the group merge and plain concatenation.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <string>
#include <vector>

#include "base/random.h"
#include "router/merge/merger.h"

namespace {

using namespace evenkeel;
using namespace evenkeel::merge;

using mysql::ColumnType;

constexpr int rows_per_source = 10'000;

const std::vector<ColumnFacts>& columns() {
  static const std::vector<ColumnFacts> all = {{ColumnType::longlong, false, 0, 63},
                                               {ColumnType::newdecimal, false, 2, 63},
                                               {ColumnType::var_string, false, 0, 45}};
  return all;
}

std::string row_of(RowFormat format, int64_t id, const std::string& amount) {
  const std::string text(40, 'x');
  RowBuilder row(format);
  row.begin(3);
  if (format == RowFormat::text) {
    row.add_counted(std::to_string(id));
  } else {
    row.add_fixed(static_cast<uint64_t>(id), 8);
  }
  row.add_counted(amount);
  row.add_counted(text);
  return std::string(row.row());
}

// Sorted by the first column; `distinct` values of it in all.
std::vector<std::vector<std::string>> sources_of(RowFormat format, uint32_t count, uint64_t distinct) {
  SeededRandom random(1);
  std::vector<std::vector<std::string>> sources(count);
  for (auto& source : sources) {
    std::vector<int64_t> ids(rows_per_source);
    for (int64_t& id : ids) id = static_cast<int64_t>(random.below(distinct));
    std::sort(ids.begin(), ids.end());
    for (const int64_t id : ids)
      source.push_back(row_of(format, id, std::to_string(random.below(100'000)) + ".25"));
  }
  return sources;
}

void run(benchmark::State& state, const Spec& spec, uint64_t distinct) {
  const auto format = state.range(0) == 0 ? RowFormat::text : RowFormat::binary;
  const auto count = static_cast<uint32_t>(state.range(1));
  const auto sources = sources_of(format, count, distinct);
  std::vector<ColumnFacts> outputs = columns();
  if (spec.how == How::grouped) outputs = {columns()[0], columns()[1]};
  for (auto _ : state) {
    auto merger = make_merger(spec, format, columns(), outputs, count);
    std::vector<size_t> fed(count, 0);
    size_t bytes = 0;
    for (auto step = (*merger)->next(); step != Merger::Step::end; step = (*merger)->next()) {
      if (step == Merger::Step::row) {
        bytes += (*merger)->row().size();
        continue;
      }
      if (step == Merger::Step::error) return state.SkipWithError((*merger)->error().message.c_str());
      const uint32_t source = (*merger)->needed();
      // As rows arrive: a read brings a few dozen of them.
      const size_t until = std::min(fed[source] + 32, sources[source].size());
      while (fed[source] < until) (*merger)->feed(source, sources[source][fed[source]++]);
      if (fed[source] == sources[source].size()) (*merger)->finish(source);
    }
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations() * count * rows_per_source);
}

void args(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"binary", "sources"})->Args({0, 4})->Args({1, 4})->Args({0, 64})->Args({1, 64});
}

void BM_Concat(benchmark::State& state) {
  Spec spec;
  spec.how = How::concat;
  run(state, spec, 1'000'000);
}
BENCHMARK(BM_Concat)->Apply(args);

void BM_OrderedByInteger(benchmark::State& state) {
  Spec spec;
  spec.how = How::ordered;
  spec.order = {{0, false, Comparison::signed_integer}};
  run(state, spec, 1'000'000);
}
BENCHMARK(BM_OrderedByInteger)->Apply(args);

void BM_GroupedSum(benchmark::State& state) {
  Spec spec;
  spec.how = How::grouped;
  spec.group = {{0, false, Comparison::signed_integer}};
  spec.outputs = {{OutputColumn::What::first, 0, 0, {}}, {OutputColumn::What::sum, 1, 0, {}}};
  run(state, spec, 1'000);
}
BENCHMARK(BM_GroupedSum)->Apply(args);

}  // namespace
