// The right of this process to make ids with a worker id.
//
// The record of a worker id in the registry stores the last tick that was ever reserved, before it is used,
// and a token that only this lease knows. Ids stay unique because of two rules alone: a holder makes ids only
// of ticks up to the bound that it stored, and whoever takes the id over starts above that bound. So a crash,
// a clock that was set back, a process that slept through its lease or that lost the registry cannot repeat
// an id, whatever the clocks of the machines and of the registry say: a wrong clock makes ids wait.
//
// Who may take over: the registry's time has passed the bound of the record, or its holder gave the id back,
// or the provider proves that its holder no longer lives (Registry::try_hold). Every change is a
// compare-and-put over the version last seen: of two that try at once one wins, and a former holder that
// wakes up finds a version that is not its own and writes nothing. A worker id from the configuration is
// guarded in the same way.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "idgen/registry/clock_offset.h"
#include "idgen/registry/holder.h"
#include "idgen/registry/registry.h"
#include "idgen/registry/worker_record.h"
#include "idgen/settings.h"
#include "idgen/tick_window.h"

namespace evenkeel::idgen {

// Owned by one control thread, which makes all calls but window(). Registry and clock must outlive it.
class WorkerLease {
 public:
  // The first window of a longer setting is this long, and the whole window is reserved once the process has
  // lived for `settle_ms`: a process that crashes at every start then leaves worker ids behind for a minute
  // each, not for an hour.
  static constexpr int64_t first_window_ms = 60'000;
  static constexpr int64_t settle_ms = 10'000;
  // A registry whose clock is further ahead of this machine's grants nothing: a bound stored by a wrong clock
  // would keep the worker id from use until then.
  static constexpr int64_t clock_ahead_max_ms = 86'400'000;

  // Takes the fixed id of `settings.worker`, or else the free id whose last use lies furthest back: ids never
  // used come first, ids still reserved are left alone. Errors, all of kind registry, each with what to do:
  // another process holds the id (its name, and when it frees), no id is free (when the first frees), the
  // generator or the record has another layout (both named), a record cannot be read, the clocks of this
  // machine and of the registry are too far apart. An earlier clock is no error here: the window then starts
  // in the future and draws wait or are refused until it begins.
  static Result<std::unique_ptr<WorkerLease>> acquire(Registry& registry, const Clock& clock,
                                                      const GeneratorSettings& settings,
                                                      Holder holder = holder_of_this_process());
  // Lets go of the id as a crash would: what was reserved stays reserved.
  ~WorkerLease();

  uint32_t worker() const { return window_->worker(); }
  // For KeyGenerator::Parts; any thread. Ends to grow, and so stops the generators, when renewals fail.
  std::shared_ptr<const TickWindow> window() const { return window_; }
  // The registry's clock against this machine's when the registry was last asked.
  const ClockOffset& clock_offset() const { return offset_; }
  // When the reserved time ends, by the registry's clock.
  int64_t reserved_until_unix_ms() const;
  // True once another process has the worker id, or after release(): nothing is ever written again.
  bool lost() const { return lost_; }

  // Reserves more time when `renew_ms` have passed since the last time, or when no more than the window
  // without `renew_ms` is left; else does nothing. Call it a few times within `renew_ms`. After an error the
  // old window stands and the next call tries again, but after a conflict (another lease wrote the record)
  // never again.
  Status renew_if_due();

  // Lets go after all generators of this window are closed. `last_used_tick` (the largest that they returned
  // from close()) becomes the stored bound, so that the next start need not wait. Writes only as the owner.
  Status release(uint64_t last_used_tick);

 private:
  // Why a worker id was not taken.
  struct Occupied {
    std::string holder;
    // Nothing when a proof of life, not the time, keeps it.
    std::optional<int64_t> until_unix_ms;
  };

  WorkerLease(Registry& registry, const Clock& clock, const GeneratorSettings& settings, Holder holder);
  Status read_clock();
  Status check_generator_layout();
  Status check_layout(const std::string& where, const std::string& stored) const;
  Status take_fixed_id(uint32_t number);
  Status take_free_id();
  Error none_free(size_t workers, const std::optional<Occupied>& first_to_free) const;
  // Nothing when the id is now ours.
  Result<std::optional<Occupied>> try_take(uint32_t worker);
  std::optional<Occupied> occupied_by(const WorkerRecord& record) const;
  Status begin_window(uint32_t worker, const std::optional<WorkerRecord>& before);
  Status store(uint64_t bound, bool released);
  // After a put that was not stored: nothing when the record is another's, else the version to put over.
  Result<std::optional<uint64_t>> own_version() const;
  bool is_due() const;
  uint64_t bound_ahead(int64_t ms) const;
  int64_t registry_unix_ms() const { return clock_.unix_millis() + offset_.offset_ms; }

  Registry& registry_;
  const Clock& clock_;
  const GeneratorSettings settings_;
  const Holder holder_;
  std::unique_ptr<Hold> hold_;
  std::shared_ptr<TickWindow> window_;
  std::string key_;
  uint64_t record_version_ = 0;
  uint64_t stored_bound_ = 0;
  ClockOffset offset_;
  std::chrono::nanoseconds taken_at_{0};
  std::chrono::nanoseconds renewed_at_{0};
  bool settled_ = false;  // a whole window has been reserved
  bool lost_ = false;
};

}  // namespace evenkeel::idgen
