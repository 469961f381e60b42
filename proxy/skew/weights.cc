#include "proxy/skew/weights.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "router/rule/residues.h"

namespace evenkeel::skew {
namespace {

// Weights are cut to eighths of the largest, so that slots that lack about the same are treated alike: runs
// of consecutive ids stay whole, and the map changes only when something has changed.
constexpr uint32_t steps = 8;

}  // namespace

uint32_t SlotWeights::open(uint32_t slots) const {
  if (identity()) return slots;
  return static_cast<uint32_t>(
      std::count_if(by_slot.begin(), by_slot.end(), [](uint32_t weight) { return weight > 0; }));
}

uint64_t SlotWeights::sum() const { return std::accumulate(by_slot.begin(), by_slot.end(), uint64_t{0}); }

double SlotWeights::capacity() const {
  if (identity()) return 1;
  return static_cast<double>(sum()) / (static_cast<double>(levels) * static_cast<double>(by_slot.size()));
}

double SlotWeights::share(rule::Slot slot, uint32_t slots) const {
  if (identity()) return 1.0 / slots;
  return static_cast<double>(by_slot[slot]) / static_cast<double>(sum());
}

std::vector<double> SlotWeights::shares(uint32_t slots) const {
  if (identity()) return std::vector<double>(slots, 1.0 / slots);
  const auto all = static_cast<double>(sum());
  std::vector<double> parts;
  parts.reserve(slots);
  for (const uint32_t weight : by_slot) parts.push_back(weight / all);
  return parts;
}

SlotWeights weights_of(const std::vector<bool>& open) {
  SlotWeights made;
  if (std::find(open.begin(), open.end(), false) == open.end()) return made;
  made.by_slot.assign(open.begin(), open.end());
  return made;
}

SlotWeights weights_of_shares(std::span<const uint32_t> wanted, uint32_t levels) {
  SlotWeights made;
  const uint32_t most = *std::max_element(wanted.begin(), wanted.end());
  if (*std::min_element(wanted.begin(), wanted.end()) == most) return made;
  made.levels = levels;
  made.by_slot.reserve(wanted.size());
  for (const uint32_t weight : wanted) {
    const uint64_t nearest = (uint64_t{weight} * levels * 2 + most) / (uint64_t{most} * 2);
    made.by_slot.push_back(weight == 0 ? 0 : static_cast<uint32_t>(std::max<uint64_t>(1, nearest)));
  }
  return made;
}

SlotWeights flattened(const SlotWeights& weights) {
  std::vector<bool> open;
  for (const uint32_t weight : weights.by_slot) open.push_back(weight > 0);
  return weights_of(open);
}

namespace {

// Cuts the largest until none exceeds `cap` times the mean of those that are left open.
void cut_peaks(std::vector<double>& wanted, double cap) {
  for (int turn = 0; turn < 32; ++turn) {
    double sum = 0;
    size_t open = 0;
    for (const double each : wanted) {
      sum += each;
      open += each > 0 ? 1 : 0;
    }
    const double limit = open == 0 ? 0 : cap * sum / static_cast<double>(open);
    bool cut = false;
    for (double& each : wanted) {
      if (each <= limit * 1.001) continue;
      each = limit;
      cut = true;
    }
    if (!cut) return;
  }
}

// Whole levels, in eighths where there are so many. A slot that lacks less than half of the least share stays
// closed: rounded up, it would get many times what it lacks, and a full table would get rows as soon as one
// other is fuller by a row.
std::vector<uint32_t> to_levels(const std::vector<double>& wanted, uint32_t levels) {
  const double most = *std::max_element(wanted.begin(), wanted.end());
  const uint32_t parts = std::min(levels, steps);
  std::vector<uint32_t> out(wanted.size(), 0);
  if (most <= 0) return out;
  for (size_t slot = 0; slot < wanted.size(); ++slot) {
    if (wanted[slot] <= 0) continue;
    const double part = std::floor(wanted[slot] / most * parts + 0.5);
    out[slot] = static_cast<uint32_t>(std::lround(part * levels / parts));
  }
  return out;
}

}  // namespace

SlotWeights weights_of_deficits(std::span<const double> figures, const DeficitRule& rule) {
  SlotWeights none;
  none.levels = 0;
  if (figures.empty() || rule.levels == 0) return none;
  const double target = *std::max_element(figures.begin(), figures.end());
  std::vector<double> lacks(figures.size());
  for (size_t slot = 0; slot < figures.size(); ++slot) lacks[slot] = target - figures[slot];
  // Closing a slot gives the rest more, which may close another; every turn closes one or is the last.
  for (;;) {
    std::vector<double> wanted = lacks;
    cut_peaks(wanted, rule.cap);
    const std::vector<uint32_t> levels = to_levels(wanted, rule.levels);
    const double sum = std::accumulate(levels.begin(), levels.end(), 0.0);
    if (sum <= 0) return none;
    bool closed = false;
    for (size_t slot = 0; slot < lacks.size(); ++slot) {
      if (levels[slot] == 0 || lacks[slot] >= rule.coming * levels[slot] / sum / 2) continue;
      lacks[slot] = 0;
      closed = true;
    }
    if (closed) continue;
    if (std::all_of(levels.begin(), levels.end(), [&](uint32_t level) { return level == rule.levels; }))
      return SlotWeights{};
    SlotWeights made;
    made.by_slot = levels;
    made.levels = rule.levels;
    const SlotWeights flat = flattened(made);
    const bool alike = std::all_of(levels.begin(), levels.end(),
                                   [&](uint32_t level) { return level == 0 || level == rule.levels; });
    return alike ? flat : made;
  }
}

std::vector<uint64_t> deficits_of(std::span<const double> figures) {
  std::vector<uint64_t> lacks;
  if (figures.empty()) return lacks;
  const double target = *std::max_element(figures.begin(), figures.end());
  lacks.reserve(figures.size());
  for (const double figure : figures) lacks.push_back(static_cast<uint64_t>(target - figure));
  return lacks;
}

Result<idgen::SteeringMap> compile(const SlotWeights& weights, const rule::Algorithm& algorithm) {
  const uint32_t slots = algorithm.slots();
  if (weights.identity()) return idgen::SteeringMap::identity(slots);
  if (!algorithm.steerable())
    return fail(config_error(fmt::format("algorithm {} is not steerable", algorithm.name())));
  if (weights.by_slot.size() != slots)
    return fail(config_error(fmt::format("a map of {} slots for {}", weights.by_slot.size(), slots)));
  const std::vector<rule::Slot> slot_of = rule::residue_slots(algorithm);
  std::vector<uint32_t> by_residue;
  by_residue.reserve(slot_of.size());
  for (const rule::Slot slot : slot_of) by_residue.push_back(weights.by_slot[slot]);
  return idgen::SteeringMap::weighted(by_residue, weights.levels);
}

uint64_t rows_outside(const SlotWeights& weights, const rule::Algorithm& algorithm, uint64_t rows) {
  if (weights.identity()) return 0;
  const std::vector<rule::Slot> slot_of = rule::residue_slots(algorithm);
  const uint64_t period = slot_of.size();
  if (period == 0) return 0;
  const auto outside = [&](uint64_t residue) { return weights.of(slot_of[residue % period]) == 0 ? 1U : 0U; };
  uint64_t in_period = 0;
  for (uint64_t residue = 0; residue < period; ++residue) in_period += outside(residue);
  const uint64_t rest = rows % period;
  uint64_t here = 0;
  for (uint64_t residue = 0; residue < rest; ++residue) here += outside(residue);
  uint64_t fewest = here;
  for (uint64_t start = 1; start < period; ++start) {
    here = here - outside(start - 1) + (rest == 0 ? outside(start - 1) : outside(start + rest - 1));
    fewest = std::min(fewest, here);
  }
  return rows / period * in_period + fewest;
}

std::string ranges_of(const std::vector<bool>& slots) {
  std::string text;
  for (size_t first = 0; first < slots.size(); ++first) {
    if (!slots[first]) continue;
    size_t last = first;
    while (last + 1 < slots.size() && slots[last + 1]) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return text;
}

std::string describe(const SlotWeights& weights, uint32_t slots) {
  if (weights.identity()) return fmt::format("all {} tables alike", slots);
  std::vector<bool> closed(slots);
  uint32_t most = 0;
  uint32_t least = weights.levels;
  for (rule::Slot slot = 0; slot < slots; ++slot) {
    const uint32_t weight = weights.of(slot);
    closed[slot] = weight == 0;
    if (weight == 0) continue;
    most = std::max(most, weight);
    least = std::min(least, weight);
  }
  const uint32_t open = weights.open(slots);
  std::string text = fmt::format("{} of {} tables", open, slots);
  if (most == least) {
    text += " alike";
  } else {
    const double mean = static_cast<double>(weights.sum()) / open;
    text += fmt::format(", shares {:.2f} to {:.2f} of their mean", least / mean, most / mean);
  }
  if (open < slots) {
    std::string ranges = ranges_of(closed);
    if (ranges.size() > 80) ranges = ranges.substr(0, ranges.rfind(',', 80)) + ",…";
    text += fmt::format("; none for {}", ranges);
  }
  return text;
}

}  // namespace evenkeel::skew
