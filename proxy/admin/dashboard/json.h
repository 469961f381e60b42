// What docs/http-api.md says, as JSON: figures out, orders in. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/mysql/result_table.h"
#include "base/result.h"
#include "proxy/skew/figures.h"
#include "router/rule/rule_set.h"

namespace evenkeel::admin {

// {"columns": […], "rows": [[…]]}
nlohmann::json table_of_values(const mysql::ResultTable& table);
nlohmann::json layout_json(const rule::RuleSet& rules, const rule::LogicalTable& table);
nlohmann::json figures_json(const skew::TableFigures& figures);
// One element of GET /tables.
nlohmann::json summary_json(const skew::TableFigures& figures);
nlohmann::json history_json(std::span<const skew::SkewPoint> points);
nlohmann::json dry_run_json(const skew::DryRunFigures& figures, uint64_t version);

struct OrderRequest {
  skew::SteerOrder order;
  std::optional<uint64_t> if_version;
};

// Errors name the field, what was found and what is allowed. Unknown fields are errors.
Result<OrderRequest> order_of(std::string_view body);

}  // namespace evenkeel::admin
