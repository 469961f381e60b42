// UPDATE and DELETE: one slot passes through; several slots get one statement an actual table, all or none.
#include <algorithm>
#include <fmt/format.h>

#include "router/plan/bound.h"
#include "router/plan/constants.h"
#include "router/plan/insert_shape.h"
#include "router/plan/route.h"
#include "router/plan/scope.h"

namespace evenkeel::plan {
namespace {

// What UPDATE gives the sharding column.
struct KeyAssignment {
  uint32_t use = 0;
  const sql::Expr* value = nullptr;
};

class Write final : public Bound {
 public:
  Write(Analysis analysis, std::vector<KeyAssignment> assignments)
      : Bound(std::move(analysis)), assignments_(std::move(assignments)) {}

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t>) const override {
    EVENKEEL_ASSIGN(const Route found, route(analysis_, arguments));
    EVENKEEL_TRY(check_assignments(arguments, found));
    if (!found.one()) EVENKEEL_TRY(check_several(arguments));
    return write(arguments, found);
  }

  Result<Plan> prototype(const Arguments& arguments) const override {
    return write(arguments, Route{RouteReason::no_condition, {0}, false});
  }

  Result<Plan> explain(const Arguments& arguments) const override {
    EVENKEEL_ASSIGN(Route found, route(analysis_, arguments));
    found.slots.resize(1);
    return write(arguments, found);
  }

 private:
  bool is_update() const { return statement().update != nullptr; }
  const rule::LogicalTable& rule() const { return *analysis_.uses.front().rule; }

  // A row may keep its sharding value, or get one of the same slot when it is known which slot that is.
  Status check_assignments(const Arguments& arguments, const Route& found) const {
    for (const KeyAssignment& assignment : assignments_) {
      const TableUse& use = analysis_.uses[assignment.use];
      const auto known = constant(*assignment.value, arguments);
      if (known && found.one() && !found.impossible) {
        EVENKEEL_ASSIGN(const mysql::Value value,
                        stored_key(*use.key, known->value, text_facts(*known, arguments.facts)));
        EVENKEEL_ASSIGN(const rule::Slot slot, use.rule->algorithm->slot_of(value));
        if (slot == found.slots.front()) continue;
      }
      return fail(
          unsupported(fmt::format("UPDATE of sharding column '{}' of '{}': the row would have to move to "
                                  "another table; delete and insert it",
                                  use.rule->key_column, use.rule->name)));
    }
    return {};
  }

  Status check_several(const Arguments& arguments) const {
    const char* verb = is_update() ? "UPDATE" : "DELETE";
    const auto refuse = [&](std::string_view what) {
      return fail(unsupported(fmt::format("{} {} over several tables", verb, what)));
    };
    const bool multi = is_update() ? statement().update->multi_table : statement().del->multi_table;
    if (multi) return refuse("of joined tables");
    const auto* limit = is_update() ? statement().update->limit : statement().del->limit;
    if (limit != nullptr) return refuse("with LIMIT");
    const auto order_by = is_update() ? statement().update->order_by : statement().del->order_by;
    if (!order_by.empty()) return refuse("with ORDER BY");
    if (!is_update() && !statement().del->returning_span.empty()) return refuse("with RETURNING");
    if (analysis_.last_insert_id_of != nullptr) return refuse("with LAST_INSERT_ID(expr)");
    return check_time_calls(analysis_, arguments);
  }

  // DELETE of one table takes no alias on older servers, so its columns are qualified by the actual name.
  NameStyle style() const {
    return is_update() || statement().del->multi_table ? NameStyle::with_alias : NameStyle::bare;
  }

