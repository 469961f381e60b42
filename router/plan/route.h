// From conditions to slots.
#pragma once

#include <vector>

#include "router/plan/analysis.h"

namespace evenkeel::plan {

struct Route {
  RouteReason reason = RouteReason::no_condition;
  // Ascending. Impossible conditions give one slot too: the server answers that nothing matches.
  std::vector<rule::Slot> slots;
  bool impossible = false;

  bool one() const { return slots.size() == 1; }
};

// Errors: tables that must be read together (joins, subqueries) and do not lie in one slot.
Result<Route> route(const Analysis& analysis, const Arguments& arguments);

// IN lists of the sharding column cut down to what a slot can hold. Made once an execution.
class ListCuts {
 public:
  // Nothing is cut when `route` has one slot.
  static Result<ListCuts> of(const Analysis& analysis, const Arguments& arguments, const Route& route);
  // Edits for the text of `slot`, sorted.
  std::vector<Rewrite::Edit> edits(rule::Slot slot, const Arguments& arguments,
                                   std::span<const uint32_t> parameter_tokens) const;

 private:
  struct List {
    const sql::Expr* expr = nullptr;
    std::vector<rule::Slot> slots;  // of each value
  };
  Status add(const Condition& condition, const KeyReading& reading);

  std::vector<List> lists_;
};

// Column definitions of `use`'s actual table in `slot` go back to logical names.
std::vector<NameRestore> restore_names(const Analysis& analysis, rule::Slot slot);

}  // namespace evenkeel::plan
