#include "idgen/registry/memory_registry.h"

namespace evenkeel::idgen {

class MemoryRegistry::MemoryHold final : public Hold {
 public:
  MemoryHold(MemoryRegistry& registry, std::string key) : registry_(registry), key_(std::move(key)) {}
  ~MemoryHold() override {
    const std::lock_guard lock(registry_.mutex_);
    registry_.holders_.erase(key_);
  }

 private:
  MemoryRegistry& registry_;
  const std::string key_;
};

Status MemoryRegistry::reachable() const {
  if (unreachable_) return fail(registry_error("the registry cannot be reached"));
  return {};
}

Result<std::optional<Record>> MemoryRegistry::get(std::string_view key) {
  EVENKEEL_TRY(reachable());
  EVENKEEL_TRY(check_key(key));
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(key);
  if (found == records_.end()) return std::nullopt;
  return found->second;
}

Result<Put> MemoryRegistry::compare_and_put(std::string_view key, uint64_t expected, std::string_view value) {
  EVENKEEL_TRY(reachable());
  EVENKEEL_TRY(check_key(key));
  EVENKEEL_TRY(check_value(key, value));
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(key);
  const uint64_t present = found == records_.end() ? 0 : found->second.version;
  if (present != expected) return Put{false, present};
  records_.insert_or_assign(std::string(key), Record{std::string(value), present + 1});
  return Put{true, present + 1};
}

Result<std::vector<KeyedRecord>> MemoryRegistry::list(std::string_view prefix) {
  EVENKEEL_TRY(reachable());
  const std::lock_guard lock(mutex_);
  std::vector<KeyedRecord> found;
  for (auto at = records_.lower_bound(prefix); at != records_.end() && at->first.starts_with(prefix); ++at)
    found.push_back({at->first, at->second});
  return found;
}

Result<HoldAttempt> MemoryRegistry::try_hold(std::string_view key, std::string_view holder) {
  if (!proves_life()) return Registry::try_hold(key, holder);
  EVENKEEL_TRY(reachable());
  EVENKEEL_TRY(check_key(key));
  const std::lock_guard lock(mutex_);
  const auto [position, free] = holders_.try_emplace(std::string(key), holder);
  if (!free) return HoldAttempt{nullptr, position->second};
  return HoldAttempt{std::make_unique<MemoryHold>(*this, std::string(key)), std::string(holder)};
}

Result<int64_t> MemoryRegistry::now_unix_ms() {
  EVENKEEL_TRY(reachable());
  return clock_.unix_millis();
}

}  // namespace evenkeel::idgen
