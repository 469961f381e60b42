// The Snowflake generators of one key source: they share its worker ids and one judgement of the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "idgen/clock_guard.h"
#include "idgen/gene.h"
#include "idgen/settings.h"
#include "idgen/snowflake_generator.h"
#include "idgen/tick_source.h"
#include "idgen/tick_window.h"
#include "idgen/worker_supply.h"

namespace evenkeel::idgen {

// Owned by a key source; control thread.
class SnowflakeSet {
 public:
  using Windows = std::vector<std::shared_ptr<const TickWindow>>;

  // `probe` may be null where `settings.clock` does not watch the clock.
  SnowflakeSet(const GeneratorSettings& settings, std::shared_ptr<const TickSource> ticks,
               std::unique_ptr<ClockProbe> probe);

  // Looks at the clock before any id is made. Kind internal when it is to be watched and there is no probe.
  Status begin();
  // Looks at the clock again when a second has passed, and logs what that changes.
  void watch_clock(int64_t now_unix_ms);

  // One window a lane. `supply` may be null; otherwise it must outlive the set.
  Result<KeyGenerator*> add(const std::string& table, uint32_t slots, const Gene& gene,
                            const Windows& windows, WorkerSupply* supply);

  struct Adoption {
    // The last tick of the worker id that was replaced; final where `status` is good.
    uint64_t last_used = 0;
    // The first refusal. A generator that refused keeps the old worker id.
    Status status;
  };
  // All generators go on with the worker id of `window`.
  Adoption adopt(uint32_t replaced, const std::shared_ptr<const TickWindow>& window);

  // No ids after this.
  void close();
  // The last tick that any of the generators made ids of with this worker id; final once closed.
  uint64_t last_tick(uint32_t worker) const;

  // Null when the clock is not watched.
  const ClockGuard* guard() const { return guard_.get(); }

 private:
  const GeneratorSettings settings_;
  const std::shared_ptr<const TickSource> ticks_;
  const std::unique_ptr<ClockProbe> probe_;
  const std::shared_ptr<ClockGuard> guard_;
  std::vector<std::unique_ptr<SnowflakeGenerator>> generators_;
  int64_t looked_at_clock_ms_ = INT64_MIN;
};

}  // namespace evenkeel::idgen
