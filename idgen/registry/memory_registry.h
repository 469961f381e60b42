// A registry in memory, for tests and the simulation. It can be told to fail.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "idgen/registry/registry.h"

namespace evenkeel::idgen {

// `clock` must outlive it, and it must outlive its holds.
class MemoryRegistry final : public Registry {
 public:
  // Like a directory of files it can prove that a holder lives, or like a shared store it cannot.
  enum class Proof : uint8_t { none, holds };

  explicit MemoryRegistry(const Clock& clock, Proof proof = Proof::none) : clock_(clock), proof_(proof) {}

  // While set, every call fails as an unreachable store would.
  void set_unreachable(bool unreachable) { unreachable_ = unreachable; }

  Result<std::optional<Record>> get(std::string_view key) override;
  Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) override;
  Result<std::vector<KeyedRecord>> list(std::string_view prefix) override;
  bool proves_life() const override { return proof_ == Proof::holds; }
  Result<HoldAttempt> try_hold(std::string_view key, std::string_view holder) override;
  Result<int64_t> now_unix_ms() override;

 private:
  class MemoryHold;

  Status reachable() const;

  const Clock& clock_;
  const Proof proof_;
  std::atomic<bool> unreachable_{false};
  std::mutex mutex_;  // guards what follows
  std::map<std::string, Record, std::less<>> records_;
  std::map<std::string, std::string, std::less<>> holders_;
};

}  // namespace evenkeel::idgen
