// The portable form of a steering map: how much of the new rows each slot is to get. It is what proxies
// share, and what people read; idgen::SteeringMap is compiled from it.
//
// The rule for deficits is that of Bresenham levels: with T = max(fullest, mean) and d = T - rows, a slot
// gets ceil(levels * d / largest d) of every `levels` blocks of ids.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "idgen/steering_map.h"
#include "router/rule/algorithm.h"

namespace evenkeel::skew {

// A plain value. Empty weights: every slot alike (the identity).
struct SlotWeights {
  std::vector<uint32_t> by_slot;  // 0..levels
  uint32_t levels = 1;

  bool identity() const { return by_slot.empty(); }
  uint32_t of(rule::Slot slot) const { return identity() ? levels : by_slot[slot]; }
  // Slots that get new rows.
  uint32_t open(uint32_t slots) const;
  uint64_t sum() const;
  // The part of all sequence numbers that the map permits: 1 for the identity.
  double capacity() const;
  // A slot's part of new rows; they add up to 1.
  double share(rule::Slot slot, uint32_t slots) const;
  // Of all slots: for who asks for many, since each share() adds up all weights.
  std::vector<double> shares(uint32_t slots) const;

  bool operator==(const SlotWeights&) const = default;
};

// Slots that are true are open, all alike. All true gives the identity.
SlotWeights weights_of(const std::vector<bool>& open);
// Shares in proportion to `wanted`, to the next level; not all 0.
SlotWeights weights_of_shares(std::span<const uint32_t> wanted, uint32_t levels);

struct DeficitRule {
  uint32_t levels = 1;
  double cap = 4;  // largest / mean of the weights that are not 0
  // How much all slots together get until the weights are made anew. A slot that lacks less than half of what
  // its weight would bring until then gets none: it would end up above the others.
  double coming = 0;
};

// By what each slot lacks to the fullest. Nothing open (an empty result with levels 0) when no slot lacks
// enough to be steered by.
SlotWeights weights_of_deficits(std::span<const double> figures, const DeficitRule& rule);
// `weights` with every open slot alike: the most capacity that keeps rows off the same slots.
SlotWeights flattened(const SlotWeights& weights);

// What each slot lacks to the fullest, in whole units; for the choice of where a batch starts.
std::vector<uint64_t> deficits_of(std::span<const double> figures);

// Errors of kind config: another number of slots, nothing open, an algorithm that is not steerable.
Result<idgen::SteeringMap> compile(const SlotWeights& weights, const rule::Algorithm& algorithm);

// The fewest of `rows` consecutive ids that fall on slots that get none.
uint64_t rows_outside(const SlotWeights& weights, const rule::Algorithm& algorithm, uint64_t rows);

// "0-31,40": ranges of slots.
std::string ranges_of(const std::vector<bool>& slots);
// "96 of 128 slots alike, none for 0-31", "all 128 slots alike", "96 of 128 slots, shares 0.50 to 1.20 of …".
std::string describe(const SlotWeights& weights, uint32_t slots);

}  // namespace evenkeel::skew
