// The key generators of a running proxy, with what they rest on: the registry, worker leases, other sources.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "idgen/generator.h"
#include "idgen/key_source.h"
#include "idgen/registry/clock_offset.h"
#include "idgen/registry/registry.h"
#include "idgen/registry/tender.h"
#include "idgen/ticker.h"

namespace evenkeel {

// "evenkeel pid 4711 on db7": how other processes name this one.
std::string process_name();

// What the control threads have met so far; for metrics. Any thread.
struct RegistryHealth {
  uint64_t renewal_failures = 0;                   // attempts of sources to renew what they hold
  uint32_t sources_failing = 0;                    // now
  uint64_t clock_failures = 0;                     // attempts to ask the registry for its time
  bool reachable = true;                           // by the last such attempt
  std::optional<idgen::ClockOffset> clock_offset;  // the registry's clock against this machine's
};

// Owns a thread for each source and one that watches the registry's clock, so that a store which hangs holds
// up nothing else. Made, stopped and destroyed by one thread; the generators are for any.
class KeyGenerators {
 public:
  using BySpace = std::map<std::string, idgen::KeyGenerator*>;
  using ByTable = std::unordered_map<const rule::LogicalTable*, idgen::KeyGenerator*>;

  // One generator for each logical table with a generated column, one source for each configured generator in
  // use. `clock` must live as long as the process: a thread that hangs in a store is left behind with it.
  // Errors are those of the registry and of the sources.
  static Result<std::unique_ptr<KeyGenerators>> start(const config::Config& config, const Clock& clock);
  // One generator for each key space of the id service instead.
  static Result<std::unique_ptr<KeyGenerators>> start_spaces(const config::Config& config,
                                                             const Clock& clock);
  ~KeyGenerators();

  const BySpace& by_space() const { return by_space_; }
  const ByTable& by_table() const { return by_table_; }
  // The registry that the configuration names; null when no table has a generated key. Any thread.
  std::shared_ptr<idgen::Registry> registry() const { return registry_; }
  RegistryHealth health() const;
  // Of the first generator of which no id can be had; nothing when all would give one. Any thread.
  std::optional<std::string> reason_not_ready() const;

  // Closes the generators and gives back what others may use, so that the next start need not wait. Takes at
  // most a few seconds, whatever the store does. Idempotent.
  void stop();

 private:
  class ClockWatch;
  // A source with how its renewals went.
  class Tended;

  explicit KeyGenerators(const Clock& clock) : clock_(clock) {}
  Status open_registry(const idgen::RegistrySettings& settings);
  Result<std::unique_ptr<idgen::KeySource>> open_segments(const idgen::GeneratorSettings& settings);
  Result<std::unique_ptr<idgen::KeySource>> open_hybrid(const idgen::GeneratorSettings& settings);
  Result<std::unique_ptr<idgen::KeySource>> open_source(const idgen::GeneratorSettings& settings);
  // `label` names the generator in messages and stores.
  Result<idgen::KeyGenerator*> add(const config::Config& config, const std::string& generator,
                                   const std::string& label, uint32_t slots, const idgen::Gene& gene);
  void start_threads();

  const Clock& clock_;
  std::shared_ptr<idgen::Registry> registry_;
  std::shared_ptr<const idgen::Ticker> ticker_;
  std::map<std::string, std::shared_ptr<Tended>> sources_;  // by the generator's name
  std::shared_ptr<ClockWatch> clock_watch_;
  ByTable by_table_;
  BySpace by_space_;
  std::vector<std::unique_ptr<idgen::Tender>> tenders_;
  bool stopped_ = false;
};

}  // namespace evenkeel
