// What the planner's tests share: a world (rules and catalog) read from text, and one statement planned in
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "router/catalog/catalog.h"
#include "router/plan/planner.h"
#include "router/rule/rule_set.h"

namespace evenkeel::plan::testing {

struct World {
  rule::RuleSetPtr rules;
  catalog::CatalogPtr catalog;
};

// Lines, in any order:
//   instances ds0 ds1
//   schema shop ds0
//   table orders key=id generated=id algorithm=mod databases=4 tables=8 binding=g unique_scope=table
//   CREATE TABLE orders ( … )        one column or key a line, up to `);`
// Actual tables are `<schema>_<database>`.`<table>_<number>`, laid out contiguously over all instances.
Result<World> read_world(std::string_view text);

struct Question {
  std::string sql;
  std::vector<mysql::Value> parameters;
  bool binary = false;
  bool prototype = false;
  SessionFacts facts;
  uint64_t first_key = 1000;  // keys drawn: consecutive, or the next one of the demanded slot
};

Result<Plan> answer(const World& world, const Question& question);
// The plan's text, or "refused: …".
std::string answer_text(const World& world, const Question& question);

// 12, -3, 1.5, 1e0, 'text', x'00', NULL, separated by commas.
std::vector<mysql::Value> read_values(std::string_view text);

}  // namespace evenkeel::plan::testing
