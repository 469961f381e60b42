// One worker lease and the Snowflake generators that share it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "idgen/key_source.h"
#include "idgen/registry/registry.h"
#include "idgen/registry/worker_lease.h"
#include "idgen/settings.h"
#include "idgen/snowflake_generator.h"
#include "idgen/tick_source.h"

namespace evenkeel::idgen {

class SnowflakeSource final : public KeySource {
 public:
  // Acquires the lease of `settings`. Registry and clock must outlive this. Errors are those of
  // WorkerLease::acquire.
  static Result<std::unique_ptr<SnowflakeSource>> open(Registry& registry, const Clock& clock,
                                                       const GeneratorSettings& settings,
                                                       std::shared_ptr<const TickSource> ticks);

  uint32_t worker() const { return lease_->worker(); }

  Result<KeyGenerator*> add_table(const std::string& table, uint32_t slots) override;
  Status tend(int64_t now_unix_ms) override;
  int64_t tend_every_ms() const override;
  Status close() override;

 private:
  SnowflakeSource(const GeneratorSettings& settings, std::unique_ptr<WorkerLease> lease,
                  std::shared_ptr<const TickSource> ticks)
      : settings_(settings), lease_(std::move(lease)), ticks_(std::move(ticks)) {}

  const GeneratorSettings settings_;
  const std::unique_ptr<WorkerLease> lease_;
  const std::shared_ptr<const TickSource> ticks_;
  std::vector<std::unique_ptr<SnowflakeGenerator>> generators_;
  bool closed_ = false;
};

}  // namespace evenkeel::idgen
