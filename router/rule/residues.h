// What an algorithm does to consecutive integers over one period, found by asking it. Steering maps are
// compiled from this, so that the arithmetic of an algorithm stands in its own file alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "router/rule/algorithm.h"

namespace evenkeel::rule {

// Element r is the slot of every integer congruent to r modulo the period. Empty for an algorithm without
// one.
std::vector<Slot> residue_slots(const Algorithm& algorithm);

// The residues, ascending, whose slot is one of `slots`. Empty for an algorithm without a period.
std::vector<uint32_t> permitted_residues(const Algorithm& algorithm, std::span<const Slot> slots);

// Slots that no integer reaches, ascending. An algorithm without a period is asked about the first 40 × slots
// integers: a good hash leaves one out with a probability below slots × e^-40.
std::vector<Slot> unreachable_slots(const Algorithm& algorithm);

}  // namespace evenkeel::rule
