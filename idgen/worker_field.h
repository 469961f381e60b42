// The worker field of an id, cut into named pieces.
//
// Pieces with a value (a data centre, a line of business) are the same in all ids of a process. What the
// others leave is the worker number, which is configured or leased: with dc:3=5 | host:7, number 9 is the
// worker id 5<<7 | 9. Without pieces the number is the worker id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "idgen/settings.h"

namespace evenkeel::idgen {

// How many worker numbers there are: 2 to the bits of the pieces without a value.
uint64_t worker_numbers(const Layout& layout);

// The worker id of a number below worker_numbers().
uint32_t worker_id_of(const Layout& layout, uint32_t number);

// Gives the piece a value. Fails with kind config when there is no such piece or the value does not fit it.
Status set_part(Layout& layout, std::string_view name, uint32_t value);

// The pieces of a worker id, high to low, each with its value. Empty for a layout without pieces.
std::vector<WorkerPart> parts_of(const Layout& layout, uint32_t worker);

// What is wrong with the pieces themselves: their sum, names given twice, values that do not fit.
std::vector<std::string> check_parts(const Layout& layout);

}  // namespace evenkeel::idgen
