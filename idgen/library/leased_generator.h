// What a program embeds to make ids by itself: one key generator with its worker lease, and the thread that
// renews it.
//
//   auto ids = evenkeel::idgen::LeasedGenerator::open({.directory = "/var/lib/app/ids"});
//   if (!ids) { std::cerr << ids.error().message << '\n'; return 1; }
//   auto id = (*ids)->next();
//
// docs/library.md explains it with whole programs; evenkeel_idgen.h is the same for C.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "idgen/generator.h"
#include "idgen/layout.h"
#include "idgen/registry/registry.h"
#include "idgen/settings.h"

namespace evenkeel::idgen {

struct LeasedGeneratorOptions {
  // Name of the key space, layout, worker id (fixed, or a free one is leased), clock policy, reserved time.
  // Only kind snowflake.
  GeneratorSettings settings = {};
  // Ids are spread evenly over `id mod slots`: the number of tables that they may ever be routed to.
  uint32_t slots = 128;
  // Where worker ids and the time reserved for them are kept: a directory of this machine that is left as it
  // is between runs. Not for network file systems.
  std::string directory = {};
  // Instead of a directory: a store that several machines share (idgen/registry/*_registry.h). Reserve longer
  // then: settings.worker.window_ms = default_window_ms(provider), renew_ms = default_renew_ms(window_ms).
  std::shared_ptr<Registry> registry = {};
  // Instead of the system's.
  std::shared_ptr<const Clock> clock = {};
};

// Any thread may call all but close() and the destructor, which must come after the last call of any other.
// After fork() the child's calls are refused, since both processes would make the same ids: open again there.
class LeasedGenerator {
 public:
  // Takes the worker id. Errors: config (the settings are impossible; each fault in a sentence), registry
  // (the directory or store cannot be used, the worker id is held by another process, which is named, or none
  // is free, or another layout is in use under the same name).
  static Result<std::unique_ptr<LeasedGenerator>> open(LeasedGeneratorOptions options);
  // Closes, and waits as close() does.
  ~LeasedGenerator();
  LeasedGenerator(const LeasedGenerator&) = delete;
  LeasedGenerator& operator=(const LeasedGenerator&) = delete;

  // One id. Sleeps where the generator says to wait: a unit's ids are used up, or the clock stepped back a
  // little; at most settings.clock.max_wait_ms. Errors: clock (it stepped back too far, or ids have ended for
  // this layout), registry (the reserved time ended and could not be renewed; the message says why), internal
  // (closed, or a forked child).
  Result<uint64_t> next();
  // Fills `ids`, ascending, consecutive as far as they lie within one unit of time. All or an error; ids that
  // were drawn before an error are left out, never given to anybody else.
  Status next_batch(std::span<uint64_t> ids);
  // The generator itself, whose draws never sleep.
  KeyGenerator& generator();

  // The fields of an id of this layout, of any worker.
  Result<DecodedId> decode(uint64_t id) const;
  const GeneratorSettings& settings() const;
  // Warnings about the settings, one sentence each.
  const std::vector<std::string>& warnings() const;
  // How the last renewal went: while it is an error, ids come until the time already reserved ends.
  Status renewal() const;

  // Gives the worker id back, so that the next start need not wait. An error, kind registry, when the store
  // hung for longer than five seconds or refused: the id then stays reserved until its time ends. Idempotent.
  Status close();

 private:
  class Core;
  explicit LeasedGenerator(std::shared_ptr<Core> core);
  Status check_process() const;

  std::shared_ptr<Core> core_;
};

}  // namespace evenkeel::idgen
