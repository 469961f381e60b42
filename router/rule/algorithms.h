// The algorithms' constructors, for algorithm.cc alone; everybody else asks make_algorithm.
#pragma once

#include <memory>

#include "router/rule/algorithm.h"

namespace evenkeel::rule {

std::shared_ptr<const Algorithm> make_mod(uint32_t slots);
std::shared_ptr<const Algorithm> make_hash_mod(uint32_t slots);

}  // namespace evenkeel::rule
