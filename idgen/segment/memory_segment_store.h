// A store of segments in memory, for tests and the simulation. It can be told to fail, before or after it did
// what it was asked for.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "idgen/segment/segment_store.h"

namespace evenkeel::idgen {

// Thread-safe: generators of several processes are simulated with one store.
class MemorySegmentStore final : public SegmentStore {
 public:
  enum class Fault : uint8_t { none, unreachable, answer_lost };

  void set_fault(Fault fault);
  // Called within each advance(), before anything is done.
  void on_advance(std::function<void()> call) { on_advance_ = std::move(call); }
  // How often the store was asked to change a row.
  uint64_t interactions() const;
  SegmentRow row(const std::string& tag) const;
  // What an operator or a failover does.
  void set_row(const std::string& tag, const SegmentRow& row);

  const std::string& name() const override { return name_; }
  Result<SegmentRow> open_row(const std::string& tag) override;
  Result<std::optional<SegmentRow>> advance(const std::string& tag, const SegmentAdvance& advance) override;
  Result<std::optional<SegmentRow>> protect(const std::string& tag, uint64_t epoch, uint64_t number) override;
  Result<bool> give_back(const std::string& tag, uint64_t epoch, uint64_t expected, uint64_t max_id) override;

 private:
  Status begin();
  Status end() const;

  const std::string name_ = "memory";
  std::function<void()> on_advance_;
  mutable std::mutex mutex_;  // guards what follows
  Fault fault_ = Fault::none;
  uint64_t interactions_ = 0;
  std::map<std::string, SegmentRow> rows_;
};

}  // namespace evenkeel::idgen
