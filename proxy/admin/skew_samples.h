// What /metrics says of how even the tables are, and of what is steered.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/metrics/page.h"
#include "proxy/skew/figures.h"
#include "router/rule/rule_set.h"

namespace evenkeel::admin {

// The number of series must not grow with the number of actual tables: what is told by slot is told of groups
// of consecutive slots, of one size within a logical table. At most so many of one logical table, and, where
// there are many logical tables, at most so many (but one each) of all together.
inline constexpr uint32_t slot_groups_of_table = 32;
inline constexpr uint32_t slot_groups_of_all = 2'048;
// Proxies whose map's version is told, of one logical table.
inline constexpr size_t proxies_told = 64;

// Slots of one group of a logical table of so many slots, one of `tables` logical tables.
uint32_t slots_of_group(uint32_t slots, size_t tables);

// The samples of docs/metrics.md that begin with evenkeel_table, evenkeel_instance, evenkeel_slot_group,
// evenkeel_skew and evenkeel_steering, for every sharded table of `rules`.
void add_skew_samples(metrics::Page& page, const rule::RuleSet& rules, const skew::Figures& figures);

}  // namespace evenkeel::admin
