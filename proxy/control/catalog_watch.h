// Keeps the catalog right: reads it at start, verifies all actual tables in the background, reads it anew
// when asked or when time has passed.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "proxy/control/catalog_reader.h"
#include "proxy/control/catalog_store.h"

namespace evenkeel::control {

struct WatchSettings {
  std::chrono::milliseconds interval{300'000};  // between readings that nobody asked for
  std::chrono::milliseconds least_distance{
      1'000};  // between the ends and starts of readings that were asked for
  std::chrono::milliseconds database_pause{50};  // between databases while all tables are verified
};

// Owns a thread. `store` must outlive it. Made and destroyed by one thread; the rest is thread-safe.
class CatalogWatch {
 public:
  // Reads the first catalog, publishes it and starts the thread. An error (kind backend) lists all findings
  // when one of them forbids to start; `first_findings` gets the warnings otherwise.
  static Result<std::unique_ptr<CatalogWatch>> start(rule::RuleSetPtr rules, backend::Settings backend,
                                                     Accounts accounts, CatalogStore& store,
                                                     WatchSettings settings,
                                                     std::vector<Finding>& first_findings);
  ~CatalogWatch();

  // Any thread: readings from now on log in with these.
  void set_accounts(Accounts accounts);

  // Of the instances that answered at start.
  const std::vector<InstanceFacts>& facts() const { return facts_; }
  // Complete passes over all actual tables, and what the last one found wrong; for metrics.
  uint64_t passes() const { return passes_.load(std::memory_order_relaxed); }
  size_t drifted() const { return drifted_.load(std::memory_order_relaxed); }

 private:
  CatalogWatch(std::unique_ptr<CatalogReader> reader, Reading first, CatalogStore& store,
               WatchSettings settings);

  void run();
  void verify_all();
  void read_again(const std::string& reason);

  std::unique_ptr<CatalogReader> reader_;  // the thread's own
  Reading reading_;                        // the thread's own
  const std::vector<InstanceFacts> facts_;
  CatalogStore& store_;
  const WatchSettings settings_;
  std::vector<Finding> told_;  // the thread's own: what the log already says
  std::mutex accounts_mutex_;  // guards `new_accounts_`
  std::optional<Accounts> new_accounts_;
  std::atomic<uint64_t> passes_{0};
  std::atomic<size_t> drifted_{0};
  std::thread thread_;
};

}  // namespace evenkeel::control