  Result<Plan> write(const Arguments& arguments, const Route& found) const {
    EVENKEEL_ASSIGN(const ListCuts cuts, ListCuts::of(analysis_, arguments, found));
    Plan plan;
    plan.kind = found.impossible ? PlanKind::none : found.one() ? PlanKind::one_slot : PlanKind::write;
    plan.reason = found.reason;
    plan.writes = true;
    plan.written = &rule();
    if (!is_update())
      plan.row_change = statement().del->multi_table ? RowChange::unknown : RowChange::deleted;
    plan.atomic = !found.one();
    plan.returns_rows = !is_update() && !statement().del->returning_span.empty();
    plan.backend_sets_last_insert_id = analysis_.last_insert_id_of != nullptr;
    Rewrite rewrite(arguments, analysis_.parameter_tokens);
    add_edits(analysis_, arguments, style(), rewrite);
    if (!found.one()) fix_time(analysis_, arguments, rewrite);
    rewrite.seal();
    for (const rule::Slot slot : found.slots) {
      rewrite.point_at(slot);
      Piece piece;
      if (found.one()) {
        rewrite.write_statement(statement().span, piece);
      } else {
        rewrite.write(statement().span, cuts.edits(slot, arguments, analysis_.parameter_tokens), piece);
      }
      ExecutionUnit unit{
          rule().slots[slot].instance, std::move(piece.text), std::move(piece.parameters), {}, {}};
      // Its targets are aliases, which no schema may stand before and no server looks up without one.
      if (!is_update() && statement().del->multi_table) unit.database = rule().slots[slot].database;
      if (!found.impossible) unit.slots = {slot};
      plan.units.push_back(std::move(unit));
    }
    std::stable_sort(plan.units.begin(), plan.units.end(),
                     [](const ExecutionUnit& a, const ExecutionUnit& b) { return a.instance < b.instance; });
    plan.extra_parameters = rewrite.take_extra_parameters();
    if (plan.returns_rows) plan.restore = restore_names(analysis_, found.slots.front());
    return plan;
  }

  std::vector<KeyAssignment> assignments_;
};

bool is_column_of(const sql::Identifier& table, const sql::Identifier& column, const TableUse& use,
                  std::string_view name) {
  return same_name(column.text, name) && (!table || same_name(table.text, use.shown));
}

// SET x = x.
bool is_itself(const sql::Expr& value, const Analysis& analysis, const TableUse& use, std::string_view name) {
  return value.kind == sql::ExprKind::column && is_column_of(value.table, value.column, use, name) &&
         (value.table || analysis.uses.size() == 1);
}

// A value that carries a gene stays, even where another one would carry the same.
Status check_gene_kept(const sql::Assignment& assignment, const Analysis& analysis, const TableUse& use) {
  if (use.gene_key == nullptr || use.nested) return {};
  const std::string_view name = use.gene_key->name;
  if (!is_column_of(assignment.table, assignment.column, use, name)) return {};
  if (assignment.value != nullptr && is_itself(bare(*assignment.value), analysis, use, name)) return {};
  return fail(unsupported(
      fmt::format("UPDATE of '{}' of '{}', whose value names the table of the row", name, use.rule->name)));
}

}  // namespace

BoundResult bind_write(Analysis analysis) {
  const sql::Statement& statement = *analysis.statement;
  std::vector<KeyAssignment> assignments;
  for (const TableUse& use : analysis.uses) {
    if (!use.table->has_triggers) continue;
    return fail(unsupported(fmt::format("{} by way of triggers on sharded table '{}'",
                                        statement.update != nullptr ? "UPDATE" : "DELETE", use.rule->name)));
  }
  if (statement.update != nullptr) {
    for (const sql::Assignment& assignment : statement.update->set) {
      for (uint32_t i = 0; i < analysis.uses.size(); ++i) {
        const TableUse& use = analysis.uses[i];
        EVENKEEL_TRY(check_gene_kept(assignment, analysis, use));
        const std::string_view key = use.rule->key_column;
        if (use.nested || !is_column_of(assignment.table, assignment.column, use, key)) continue;
        const sql::Expr* value = assignment.value == nullptr ? nullptr : &bare(*assignment.value);
        if (value == nullptr) return fail(unsupported("an assignment that is not understood"));
        if (!is_itself(*value, analysis, use, key)) assignments.push_back({i, value});
      }
    }
  }
  return std::make_shared<const Write>(std::move(analysis), std::move(assignments));
}

}  // namespace evenkeel::plan
