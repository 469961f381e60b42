// Statements without a sharded table: to the default instance as they are, but for session functions.
#include <algorithm>
#include <fmt/format.h>

#include "router/plan/bound.h"
#include "router/plan/constants.h"
#include "router/sql/literal.h"

namespace evenkeel::plan {
namespace {

using sql::StatementKind;

bool has_into(const sql::Query& query) {
  return !query.into_span.empty() || (query.block != nullptr && !query.block->into_span.empty());
}

bool writes(const sql::Statement& statement) {
  switch (statement.kind) {
    case StatementKind::insert:
    case StatementKind::update:
    case StatementKind::delete_:
    case StatementKind::ddl:
    case StatementKind::call:
    case StatementKind::load_data:
      return true;
    case StatementKind::select:
      return statement.query != nullptr && statement.query->lock != sql::LockClause::none;
    default:
      return false;
  }
}

bool returns_rows(const sql::Statement& statement) {
  switch (statement.kind) {
    case StatementKind::select:
      return statement.query == nullptr || !has_into(*statement.query);
    case StatementKind::insert:
      return !statement.insert->returning_span.empty();
    case StatementKind::delete_:
      return !statement.del->returning_span.empty();
    case StatementKind::show:
    case StatementKind::explain:
    case StatementKind::analyze:
    case StatementKind::call:
    case StatementKind::execute:
      return true;
    default:
      return false;
  }
}

std::string pin_reason(const Analysis& analysis) {
  const sql::Statement& statement = *analysis.statement;
  if (statement.temporary) return "temporary table";
  if (analysis.assigns_user_variable) return "user variable assigned";
  if (analysis.leaves_state) return "lock or sequence function";
  switch (statement.kind) {
    case StatementKind::select:
      if (statement.query != nullptr && has_into(*statement.query)) return "SELECT … INTO";
      return {};
    case StatementKind::lock_tables:
      return "LOCK TABLES";
    case StatementKind::handler:
      return "HANDLER";
    case StatementKind::prepare:
    case StatementKind::execute:
    case StatementKind::deallocate:
      return "PREPARE in SQL";
    case StatementKind::xa:
      return "XA";
    case StatementKind::flush:
      return "FLUSH";
    case StatementKind::call:
      return "CALL";
    case StatementKind::set:
      return "SET";
    default:
      return {};
  }
}

class Forward final : public Bound {
 public:
  using Bound::Bound;

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t>) const override {
    return write(arguments);
  }
  Result<Plan> prototype(const Arguments& arguments) const override { return write(arguments); }

 private:
  Result<Plan> write(const Arguments& arguments) const {
    Plan plan;
    plan.kind = PlanKind::forward;
    plan.reason = RouteReason::not_sharded;
    plan.writes = writes(statement());
    plan.returns_rows = returns_rows(statement());
    plan.pin_reason = pin_reason(analysis_);
    plan.hidden_effects = statement().kind == StatementKind::call ||
                          statement().kind == StatementKind::execute ||
                          statement().kind == StatementKind::prepare;
    plan.changes_catalog = statement().kind == StatementKind::ddl;
    plan.calc_found_rows = statement().query != nullptr && statement().query->block != nullptr &&
                           statement().query->block->calc_found_rows;
    plan.backend_sets_last_insert_id = analysis_.last_insert_id_of != nullptr;
    Rewrite rewrite(arguments, analysis_.parameter_tokens);
    add_edits(analysis_, arguments, NameStyle::with_alias, rewrite);
    rewrite.seal();
    Piece piece;
    rewrite.write_statement(statement().span, piece);
    plan.units.push_back({analysis_.home, std::move(piece.text), std::move(piece.parameters), {}, {}});
    plan.extra_parameters = rewrite.take_extra_parameters();
    return plan;
  }
};

// LAST_INSERT_ID(5): the literal argument.
const sql::Expr* set_argument(const sql::Expr& expr) {
  return is_last_insert_id_of(expr) && expr.args.size() == 1 && is_constant(*expr.args[0]) ? expr.args[0]
                                                                                           : nullptr;
}

class Local final : public Bound {
 public:
  using Bound::Bound;
  bool local() const override { return true; }

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t>) const override {
    Plan plan;
    plan.kind = PlanKind::local;
    plan.returns_rows = true;
    for (const sql::SelectItem& item : statement().query->block->items) {
      plan.local_columns.emplace_back(item.alias ? item.alias.text : arguments.tokens.text_of(item.span));
      const sql::Expr& expr = bare(*item.expr);
      const sql::Expr* argument = set_argument(expr);
      const auto known = constant(argument != nullptr ? *argument : expr, arguments);
      mysql::Value value = known ? known->value : mysql::Value::null();
      if (argument != nullptr && !value.is_null()) {
        if (!value.is_integer()) {
          return fail(
              unsupported("LAST_INSERT_ID(expr) in a SELECT with another argument than a whole number"));
        }
        plan.set_last_insert_id = value.as_uint64();
        value = mysql::Value::uint64(value.as_uint64());
      }
      plan.local_row.push_back(std::move(value));
    }
    return plan;
  }
  Result<Plan> prototype(const Arguments& arguments) const override { return plan(arguments, {}); }
};

bool is_plain_select(const sql::Query& query) {
  if (query.block == nullptr || !query.with.empty() || query.limit != nullptr || !query.order_by.empty() ||
      query.lock != sql::LockClause::none || query.parenthesised) {
    return false;
  }
  const sql::SelectBlock& block = *query.block;
  return block.from == nullptr && block.where == nullptr && block.group_by.empty() &&
         block.having == nullptr && block.window_span.empty() && query.into_span.empty() &&
         block.into_span.empty() && block.options.empty() && !block.is_values && !block.distinct &&
         !block.calc_found_rows;
}

}  // namespace

BoundResult bind_forward(Analysis analysis, const sql::Tokens&, const SessionFacts&) {
  const sql::Statement& statement = *analysis.statement;
  // One instance would prepare its part, the others would have committed theirs.
  if (statement.kind == StatementKind::xa)
    return fail(unsupported("XA: the branches of a transaction are the proxy's own; use BEGIN and COMMIT"));
  // Only the server could compute it, and its result set does not tell what it became.
  if (analysis.last_insert_id_of != nullptr && statement.kind != StatementKind::insert &&
      statement.kind != StatementKind::update) {
    return fail(unsupported("LAST_INSERT_ID(expr) other than in UPDATE, INSERT or alone in a SELECT"));
  }
  return std::make_shared<const Forward>(std::move(analysis));
}

std::shared_ptr<const Bound> bind_local(const Analysis& analysis) {
  const sql::Statement& statement = *analysis.statement;
  if (statement.kind != StatementKind::select || statement.query == nullptr ||
      !is_plain_select(*statement.query)) {
    return nullptr;
  }
  bool any_call = false;
  for (const sql::SelectItem& item : statement.query->block->items) {
    const sql::Expr& expr = bare(*item.expr);
    const bool call = session_function(expr).has_value() || set_argument(expr) != nullptr;
    if (!call && !sql::is_literal(expr)) return nullptr;
    any_call |= call;
  }
  return any_call ? std::make_shared<const Local>(analysis) : nullptr;
}

}  // namespace evenkeel::plan
