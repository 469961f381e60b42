// The key generators of a running proxy, with the worker leases that they rest on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "idgen/generator.h"
#include "idgen/registry/worker_lease.h"
#include "idgen/ticker.h"

namespace evenkeel {

// Owns a thread that renews the leases. Made, stopped and destroyed by one thread; the generators are for
// any.
class KeyGenerators {
 public:
  using ByTable = std::unordered_map<const rule::LogicalTable*, idgen::KeyGenerator*>;

  // One generator for each logical table with a generated column, one lease for each configured generator in
  // use. `clock` must outlive it. Errors are those of the registry and of the leases.
  static Result<std::unique_ptr<KeyGenerators>> start(const config::Config& config, const Clock& clock);
  ~KeyGenerators();

  const ByTable& by_table() const { return by_table_; }
  // Closes the generators and gives the leases back, so that the next start need not wait. Idempotent.
  void stop();

 private:
  struct Leased {
    std::unique_ptr<idgen::WorkerLease> lease;
    std::vector<std::unique_ptr<idgen::KeyGenerator>> generators;
    std::string name;
    int64_t renew_ms = 0;
  };

  explicit KeyGenerators(const Clock& clock) : clock_(clock) {}
  Status open_registry(const std::string& directory);
  Status add_table(const config::Config& config, const rule::LogicalTable& table);
  Result<Leased*> leased(const idgen::GeneratorSettings& settings);
  void renew_until_stopped();
  void renew_all();

  const Clock& clock_;
  std::unique_ptr<idgen::Registry> registry_;
  std::shared_ptr<const idgen::Ticker> ticker_;
  std::unordered_map<std::string, Leased> leased_;
  ByTable by_table_;
  std::mutex mutex_;  // guards `stopping_`
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread renewer_;
};

}  // namespace evenkeel
