// Counts every operator new of the program it is linked into.
#pragma once

#include <cstddef>

namespace evenkeel::merge::testing {

size_t allocations();

}  // namespace evenkeel::merge::testing
