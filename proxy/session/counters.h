// Everything that sessions count. One struct per event loop; read by others without locks.
#pragma once

#include <atomic>
#include <cstdint>

namespace evenkeel::session {

#define EVENKEEL_SESSION_COUNTERS(X) \
  X(statements)                      \
  X(statement_errors)                \
  X(statements_local)                \
  X(statements_forwarded)            \
  X(statements_one_slot)             \
  X(statements_scattered)            \
  X(statements_split_writes)         \
  X(statements_refused)              \
  X(rows_sent)                       \
  X(keys_generated)                  \
  X(key_waits)                       \
  X(transactions_committed)          \
  X(transactions_rolled_back)        \
  X(commits_partial)                 \
  X(cache_hits)                      \
  X(cache_misses)                    \
  X(prepares)                        \
  X(executes)                        \
  X(kills)

struct Counters {
#define EVENKEEL_DECLARE(name) std::atomic<uint64_t> name{0};
  EVENKEEL_SESSION_COUNTERS(EVENKEEL_DECLARE)
#undef EVENKEEL_DECLARE
};

// The owner's increment: one writer, so no locked instruction.
inline void count(std::atomic<uint64_t>& counter, uint64_t by = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace evenkeel::session
