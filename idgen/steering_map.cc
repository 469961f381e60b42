#include "idgen/steering_map.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/limits.h"

namespace evenkeel::idgen {
namespace {

// A weighted pattern is at most this long: 16 MB of tables.
constexpr uint64_t period_max = uint64_t{1} << 20;

Status check_slots(uint64_t slots) {
  if (slots >= 1 && slots <= limits::slots_max) return {};
  return fail(
      config_error(fmt::format("a steering map of {} slots; allowed are 1 to {}", slots, limits::slots_max)));
}

}  // namespace

Result<SteeringMap> SteeringMap::identity(uint32_t slots) {
  EVENKEEL_TRY(check_slots(slots));
  SteeringMap map(slots, slots);
  map.permitted_count_ = slots;
  return map;
}

Result<SteeringMap> SteeringMap::permitting(uint32_t slots, std::span<const uint32_t> residues) {
  EVENKEEL_TRY(check_slots(slots));
  std::vector<bool> permitted(slots, false);
  for (const uint32_t residue : residues) {
    if (residue >= slots)
      return fail(
          config_error(fmt::format("a steering map permits slot {}, but there are only {}", residue, slots)));
    permitted[residue] = true;
  }
  if (residues.empty()) return fail(config_error("a steering map that permits no slot"));
  return compile(slots, permitted);
}

Result<SteeringMap> SteeringMap::weighted(std::span<const uint32_t> weights, uint32_t levels) {
  EVENKEEL_TRY(check_slots(weights.size()));
  const auto slots = static_cast<uint32_t>(weights.size());
  if (levels < 1 || uint64_t{levels} * slots > period_max)
    return fail(
        config_error(fmt::format("a steering map of {} levels x {} slots; at most {} entries are allowed",
                                 levels, slots, period_max)));
  std::vector<bool> permitted(size_t{levels} * slots, false);
  bool any = false;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    const uint64_t weight = weights[slot];
    if (weight > levels)
      return fail(
          config_error(fmt::format("slot {} has weight {}; at most {} is allowed", slot, weight, levels)));
    // Bresenham: the blocks that contain the slot lie as evenly as possible.
    for (uint64_t block = 0; block < levels; ++block) {
      const bool in = (block + 1) * weight / levels > block * weight / levels;
      permitted[block * slots + slot] = in;
      any = any || in;
    }
  }
  if (!any) return fail(config_error("a steering map whose weights are all 0"));
  return compile(slots, permitted);
}

SteeringMap SteeringMap::compile(uint32_t slots, const std::vector<bool>& permitted) {
  const auto period = static_cast<uint32_t>(permitted.size());
  SteeringMap map(slots, period);
  map.permitted_count_ = static_cast<uint32_t>(std::count(permitted.begin(), permitted.end(), true));
  if (map.permitted_count_ == period) {
    // All alike: the shortest pattern says the same.
    SteeringMap all(slots, slots);
    all.permitted_count_ = slots;
    return all;
  }
  map.select_.reserve(map.permitted_count_);
  map.count_.reserve(size_t{period} + 1);
  map.count_.push_back(0);
  for (uint32_t residue = 0; residue < period; ++residue) {
    if (permitted[residue]) map.select_.push_back(residue);
    map.count_.push_back(static_cast<uint32_t>(map.select_.size()));
  }
  map.distance_.resize(period);
  uint32_t next = map.select_.front() + period;
  for (uint32_t residue = period; residue-- > 0;) {
    if (permitted[residue]) next = residue;
    map.distance_[residue] = next - residue;
  }
  return map;
}

uint64_t SteeringMap::rank(uint64_t value) const {
  if (is_identity()) return value;
  const uint64_t cycles = value / period();
  return cycles * permitted_count_ + count_[value - cycles * period()];
}

uint64_t SteeringMap::select(uint64_t index) const {
  if (is_identity()) return index;
  const uint64_t cycles = index / permitted_count_;
  return cycles * period() + select_[index - cycles * permitted_count_];
}

uint64_t SteeringMap::rank_from(uint32_t residue, uint64_t length) const {
  return is_identity() ? length : rank(residue + length) - count_[residue];
}

uint64_t SteeringMap::nth_from(uint64_t from, uint64_t index) const {
  if (is_identity()) return from + index;
  const uint32_t start = residue(from);
  return from + (select(count_[start] + index) - start);
}

}  // namespace evenkeel::idgen
