// What one id costs, as ratios to a bare atomic increment on the same machine in the same run:
//   idgen_bench --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
//   --benchmark_enable_random_interleaving=true
// Goals, one thread, medians: published tick <= 2, with a map of 128 slots <= 3, window check <= 1.2.
#include <atomic>
#include <benchmark/benchmark.h>
#include <memory>
#include <numeric>
#include <vector>

#include "base/clock.h"
#include "idgen/snowflake.h"
#include "idgen/snowflake_generator.h"
#include "idgen/ticker.h"

namespace evenkeel::idgen {
namespace {

// A sequence so long that the units never fill and only the processor's work is measured.
Layout long_sequence() {
  Layout layout;
  layout.worker_bits = 2;
  layout.sequence_bits = 20;
  return layout;
}

const SystemClock& system_clock() {
  static const SystemClock clock;
  return clock;
}

std::shared_ptr<const TickSource> ticker() {
  static const auto shared = std::make_shared<const Ticker>(system_clock());
  return shared;
}

std::vector<uint32_t> upper_three_quarters(uint32_t slots) {
  std::vector<uint32_t> residues(slots - slots / 4);
  std::iota(residues.begin(), residues.end(), slots / 4);
  return residues;
}

SteeringMap map_of(int64_t slots, bool steered) {
  const auto count = static_cast<uint32_t>(slots);
  return steered ? SteeringMap::permitting(count, upper_three_quarters(count)).value()
                 : SteeringMap::identity(count).value();
}

void bare_fetch_add(benchmark::State& state) {
  static std::atomic<uint64_t> next{0};
  for (auto _ : state) benchmark::DoNotOptimize(next.fetch_add(1, std::memory_order_relaxed));
}
BENCHMARK(bare_fetch_add)->Threads(1)->Threads(2);

void window_check(benchmark::State& state) {
  static std::atomic<uint64_t> next{0};
  static const TickWindow window(1, 1, UINT64_MAX >> 1);
  for (auto _ : state) {
    const uint64_t id = next.fetch_add(1, std::memory_order_relaxed);
    if (id > window.last()) state.SkipWithError("past the window");
    benchmark::DoNotOptimize(id);
  }
}
BENCHMARK(window_check)->Threads(1)->Threads(2);

void published_time(benchmark::State& state) {
  const auto ticks = ticker();
  for (auto _ : state) benchmark::DoNotOptimize(ticks->unix_millis());
}
BENCHMARK(published_time);

// The core alone: state.range(0) slots, steered or not, from the published or the direct clock.
void draw_ids(benchmark::State& state, const TickSource& ticks, bool steered) {
  struct Shared {
    TickWindow window{1, 1, UINT64_MAX >> 1};
    std::unique_ptr<Snowflake> core;
    std::unique_ptr<SteeredStart> start;
  };
  static Shared shared;
  if (state.thread_index() == 0) {
    shared.core = std::make_unique<Snowflake>(long_sequence(), ClockSettings{}, shared.window, ticks);
    shared.start = std::make_unique<SteeredStart>(map_of(state.range(0), steered), 1);
  }
  LiveCounters counters;
  uint64_t id = 0;
  for (auto _ : state) {
    const Draw draw = shared.core->draw(*shared.start, std::span(&id, 1), counters);
    benchmark::DoNotOptimize(draw);
    benchmark::DoNotOptimize(id);
  }
}

void published_tick(benchmark::State& state) { draw_ids(state, *ticker(), false); }
BENCHMARK(published_tick)->Arg(128)->Threads(1)->Threads(2);

void published_tick_and_map(benchmark::State& state) { draw_ids(state, *ticker(), true); }
BENCHMARK(published_tick_and_map)->Arg(128)->Arg(96)->Threads(1)->Threads(2);

void clock_call_and_map(benchmark::State& state) {
  static const DirectTicks direct(system_clock());
  draw_ids(state, direct, true);
}
BENCHMARK(clock_call_and_map)->Arg(128)->Threads(1)->Threads(2);

std::unique_ptr<SnowflakeGenerator> generator_of(BatchMode batch) {
  GeneratorSettings settings;
  settings.layout = long_sequence();
  settings.batch = batch;
  return SnowflakeGenerator::create(
             {settings, "bench", 128, std::make_shared<TickWindow>(1, 1, UINT64_MAX >> 1), ticker(), 1})
      .value();
}

// All that a session calls: demand checked, seat found, errors possible. state.range(0) rows a demand.
void generator_draw(benchmark::State& state, BatchMode batch, bool steered) {
  static std::unique_ptr<SnowflakeGenerator> generator;
  if (state.thread_index() == 0) {
    generator = generator_of(batch);
    if (!generator->set_map(map_of(128, steered))) state.SkipWithError("no map");
  }
  const auto rows = static_cast<uint32_t>(state.range(0));
  std::vector<uint64_t> keys(rows);
  for (auto _ : state) {
    auto drawn = generator->draw({.rows = rows}, keys);
    benchmark::DoNotOptimize(drawn);
  }
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK_CAPTURE(generator_draw, one_row_steered, BatchMode::steered, true)->Arg(1)->Threads(1)->Threads(2);
BENCHMARK_CAPTURE(generator_draw, rows_steered, BatchMode::steered, true)->Arg(100);
BENCHMARK_CAPTURE(generator_draw, rows_consecutive, BatchMode::consecutive, false)->Arg(100);

void compile_map(benchmark::State& state) {
  const auto slots = static_cast<uint32_t>(state.range(0));
  const auto residues = upper_three_quarters(slots);
  for (auto _ : state) benchmark::DoNotOptimize(SteeringMap::permitting(slots, residues));
}
BENCHMARK(compile_map)->Arg(128)->Arg(8192);

void choose_run(benchmark::State& state) {
  const auto slots = static_cast<uint32_t>(state.range(0));
  const SteeringMap map = map_of(slots, true);
  const std::vector<uint64_t> deficits(slots, 3);
  for (auto _ : state)
    benchmark::DoNotOptimize(choose_run_start(map, 4'096, 0, 60'000, 10, {deficits, {}}, 0, 0));
}
BENCHMARK(choose_run)->Arg(128)->Arg(8192);

}  // namespace
}  // namespace evenkeel::idgen
