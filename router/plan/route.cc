#include "router/plan/route.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "router/plan/constants.h"

namespace evenkeel::plan {
namespace {

KeyReading by_key(const TableUse& use, const Arguments& arguments) {
  return {*use.key, *use.rule->algorithm, arguments};
}

// Only where `use` has a gene_key.
KeyReading by_gene(const TableUse& use, const Arguments& arguments) {
  return {*use.gene_key, *use.rule->gene_algorithm, arguments};
}

Result<SlotSet> own_slots(const TableUse& use, const Arguments& arguments) {
  EVENKEEL_ASSIGN(SlotSet set, slots_of(use.condition, by_key(use, arguments)));
  if (use.gene_key == nullptr) return set;
  EVENKEEL_ASSIGN(const SlotSet genes, slots_of(use.gene_condition, by_gene(use, arguments)));
  set.intersect(genes);
  return set;
}

bool has_equality(const Condition& condition) {
  return condition.kind == Condition::Kind::equal ||
         (condition.kind == Condition::Kind::all_of &&
          std::any_of(condition.parts.begin(), condition.parts.end(), has_equality));
}

bool has_equality(const TableUse& use) {
  return has_equality(use.condition) || has_equality(use.gene_condition);
}

Route route_of(const TableUse& use, SlotSet set) {
  Route route;
  if (set.all) {
    route.reason = set.inexact ? RouteReason::not_exact : RouteReason::no_condition;
    route.slots.resize(use.rule->slot_count());
    std::iota(route.slots.begin(), route.slots.end(), rule::Slot{0});
    return route;
  }
  route.slots = std::move(set.slots);
  if (route.slots.empty()) {
    route.reason = RouteReason::impossible;
    route.impossible = true;
    route.slots.push_back(0);
  } else {
    route.reason = has_equality(use) ? RouteReason::key_equality : RouteReason::key_list;
  }
  return route;
}

Error not_together(const Analysis& analysis, const TableUse& use, size_t slots) {
  if (use.nested) {
    return unsupported(
        fmt::format("sharded table '{}' in a subquery, derived table, WITH or UNION that reads {} of its "
                    "tables: give '{}' one "
                    "value there",
                    use.rule->name, slots, use.rule->key_column));
  }
  const auto& uses = analysis.uses;
  const auto nested =
      std::find_if(uses.begin(), uses.end(), [](const TableUse& other) { return other.nested; });
  return unsupported(fmt::format(
      "{} of sharded table '{}' over {} of its tables: give '{}' one value, and join "
      "bound tables by their sharding columns",
      nested == uses.end() ? "JOIN" : "JOIN or subquery", use.rule->name, slots, use.rule->key_column));
}

// The table of a join whose rows tell where the others' rows are: each other table's sharding column equals
// its own in every row that counts, so that the join of all is the joins of the slots. Nullopt when there is
// none.
std::optional<uint32_t> root_of(const std::vector<TableUse>& uses) {
  if (std::any_of(uses.begin(), uses.end(), [](const TableUse& use) { return use.nested; }))
    return std::nullopt;
  for (uint32_t root = 0; root < uses.size(); ++root) {
    bool tied = true;
    for (uint32_t i = 0; i < uses.size(); ++i) {
      const auto& equal = uses[i].equal;
      tied = tied && (i == root || std::find(equal.begin(), equal.end(), root) != equal.end());
    }
    if (tied) return root;
  }
  return std::nullopt;
}

Result<Route> route_together(const Analysis& analysis, const Arguments& arguments) {
  std::vector<SlotSet> own;
  for (const TableUse& use : analysis.uses) {
    EVENKEEL_ASSIGN(SlotSet set, own_slots(use, arguments));
    own.push_back(std::move(set));
  }
  std::optional<Route> common;
  std::optional<Route> impossible;
  for (size_t i = 0; i < own.size(); ++i) {
    const TableUse& use = analysis.uses[i];
    SlotSet set = own[i];
    for (const uint32_t other : use.equal) set.intersect(own[other]);
    Route route = route_of(use, std::move(set));
    if (route.impossible) {
      // No row of this table counts, whichever slot is read.
      impossible = std::move(route);
      continue;
    }
    if (!route.one()) {
      const auto root = root_of(analysis.uses);
      if (!root) return fail(not_together(analysis, use, route.slots.size()));
      SlotSet of_root = own[*root];
      for (const uint32_t other : analysis.uses[*root].equal) of_root.intersect(own[other]);
      return route_of(analysis.uses[*root], std::move(of_root));
    }
    if (common && common->slots != route.slots) {
      return fail(
          unsupported(fmt::format("sharded tables in one statement that lie in different slots ({} and {})",
                                  common->slots.front(), route.slots.front())));
    }
    if (!common || has_equality(use)) common = std::move(route);
  }
  return common ? std::move(*common) : std::move(*impossible);
}

}  // namespace

Result<Route> route(const Analysis& analysis, const Arguments& arguments) {
  if (analysis.uses.size() > 1) return route_together(analysis, arguments);
  const TableUse& use = analysis.uses.front();
  EVENKEEL_ASSIGN(SlotSet set, own_slots(use, arguments));
  Route route = route_of(use, std::move(set));
  if (use.nested && !route.one()) return fail(not_together(analysis, use, route.slots.size()));
  return route;
}

Result<ListCuts> ListCuts::of(const Analysis& analysis, const Arguments& arguments, const Route& route) {
  ListCuts cuts;
  if (route.one() || analysis.uses.size() != 1) return cuts;
  const TableUse& use = analysis.uses.front();
  EVENKEEL_TRY(cuts.add(use.condition, by_key(use, arguments)));
  if (use.gene_key != nullptr) EVENKEEL_TRY(cuts.add(use.gene_condition, by_gene(use, arguments)));
  std::sort(cuts.lists_.begin(), cuts.lists_.end(),
            [](const List& a, const List& b) { return a.expr->span.first < b.expr->span.first; });
  return cuts;
}

Status ListCuts::add(const Condition& condition, const KeyReading& reading) {
  std::vector<const sql::Expr*> lists;
  collect_lists(condition, lists);
  for (const sql::Expr* list : lists) {
    const auto values = list->args.subspan(1);
    const bool has_calls = std::any_of(values.begin(), values.end(), [](const sql::Expr* value) {
      return session_function(bare(*value)).has_value();
    });
    if (has_calls) continue;  // those have edits of their own
    EVENKEEL_ASSIGN(auto slots, slots_of_list(*list, reading));
    if (!slots.empty()) lists_.push_back({list, std::move(slots)});
  }
  return {};
}

std::vector<Rewrite::Edit> ListCuts::edits(rule::Slot slot, const Arguments& arguments,
                                           std::span<const uint32_t> parameter_tokens) const {
  std::vector<Rewrite::Edit> edits;
  const Rewrite verbatim(arguments, parameter_tokens);
  for (const List& list : lists_) {
    const auto values = list.expr->args.subspan(1);
    Piece kept;
    size_t count = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (list.slots[i] != slot) continue;
      if (count++ != 0) kept.text += ", ";
      verbatim.write(values[i]->span, kept);
    }
    // A list that this slot has no part in (under OR) stays: it cannot be empty.
    if (count == 0 || count == values.size()) continue;
    edits.push_back({{values.front()->span.first, values.back()->span.last},
                     std::move(kept),
                     nullptr,
                     NameStyle::bare,
                     {}});
  }
  return edits;
}

std::vector<NameRestore> restore_names(const Analysis& analysis, rule::Slot slot) {
  std::vector<NameRestore> names;
  for (const TableUse& use : analysis.uses) {
    const auto known = std::find_if(names.begin(), names.end(),
                                    [&](const NameRestore& name) { return name.table == use.rule->name; });
    if (known != names.end()) continue;
    names.push_back(
        {use.rule->schema, use.rule->name, {use.rule->slots[slot].table}, use.rule->slots[slot].database});
  }
  return names;
}

}  // namespace evenkeel::plan
