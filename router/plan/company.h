// Whether the tables of a statement can be served together: the refusals that need no values.
#pragma once

#include <cstdint>
#include <set>

#include "base/result.h"
#include "router/plan/analysis.h"

namespace evenkeel::plan {

// Every name that the parser saw (`whole`) must have been met on the walk (`met`: their tokens) when it is a
// sharded table; and all schemas named must live on one instance, which becomes the analysis' home.
Status check_names(Analysis& analysis, const sql::Statement& whole, const SessionFacts& facts,
                   const std::set<uint32_t>& met);

// What a statement on sharded tables may name beside them: none but tables bound to them.
Status check_company(const Analysis& analysis, bool opaque_table);

}  // namespace evenkeel::plan
