#include "idgen/run_start.h"

#include <algorithm>
#include <vector>

namespace evenkeel::idgen {
namespace {

// How many rows of the sliding run each instance holds. The memory stays with the thread: no allocation per
// draw.
class InstanceWindow {
 public:
  explicit InstanceWindow(std::span<const uint16_t> slot_instances) : slot_instances_(slot_instances) {
    if (slot_instances_.empty()) return;
    const uint16_t largest = *std::max_element(slot_instances_.begin(), slot_instances_.end());
    rows().assign(size_t{largest} + 1, 0);
  }
  void add(uint32_t slot) {
    if (!slot_instances_.empty() && rows()[slot_instances_[slot]]++ == 0) ++distinct_;
  }
  void remove(uint32_t slot) {
    if (!slot_instances_.empty() && --rows()[slot_instances_[slot]] == 0) --distinct_;
  }
  uint32_t distinct() const { return distinct_; }

 private:
  static std::vector<uint32_t>& rows() {
    thread_local std::vector<uint32_t> storage;
    return storage;
  }

  std::span<const uint16_t> slot_instances_;
  uint32_t distinct_ = 0;
};

struct Score {
  uint64_t gain = 0;
  uint32_t instances = 0;

  bool operator==(const Score&) const = default;
  bool better_than(const Score& other) const {
    return gain != other.gain ? gain > other.gain : instances < other.instances;
  }
};

// Calls visit(offset, score) for the runs that start at first, first+1, ... first+starts-1.
template <typename Visit>
void slide(const SteeringMap& map, uint64_t first, uint64_t starts, uint64_t rows, const RunAim& aim,
           Visit visit) {
  const auto gain_of = [&](uint64_t value) -> uint64_t {
    if (!map.permits(value)) return 0;
    return aim.slot_deficits.empty() ? 1 : aim.slot_deficits[map.slot_of(value)];
  };
  // Whole turns of the period add the same to every start.
  const uint64_t length = rows % map.period();
  InstanceWindow instances(length == rows ? aim.slot_instances : std::span<const uint16_t>());
  Score score;
  for (uint64_t i = 0; i < length; ++i) {
    score.gain += gain_of(first + i);
    instances.add(map.slot_of(first + i));
  }
  for (uint64_t offset = 0; offset < starts; ++offset) {
    score.instances = instances.distinct();
    visit(offset, score);
    if (length == 0) continue;
    score.gain = score.gain - gain_of(first + offset) + gain_of(first + offset + length);
    instances.remove(map.slot_of(first + offset));
    instances.add(map.slot_of(first + offset + length));
  }
}

}  // namespace

uint64_t choose_run_start(const SteeringMap& map, uint64_t base, uint64_t earliest, uint64_t latest,
                          uint64_t rows, const RunAim& aim, uint64_t lot, uint64_t lot_count) {
  const uint64_t starts = std::min<uint64_t>(latest - earliest + 1, map.period());
  Score best;
  uint64_t equal = 0;
  uint64_t earliest_best = 0;
  slide(map, base + earliest, starts, rows, aim, [&](uint64_t offset, const Score& score) {
    if (equal == 0 || score.better_than(best)) {
      best = score;
      equal = 1;
      earliest_best = offset;
    } else if (score == best) {
      ++equal;
    }
  });
  if (lot_count == 0 || equal == 1) return earliest + earliest_best;

  uint64_t to_skip = lot * equal / lot_count;
  uint64_t chosen = earliest_best;
  slide(map, base + earliest, starts, rows, aim, [&](uint64_t offset, const Score& score) {
    if (score == best && to_skip-- == 0) chosen = offset;
  });
  return earliest + chosen;
}

}  // namespace evenkeel::idgen
