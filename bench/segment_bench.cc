// What one id out of a segment costs, as ratios to a bare atomic increment on the same machine in the same
// run:
//   segment_bench --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
//   --benchmark_enable_random_interleaving=true
// Goals, one thread, medians: a take from the cursor <= 1.1, a per-thread block <= 0.5.
#include <atomic>
#include <benchmark/benchmark.h>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "idgen/segment/segment_cursor.h"
#include "idgen/segment/segment_generator.h"

namespace evenkeel::idgen {
namespace {

constexpr uint32_t whole_segment = 1'000'000'000;

void bare_fetch_add(benchmark::State& state) {
  static std::atomic<uint64_t> next{0};
  for (auto _ : state) benchmark::DoNotOptimize(next.fetch_add(1, std::memory_order_relaxed));
}
BENCHMARK(bare_fetch_add)->Threads(1)->Threads(2);

// The cursor alone; a used-up segment is replaced at once, as if the next one had been fetched.
void segment_take(benchmark::State& state) {
  static SegmentCursor cursor;
  if (state.thread_index() == 0) cursor.install(1, whole_segment, 0, whole_segment);
  TakenOffsets taken;
  for (auto _ : state) {
    if (!cursor.take(1, taken)) state.SkipWithError("the segment is used up");
    benchmark::DoNotOptimize(taken.segment.first + taken.from);
  }
}
BENCHMARK(segment_take)->Threads(1)->Threads(2);

// As a thread draws from what it has put by: valid while the stamp stands.
void segment_block(benchmark::State& state) {
  static SegmentCursor cursor;
  if (state.thread_index() == 0) cursor.install(1, whole_segment, 0, whole_segment);
  TakenOffsets block;
  uint64_t stamp = 0;
  uint32_t left = 0;
  for (auto _ : state) {
    if (left == 0 || stamp != cursor.stamp()) {
      stamp = cursor.stamp();
      if (!cursor.take(256, block)) state.SkipWithError("the segment is used up");
      left = block.count;
    }
    benchmark::DoNotOptimize(block.segment.first + block.from + (block.count - left));
    --left;
  }
}
BENCHMARK(segment_block)->Threads(1)->Threads(2);

// All that a session calls, with a loader that is always there. state.range(0): the per-thread block.
void generator_draw(benchmark::State& state) {
  static const SystemClock clock;
  static std::unique_ptr<SegmentGenerator> generator;
  static std::atomic<uint64_t> next{1};
  if (state.thread_index() == 0) {
    GeneratorSettings settings;
    settings.kind = GeneratorKind::segment;
    settings.segment.step = settings.segment.step_min = settings.segment.step_max =
        SegmentSettings::step_most;
    settings.segment.thread_block = static_cast<uint32_t>(state.range(0));
    settings.segment.allocators.emplace_back().host = "bench";
    generator = SegmentGenerator::create({settings, "bench", 128, &clock, 1, [] {}}).value();
  }
  uint64_t key = 0;
  for (auto _ : state) {
    auto drawn = generator->draw({}, std::span(&key, 1));
    if (drawn && !drawn->complete()) {
      const uint64_t first = next.fetch_add(SegmentSettings::step_most);
      generator->deliver({first, first + SegmentSettings::step_most - 1, 0});
    }
    benchmark::DoNotOptimize(key);
  }
}
BENCHMARK(generator_draw)->Arg(0)->Arg(256)->Threads(1)->Threads(2);

}  // namespace
}  // namespace evenkeel::idgen
