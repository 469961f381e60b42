// What a session uses to fill the generated key of an INSERT.
//
//   std::vector<uint64_t> keys(rows);
//   auto drawn = generator.draw({.rows = rows}, keys);
//   if (!drawn) answer the client with drawn.error();
//   else if (!drawn->complete()) start a timer of drawn->wait.micros, then draw the rest into what is left of
//   `keys`; else plan the statement with `keys`.
//
// One generator per logical table, shared by all threads: two tables filled by one request then do not move
// in step. Which kind it is, the configuration says; a session does not know.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "idgen/counters.h"
#include "idgen/steering_map.h"

namespace evenkeel::idgen {

// What one INSERT needs. The spans must live until draw() returns.
struct KeyDemand {
  uint32_t rows = 1;
  // Empty: any slot that the steering map permits. Otherwise one "gene" per row: that row's id modulo
  // gene_modulus() (the number of slots, unless configured) is exactly this, and the map is not asked.
  std::span<const uint32_t> row_slots = {};
  // Optional, for `batch: consecutive`: how short of rows each slot is; the run starts where the sum is
  // largest. One entry per slot.
  std::span<const uint64_t> slot_deficits = {};
  // Optional tie-break for runs that promise the same sum: the instance of each slot; fewer instances win.
  std::span<const uint16_t> slot_instances = {};
};

// Nothing to do but wait: the next id may not be used yet, or has not been fetched yet.
struct KeyWait {
  // The first time unit that an id may have; 0 where ids have no time.
  uint64_t not_before_tick = 0;
  // From now; at least 1 when there is something to wait for.
  int64_t micros = 0;
};

struct DrawnKeys {
  // The first `drawn` keys of the output are filled, in row order. They stay valid while the rest waits.
  uint32_t drawn = 0;
  uint32_t wanted = 0;
  KeyWait wait;

  bool complete() const { return drawn == wanted; }
};

// Thread-safe. draw() never blocks, performs no IO and allocates nothing after a thread's first call.
class KeyGenerator {
 public:
  KeyGenerator() = default;
  virtual ~KeyGenerator() = default;
  KeyGenerator(const KeyGenerator&) = delete;
  KeyGenerator& operator=(const KeyGenerator&) = delete;

  // Fills keys[0..drawn) for the rows of `demand`; keys.size() >= demand.rows. Errors say what to do: clock,
  // registry (no right to make ids at present), config (a slot that cannot be reached), internal (a demand
  // that contradicts itself). A wait is bounded: a draw that keeps waiting ends in an error.
  virtual Result<DrawnKeys> draw(const KeyDemand& demand, std::span<uint64_t> keys) = 0;

  // Whether admit_explicit() has anything to do: ids are counted up, so that a client's own may lie ahead.
  virtual bool counts_up() const { return false; }
  // A statement is about to store these ids, which a client chose: none of them is drawn later. Done when the
  // wait is 0; otherwise call again with the same ids after it. Kinds whose ids nobody can foresee have
  // nothing to do.
  virtual Result<KeyWait> admit_explicit(std::span<const uint64_t> ids);

  // Takes effect for every later draw of any thread; ids stay unique whatever the maps. Fails with kind
  // config, and keeps the old map, when the map does not suit the generator.
  virtual Status set_map(SteeringMap map) = 0;
  virtual std::shared_ptr<const SteeringMap> map() const = 0;

  // Ends the generator for good: later draws are refused.
  virtual void close() = 0;

  // Whether a draw of one id would be served, at once or after a wait whose end is known: else the error says
  // why not, as a draw that gives up does. Any thread; draws nothing and asks nobody for anything, so that it
  // may be called as often as one likes.
  virtual Status ready() const = 0;

  // Sums over all threads; consistent enough for metrics.
  virtual Counters counters() const = 0;
  // The logical table, for messages.
  virtual const std::string& table() const = 0;
  virtual uint32_t slots() const = 0;
  // What KeyDemand::row_slots are residues of.
  virtual uint32_t gene_modulus() const { return slots(); }
};

// Kind internal when `demand` contradicts itself for a table of `slots` slots and genes below `gene_modulus`,
// or `keys` has too little room.
Status check_demand(const KeyDemand& demand, std::span<const uint64_t> keys, uint32_t slots,
                    uint32_t gene_modulus);

inline Result<KeyWait> KeyGenerator::admit_explicit(std::span<const uint64_t>) { return KeyWait{}; }

}  // namespace evenkeel::idgen
