// What a session uses to fill the generated key of an INSERT.
//
//   std::vector<uint64_t> keys(rows);
//   auto drawn = generator.draw({.rows = rows}, keys);
//   if (!drawn) answer the client with drawn.error();
//   else if (!drawn->complete()) start a timer of drawn->wait.micros, then draw the rest into what is left of
//   `keys`; else plan the statement with `keys`.
//
// One generator per logical table, shared by all threads: two tables filled by one request then do not move
// in step.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "idgen/settings.h"
#include "idgen/snowflake.h"
#include "idgen/steering_map.h"
#include "idgen/tick_source.h"
#include "idgen/tick_window.h"

namespace evenkeel::idgen {

// What one INSERT needs. The spans must live until draw() returns.
struct KeyDemand {
  uint32_t rows = 1;
  // Empty: any slot that the steering map permits. Otherwise one slot per row ("gene"): that row's id modulo
  // the number of slots is exactly this, and the map is not asked.
  std::span<const uint32_t> row_slots = {};
  // Optional, for `batch: consecutive`: how short of rows each slot is; the run starts where the sum is
  // largest. One entry per slot.
  std::span<const uint64_t> slot_deficits = {};
  // Optional tie-break for runs that promise the same sum: the instance of each slot; fewer instances win.
  std::span<const uint16_t> slot_instances = {};
};

// Nothing to do but wait: the next id has a time that may not be used yet.
struct KeyWait {
  uint64_t not_before_tick = 0;
  // From now; at least 1 when there is something to wait for.
  int64_t micros = 0;
};

struct DrawnKeys {
  // The first `drawn` keys of the output are filled, ascending, in row order. They stay valid while the rest
  // waits.
  uint32_t drawn = 0;
  uint32_t wanted = 0;
  KeyWait wait;

  bool complete() const { return drawn == wanted; }
};

// Thread-safe. draw() never blocks, performs no IO and allocates nothing after a thread's first call.
class KeyGenerator {
 public:
  struct Parts {
    GeneratorSettings settings;  // checked by check_settings
    std::string table;           // the logical table, for messages
    uint32_t slots = 1;
    std::shared_ptr<const TickWindow> window;  // of the worker lease; see registry/worker_lease.h
    std::shared_ptr<const TickSource> ticks;
    uint64_t seed = 0;  // orders the starts of ticks
  };

  // Starts with the identity map. Fails with kind config when the settings cannot work for `slots`.
  static Result<std::unique_ptr<KeyGenerator>> create(Parts parts);
  ~KeyGenerator();
  KeyGenerator(const KeyGenerator&) = delete;
  KeyGenerator& operator=(const KeyGenerator&) = delete;

  // Fills keys[0..drawn) for the rows of `demand`; keys.size() >= demand.rows.
  // Errors: clock (stepped back beyond the tolerance, before the epoch, or past the end of the time field:
  // the message names the drift; the state is unchanged), registry (the reserved window has ended or the wait
  // for its start is too long), config (a slot that this worker can never reach), internal (a demand that
  // contradicts itself).
  Result<DrawnKeys> draw(const KeyDemand& demand, std::span<uint64_t> keys);

  // Takes effect for every later draw of any thread; ids stay unique whatever the maps. Fails with kind
  // config, and keeps the old map, when the map has another number of slots, a period longer than the
  // sequence, or permits nothing that this worker can reach.
  Status set_map(SteeringMap map);
  std::shared_ptr<const SteeringMap> map() const;

  // Ends the generator for good and returns the last tick that ids were made of (for the lease's release).
  uint64_t close();

  // Sums over all threads; consistent enough for metrics.
  Counters counters() const;

  const GeneratorSettings& settings() const { return parts_.settings; }
  const std::string& table() const { return parts_.table; }
  uint32_t slots() const { return parts_.slots; }
  uint32_t worker() const { return parts_.window->worker(); }

 private:
  // What one thread keeps of this generator: its copy of the current map, and its counters.
  struct Seat;

  explicit KeyGenerator(Parts parts);
  Seat& seat_of_thread();
  Seat& find_or_make_seat();
  void refresh(Seat& seat);
  Status check_demand(const KeyDemand& demand, std::span<uint64_t> keys) const;
  Status check_map(const SteeringMap& map) const;
  Result<KeyWait> wait_or_refuse(const Draw& draw) const;
  Result<KeyWait> wait_for_tick(uint64_t tick, std::string_view why) const;
  Result<KeyWait> wait_for_renewal(uint64_t tick) const;
  Error refusal(ErrorKind kind, std::string_view why) const;

  const Parts parts_;
  const uint64_t identity_;  // never used twice in a process
  // Which slots this worker reaches; empty when it reaches all.
  const std::vector<bool> reachable_;
  Snowflake snowflake_;

  // Rises with every map; a seat with an older version takes the new map before it draws.
  std::atomic<uint64_t> map_version_{1};
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const SteeredStart> current_;
  std::vector<std::unique_ptr<Seat>> seats_;
};

}  // namespace evenkeel::idgen
