// The worker leases of one configured generator, one a lane, and the Snowflake generators that share them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "idgen/key_source.h"
#include "idgen/registry/registry.h"
#include "idgen/registry/worker_lease.h"
#include "idgen/settings.h"
#include "idgen/snowflake_set.h"
#include "idgen/tick_source.h"
#include "idgen/worker_supply.h"

namespace evenkeel::idgen {

class SnowflakeSource final : public KeySource, private WorkerSupply {
 public:
  // Acquires the leases of `settings`. Registry and clock must outlive this. `probe` may be
  // null where `settings.clock` does not watch the clock. Errors are those of WorkerLease::acquire.
  static Result<std::unique_ptr<SnowflakeSource>> open(Registry& registry, const Clock& clock,
                                                       const GeneratorSettings& settings,
                                                       std::shared_ptr<const TickSource> ticks,
                                                       std::unique_ptr<ClockProbe> probe = nullptr);

  // The worker ids in use, one a lane.
  std::vector<uint32_t> workers() const;
  // Null when the clock is not watched.
  const ClockGuard* guard() const { return generators_.guard(); }

  Result<KeyGenerator*> add_table(const std::string& table, uint32_t slots) override {
    return add_gene_table(table, slots, Gene{});
  }
  Result<KeyGenerator*> add_gene_table(const std::string& table, uint32_t slots, const Gene& gene) override;
  // Also looks at the clock once a second, and leases other worker ids when draws asked for them.
  Status tend(int64_t now_unix_ms) override;
  int64_t tend_every_ms() const override;
  Status close() override;

 private:
  SnowflakeSource(Registry& registry, const Clock& clock, const GeneratorSettings& settings,
                  std::shared_ptr<const TickSource> ticks, std::unique_ptr<ClockProbe> probe);
  void ask_for_switch(uint32_t worker) override;
  Result<std::unique_ptr<WorkerLease>> acquire_lane(uint32_t lane);
  Status switch_workers(int64_t now_unix_ms);
  Status switch_lane(std::unique_ptr<WorkerLease>& lease, int64_t now_unix_ms);
  Result<std::unique_ptr<WorkerLease>> acquire_other(int64_t now_unix_ms);
  Error about(uint32_t worker, std::string_view what, const Error& why) const;

  Registry& registry_;
  const Clock& clock_;
  const GeneratorSettings settings_;
  std::vector<std::unique_ptr<WorkerLease>> leases_;
  SnowflakeSet generators_;
  // The worker id that draws asked to be rid of, plus 1; 0: none.
  std::atomic<uint64_t> switch_wanted_{0};
  bool closed_ = false;
};

}  // namespace evenkeel::idgen
