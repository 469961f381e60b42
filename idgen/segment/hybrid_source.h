// Snowflake ids whose worker field comes from the store of segments: an allocator's prefix and a number below
// it. No registry is needed.
//
// Each number has a row of its own whose segments are ticks: taking a segment reserves time. Segments of one
// row never overlap, so two holders of a number cannot make equal ids, whatever their clocks do; a row whose
// last tick has passed is free. One lease provider more, with the store's row in the place of the registry's
// record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "idgen/key_source.h"
#include "idgen/segment/segment_store.h"
#include "idgen/settings.h"
#include "idgen/snowflake_set.h"
#include "idgen/tick_source.h"
#include "idgen/tick_window.h"

namespace evenkeel::idgen {

class HybridSource final : public KeySource {
 public:
  // Time reserved ahead, and after how much of it more is reserved. The store may be away for the difference.
  static constexpr int64_t window_ms = 30 * 60'000;
  static constexpr int64_t renew_ms = window_ms / 3;

  // Takes a free number from the first store that answers; `stores` are those of the settings' allocators, in
  // the same order. Errors, of kind registry: no store answers, no number is free. `clock` must outlive it.
  // `probe` may be null where `settings.clock` does not watch the clock.
  static Result<std::unique_ptr<HybridSource>> open(const GeneratorSettings& settings,
                                                    std::vector<std::unique_ptr<SegmentStore>> stores,
                                                    std::shared_ptr<const TickSource> ticks,
                                                    const Clock& clock,
                                                    std::unique_ptr<ClockProbe> probe = nullptr);

  uint32_t worker() const { return window_->worker(); }

  Result<KeyGenerator*> add_table(const std::string& table, uint32_t slots) override {
    return add_gene_table(table, slots, Gene{});
  }
  Result<KeyGenerator*> add_gene_table(const std::string& table, uint32_t slots, const Gene& gene) override {
    return generators_.add(table, slots, gene, {window_}, nullptr);
  }
  // Looks at the clock once a second where it is watched. Reserves more time when it is due. When another
  // process has taken the number, because this one was away for longer than it had reserved, nothing more is
  // reserved: ids end with the window.
  Status tend(int64_t now_unix_ms) override;
  int64_t tend_every_ms() const override { return 1'000; }
  // Gives back the time that was not used.
  Status close() override;

 private:
  HybridSource(const GeneratorSettings& settings, std::shared_ptr<const TickSource> ticks,
               std::unique_ptr<ClockProbe> probe)
      : settings_(settings), generators_(settings, std::move(ticks), std::move(probe)) {}
  Status take_number(uint32_t prefix, int64_t now_unix_ms);
  Result<bool> try_number(uint64_t number, uint32_t prefix, int64_t now_unix_ms);
  Status lose(uint64_t last);
  Error error_of(const std::string& what) const;
  uint64_t tick_of(int64_t unix_ms) const;

  const GeneratorSettings settings_;
  SnowflakeSet generators_;
  std::unique_ptr<SegmentStore> store_;
  std::string tag_;
  uint64_t epoch_ = 0;
  std::shared_ptr<TickWindow> window_;
  uint64_t in_doubt_ = 0;  // the last tick of a reservation whose answer was lost
  bool lost_ = false;
  bool closed_ = false;
};

}  // namespace evenkeel::idgen
