// What one query costs in the codec: reading the command, following the answer, taking rows apart.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <new>
#include <string>

#include "proxy/protocol/messages.h"
#include "proxy/protocol/response_tracker.h"
#include "proxy/protocol/rows.h"

namespace {

size_t allocations = 0;

}  // namespace

// Counted, because the point of these paths is that they do not allocate. Not inlined: the compiler would see
// free() meet a pointer of new.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* out = std::malloc(size)) return out;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, size_t) noexcept { std::free(at); }

namespace {

using namespace evenkeel;
using namespace evenkeel::protocol;

constexpr Capabilities capabilities = capability::protocol_41 | capability::deprecate_eof;

std::string small_answer(int rows) {
  std::string out;
  PacketWriter packets(out, 1);
  packets.write(ColumnCount{3}, capabilities);
  for (const char* name : {"id", "user_id", "amount"}) {
    ColumnDefinition column;
    column.schema = "shop";
    column.table = column.original_table = "orders";
    column.name = column.original_name = name;
    packets.write(column, capabilities);
  }
  for (int i = 0; i < rows; ++i) {
    WireWriter& row = packets.begin();
    row.lenenc_string("123456789012345678");
    row.lenenc_string("42");
    row.lenenc_string("19.90");
    packets.end();
  }
  Ok end;
  end.status = 2;
  end.ends_rows = true;
  packets.write(end, capabilities);
  return out;
}

void report_allocations(benchmark::State& state, size_t before) {
  state.counters["allocations"] =
      benchmark::Counter(static_cast<double>(allocations - before) / static_cast<double>(state.iterations()));
}

void BM_ReadQuery(benchmark::State& state) {
  std::string input;
  PacketWriter(input, 0).write(
      Query{"SELECT id, user_id, amount FROM orders WHERE id = 123456789012345678", {}}, capabilities);
  FrameReader reader;
  const size_t before = allocations;
  for (auto _ : state) {
    reader.expect_sequence(0);
    const auto read = reader.read_packet(input);
    const auto query = Query::decode(read->payload, capabilities);
    benchmark::DoNotOptimize(query->sql.data());
  }
  report_allocations(state, before);
}
BENCHMARK(BM_ReadQuery);

void BM_RelayAnswer(benchmark::State& state) {
  const std::string answer = small_answer(static_cast<int>(state.range(0)));
  ResponseRelay relay;
  const size_t before = allocations;
  for (auto _ : state) {
    relay.reset(ResponseShape::result, capabilities, 1);
    const auto run = relay.scan(answer);
    if (!run || !run->done) state.SkipWithError("the answer did not end");
    benchmark::DoNotOptimize(run->bytes);
  }
  report_allocations(state, before);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(answer.size()));
}
BENCHMARK(BM_RelayAnswer)->Arg(1)->Arg(100)->Arg(10'000);

void BM_WalkTextRow(benchmark::State& state) {
  std::string row;
  WireWriter out(row);
  for (const char* cell : {"123456789012345678", "42", "19.90"}) out.lenenc_string(cell);
  const size_t before = allocations;
  for (auto _ : state) {
    TextRow cells(row);
    for (Cell cell; cells.next(cell);) benchmark::DoNotOptimize(cell->data());
  }
  report_allocations(state, before);
}
BENCHMARK(BM_WalkTextRow);

void BM_DecodeExecute(benchmark::State& state) {
  std::string payload;
  WireWriter out(payload);
  const mysql::Value values[] = {mysql::Value::int64(7), mysql::Value::string("NEW"),
                                 mysql::Value::decimal("19.90")};
  encode_execute(out, 1, 0, values, capabilities);
  const size_t before = allocations;
  for (auto _ : state) {
    const auto execute = StmtExecute::decode(payload, capabilities, {3, {}, {}});
    benchmark::DoNotOptimize(execute->values.data());
  }
  report_allocations(state, before);
}
BENCHMARK(BM_DecodeExecute);

void BM_WriteOk(benchmark::State& state) {
  std::string out;
  out.reserve(64);
  Ok ok;
  ok.affected_rows = 1;
  ok.last_insert_id = 123456789012345678;
  ok.status = 2;
  const size_t before = allocations;
  for (auto _ : state) {
    out.clear();
    PacketWriter(out, 1).write(ok, capabilities);
    benchmark::DoNotOptimize(out.data());
  }
  report_allocations(state, before);
}
BENCHMARK(BM_WriteOk);

}  // namespace
