// The segment generators of one configured name, their stores and their loader.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "idgen/key_source.h"
#include "idgen/segment/segment_loader.h"

namespace evenkeel::idgen {

// Makes the store of one allocator; no connection is made yet.
using OpenSegmentStore =
    std::function<std::unique_ptr<SegmentStore>(const SegmentAllocator& allocator, int64_t timeout_ms)>;

class SegmentSource final : public KeySource {
 public:
  // Starts the loader's thread. `clock` must outlive it.
  static std::unique_ptr<SegmentSource> open(const GeneratorSettings& settings, const OpenSegmentStore& store,
                                             const Clock& clock);
  ~SegmentSource() override;

  // Waits for the table's first segment: errors are the first store's.
  Result<KeyGenerator*> add_table(const std::string& table, uint32_t slots) override;
  // Tells what the stores have complained of.
  Status tend(int64_t now_unix_ms) override;
  int64_t tend_every_ms() const override { return 1'000; }
  Status close() override;

 private:
  SegmentSource(const GeneratorSettings& settings, std::vector<std::unique_ptr<SegmentStore>> stores,
                const Clock& clock);

  const GeneratorSettings settings_;
  const Clock& clock_;
  SegmentLoader loader_;
  std::vector<std::unique_ptr<SegmentGenerator>> generators_;
  bool closed_ = false;
};

}  // namespace evenkeel::idgen
