// The algorithms' constructors, for algorithm.cc alone; everybody else asks make_algorithm.
#pragma once

#include <memory>

#include "router/rule/algorithm.h"

namespace evenkeel::rule {

using MadeAlgorithm = Result<std::shared_ptr<const Algorithm>>;

MadeAlgorithm make_mod(uint32_t slots, const AlgorithmParameters& parameters);
MadeAlgorithm make_hash_mod(uint32_t slots, const AlgorithmParameters& parameters);
MadeAlgorithm make_range(uint32_t slots, const AlgorithmParameters& parameters);
MadeAlgorithm make_list(uint32_t slots, const AlgorithmParameters& parameters);
MadeAlgorithm make_interval(uint32_t slots, const AlgorithmParameters& parameters);

// For values that belong to no slot: MySQL's error 1526.
Error no_slot_for(const Algorithm& algorithm, const mysql::Value& value);
// For kinds of values that the algorithm has no rule for. `takes`: "integers".
Error no_rule_for(const Algorithm& algorithm, const mysql::Value& value, std::string_view takes);

}  // namespace evenkeel::rule
