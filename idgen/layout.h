// Between an id and its fields. Pure arithmetic on a checked Layout (settings.h: check_layout).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "idgen/settings.h"

namespace evenkeel::idgen {

struct IdParts {
  uint64_t tick = 0;
  uint32_t worker = 0;
  uint64_t sequence = 0;

  bool operator==(const IdParts&) const = default;
};

inline uint64_t sequence_count(const Layout& layout) { return uint64_t{1} << layout.sequence_bits; }
inline uint64_t worker_count(const Layout& layout) { return uint64_t{1} << layout.worker_bits; }
// The last tick that the time field holds.
inline uint64_t last_tick(const Layout& layout) { return (uint64_t{1} << layout.time_bits) - 1; }

// The fields must fit the layout.
uint64_t compose(const Layout& layout, const IdParts& parts);
IdParts decompose(const Layout& layout, uint64_t id);

// The tick that contains the given time; negative before the epoch.
int64_t tick_at(const Layout& layout, int64_t unix_ms);
// When a tick begins, in Unix milliseconds.
int64_t tick_start_unix_ms(const Layout& layout, uint64_t tick);
// The first millisecond whose time no longer fits the time field.
int64_t exhaustion_unix_ms(const Layout& layout);
// For a metric: what is left until then; 0 afterwards.
int64_t seconds_to_exhaustion(const Layout& layout, int64_t now_unix_ms);
// "41|10|12 ms since 2024-01-01T00:00:00.000Z, ids until 2093-09-06T15:47:35.552Z".
std::string describe(const Layout& layout);

// Equal for two layouts exactly when they cut and time ids alike; stored beside every worker id.
// For instance "ms:41:10:12:1704067200000".
std::string fingerprint(const Layout& layout);

// An id as people read it: time, worker, sequence.
struct DecodedId {
  IdParts parts;
  int64_t unix_ms = 0;
  // "2026-03-01T12:00:00.123Z", and "worker 5 (dc 0, business 5)" where the worker field has named parts.
  std::string time;
  std::string worker;
  // The named pieces of the worker field, high to low, each with its value.
  std::vector<WorkerPart> worker_parts;
};

// Fails with kind config when the id does not fit the layout (too long, or negative as a signed BIGINT).
Result<DecodedId> decode(const Layout& layout, uint64_t id);

// UTC with milliseconds: "2026-03-01T12:00:00.123Z".
std::string format_utc(int64_t unix_ms);

}  // namespace evenkeel::idgen
