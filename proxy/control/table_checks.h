// What the columns and keys of a logical table must be for its rules to hold.
#pragma once

#include <string>
#include <vector>

#include "proxy/control/describe.h"
#include "proxy/control/finding.h"
#include "router/rule/rule_set.h"

namespace evenkeel::control {

// `where` names the actual table that was read: "shop_00.orders_000 on ds0". Pure.
void check_table(const rule::LogicalTable& rules, const Description& found, const std::string& where,
                 std::vector<Finding>& findings);

}  // namespace evenkeel::control
