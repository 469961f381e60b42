// The right of this process to make ids with a worker id.
//
// Two things guard it. A hold in the registry says that no other living process has the id. And the record of
// the id stores the last tick that was ever reserved, before it is used: a later holder starts above it, so a
// crash, a clock that was set back or a process that slept through its lease cannot repeat an id. A worker id
// from the configuration is guarded in the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "idgen/registry/registry.h"
#include "idgen/settings.h"
#include "idgen/tick_window.h"

namespace evenkeel::idgen {

// Owned by the control thread, which makes all calls but window(). The registry must outlive it.
class WorkerLease {
 public:
  // Takes the fixed id of `settings.worker`, or else the free id whose last use lies furthest back. `holder`
  // names this process to others, for instance "evenkeel pid 4711 on db7". Errors, all of kind registry:
  // another process holds the id (named), no id is free, the record belongs to another layout, the record
  // cannot be read. An earlier clock is no error here: the window then starts in the future and draws wait or
  // are refused until it begins.
  static Result<std::unique_ptr<WorkerLease>> acquire(Registry& registry, const GeneratorSettings& settings,
                                                      const std::string& holder);
  // Lets go of the id as a crash would: what was reserved stays reserved.
  ~WorkerLease();

  uint32_t worker() const { return window_->worker(); }
  // For KeyGenerator::Parts; any thread. Ends to grow, and so stops the generators, when renewals fail.
  std::shared_ptr<const TickWindow> window() const { return window_; }

  // Reserves more time when `renew_ms` of the window have passed; else does nothing. Call it a few times
  // within `renew_ms`. After an error the old window stands and the next call tries again, but after a
  // conflict (another process wrote the record) never again.
  Status renew_if_due(int64_t now_unix_ms);

  // Lets go after all generators of this window are closed. `last_used_tick` (the largest that they returned
  // from close()) becomes the stored bound, so that the next start need not wait.
  Status release(uint64_t last_used_tick);

 private:
  WorkerLease(Registry& registry, const GeneratorSettings& settings, std::string holder);
  Status take_fixed_id(uint32_t worker);
  Status take_free_id();
  // Holds the id if it is free; false when somebody else does.
  Result<bool> try_take(uint32_t worker, std::string& present_holder);
  Status begin_window(uint32_t worker);
  Status store(uint64_t bound, std::string_view holder);
  Status settle_doubt();
  Result<uint64_t> bound_from_now() const;
  std::string prefix() const;
  std::string key_of(uint32_t worker) const;

  Registry& registry_;
  const GeneratorSettings settings_;
  const std::string holder_;
  std::unique_ptr<Hold> hold_;
  std::shared_ptr<TickWindow> window_;
  std::string key_;
  uint64_t record_version_ = 0;
  uint64_t stored_bound_ = 0;
  std::string in_doubt_;  // what a failed put may or may not have stored
  bool lost_ = false;
};

}  // namespace evenkeel::idgen
