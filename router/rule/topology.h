// From the description of a layout to the actual table of every slot.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "router/rule/rule_set.h"
#include "router/rule/settings.h"

namespace evenkeel::rule {

// By slot number. `instances` are all instances of the configuration, in order. Errors say what is impossible
// and which numbers would do; tables that two slots share are not looked for here.
Result<std::vector<ActualTable>> expand(const TableSettings& settings,
                                        std::span<const std::string> instances);

}  // namespace evenkeel::rule
