// EXPLAIN of a statement on sharded tables asks the server about one actual table; EXPLAIN ROUTE answers the
// plan's own text.
#include <fmt/format.h>

#include "router/plan/bound.h"
#include "router/plan/scope.h"

namespace evenkeel::plan {
namespace {

class Explain final : public Bound {
 public:
  Explain(Analysis analysis, std::shared_ptr<const Bound> inner)
      : Bound(std::move(analysis)), inner_(std::move(inner)) {}

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t>) const override {
    EVENKEEL_ASSIGN(Plan plan, inner_->explain(arguments));
    ExecutionUnit& unit = plan.units.front();
    const sql::Span prefix{statement().span.first, inner_->statement().span.first};
    unit.sql = fmt::format("{} {}", arguments.tokens.text_of(prefix), unit.sql);
    plan.returns_rows = true;
    plan.writes = false;
    plan.atomic = false;
    plan.backend_sets_last_insert_id = false;
    plan.calc_found_rows = false;
    plan.restore.clear();
    return plan;
  }
  Result<Plan> prototype(const Arguments& arguments) const override { return plan(arguments, {}); }

 private:
  std::shared_ptr<const Bound> inner_;
};

class ExplainRoute final : public Bound {
 public:
  ExplainRoute(Analysis analysis, std::shared_ptr<const Bound> inner)
      : Bound(std::move(analysis)), inner_(std::move(inner)) {}

  bool local() const override { return true; }

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t>) const override {
    EVENKEEL_ASSIGN(std::string text, route_text(arguments));
    Plan plan;
    plan.kind = PlanKind::local;
    plan.returns_rows = true;
    plan.local_columns = {"route"};
    plan.local_row = {mysql::Value::string(std::move(text))};
    return plan;
  }
  Result<Plan> prototype(const Arguments& arguments) const override { return plan(arguments, {}); }

 private:
  // Keys are not drawn for a question: rows that want one are told instead of their slots.
  Result<std::string> route_text(const Arguments& arguments) const {
    EVENKEEL_ASSIGN(const KeyDemand demand, inner_->key_demand(arguments));
    if (demand.table == nullptr) {
      EVENKEEL_ASSIGN(const Plan plan, inner_->plan(arguments, {}));
      return to_text(plan, *analysis_.rules);
    }
    std::string out = fmt::format("plan: insert, {}\n", to_string(RouteReason::generated_key));
    out += fmt::format("keys: {} of generator '{}' for {}.{}\n", demand.rows.size(), demand.table->generator,
                       demand.table->schema, demand.table->generated_column);
    for (const RowDemand& row : demand.rows) {
      if (row.slot) out += fmt::format("row {}: an id of slot {}\n", row.row + 1, *row.slot);
    }
    return out;
  }

  std::shared_ptr<const Bound> inner_;
};

bool executes(const sql::Tokens& tokens, sql::Span prefix) {
  for (uint32_t i = prefix.first; i < prefix.last; ++i) {
    if (same_name(tokens.text_of(i), "analyze")) return true;
  }
  return false;
}

}  // namespace

BoundResult bind_explain(Analysis analysis, const sql::Tokens& tokens, const SessionFacts& facts) {
  const sql::StatementPtr outer = analysis.statement;
  // Kept alive by the outer statement's arena.
  const sql::StatementPtr inner(outer, outer->inner);
  EVENKEEL_ASSIGN(auto bound, bind_any(inner, *outer, tokens, analysis.catalog, analysis.rules, facts));
  if (outer->kind == sql::StatementKind::explain_route) {
    return std::make_shared<const ExplainRoute>(std::move(analysis), std::move(bound));
  }
  if (!bound->analysis().sharded()) {
    Analysis whole = bound->analysis();
    whole.statement = outer;
    return bind_forward(std::move(whole), tokens, facts);
  }
  if (inner->query == nullptr && executes(tokens, {outer->span.first, inner->span.first})) {
    return fail(unsupported("EXPLAIN ANALYZE of a write to a sharded table"));
  }
  return std::make_shared<const Explain>(std::move(analysis), std::move(bound));
}

}  // namespace evenkeel::plan
