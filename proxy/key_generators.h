// The key generators of a running proxy, with what they rest on: worker leases today.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "idgen/generator.h"
#include "idgen/key_source.h"
#include "idgen/registry/registry.h"
#include "idgen/ticker.h"

namespace evenkeel {

// Owns a thread that renews what the sources hold. Made, stopped and destroyed by one thread; the generators
// are for any.
class KeyGenerators {
 public:
  using BySpace = std::map<std::string, idgen::KeyGenerator*>;
  using ByTable = std::unordered_map<const rule::LogicalTable*, idgen::KeyGenerator*>;

  // One generator for each logical table with a generated column, one source for each configured generator in
  // use. `clock` must outlive it. Errors are those of the registry and of the sources.
  static Result<std::unique_ptr<KeyGenerators>> start(const config::Config& config, const Clock& clock);
  // One generator for each key space of the id service instead.
  static Result<std::unique_ptr<KeyGenerators>> start_spaces(const config::Config& config,
                                                             const Clock& clock);
  ~KeyGenerators();

  const BySpace& by_space() const { return by_space_; }
  const ByTable& by_table() const { return by_table_; }
  // Closes the generators and gives back what others may use, so that the next start need not wait.
  // Idempotent.
  void stop();

 private:
  explicit KeyGenerators(const Clock& clock) : clock_(clock) {}
  Status open_registry(const std::string& directory);
  Result<std::unique_ptr<idgen::KeySource>> open_source(const idgen::GeneratorSettings& settings);
  // `label` names the generator in messages and stores.
  Result<idgen::KeyGenerator*> add(const config::Config& config, const std::string& generator,
                                   const std::string& label, uint32_t slots);
  void start_tending();
  void tend_until_stopped();

  const Clock& clock_;
  std::unique_ptr<idgen::Registry> registry_;
  std::shared_ptr<const idgen::Ticker> ticker_;
  std::map<std::string, std::unique_ptr<idgen::KeySource>> sources_;  // by the generator's name
  ByTable by_table_;
  BySpace by_space_;
  std::mutex mutex_;  // guards `stopping_`
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread tender_;
};

}  // namespace evenkeel
