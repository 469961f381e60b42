#include "router/plan/planner.h"

#include <fmt/format.h>

#include "router/plan/bound.h"

namespace evenkeel::plan {
namespace {

bool is_show_like(const sql::Statement& statement) {
  return statement.kind == sql::StatementKind::show ||
         (statement.kind == sql::StatementKind::explain && statement.inner == nullptr);
}

Result<Analysis> bare_analysis(sql::StatementPtr statement, catalog::CatalogPtr catalog,
                               rule::RuleSetPtr rules) {
  Analysis analysis;
  analysis.statement = std::move(statement);
  analysis.catalog = std::move(catalog);
  analysis.rules = std::move(rules);
  return analysis;
}

const Bound& own(const BoundStatement& bound) { return static_cast<const Bound&>(bound); }

}  // namespace

BoundResult bind_any(sql::StatementPtr statement, const sql::Statement& whole, const sql::Tokens& tokens,
                     catalog::CatalogPtr catalog, rule::RuleSetPtr rules, const SessionFacts& facts) {
  if (is_show_like(*statement)) {
    EVENKEEL_ASSIGN(const Analysis names, bare_analysis(statement, catalog, rules));
    EVENKEEL_ASSIGN(auto shown, bind_show(names, tokens, facts));
    if (shown) return shown;
  }
  if (statement->inner != nullptr) {
    // The inner statement is analysed for itself.
    EVENKEEL_ASSIGN(Analysis outer, bare_analysis(statement, catalog, rules));
    return bind_explain(std::move(outer), tokens, facts);
  }
  EVENKEEL_ASSIGN(Analysis analysis,
                  analyse(std::move(statement), whole, tokens, std::move(catalog), std::move(rules), facts));
  if (!analysis.sharded()) {
    if (auto local = bind_local(analysis)) return local;
    return bind_forward(std::move(analysis), tokens, facts);
  }
  const sql::Statement& bound = *analysis.statement;
  if (bound.query != nullptr) return bind_select(std::move(analysis), tokens);
  if (bound.insert != nullptr) {
    if (analysis.uses.front().name == bound.insert->table.span) return bind_insert(std::move(analysis));
    return fail(
        unsupported(fmt::format("INSERT … SELECT from sharded table '{}' into a table that is not sharded",
                                analysis.uses.front().rule->name)));
  }
  return bind_write(std::move(analysis));
}

Result<BoundPtr> bind(sql::StatementPtr statement, const sql::Tokens& tokens, catalog::CatalogPtr catalog,
                      rule::RuleSetPtr rules, const SessionFacts& facts) {
  const sql::StatementPtr whole = statement;
  EVENKEEL_ASSIGN(auto bound, bind_any(std::move(statement), *whole, tokens, std::move(catalog),
                                       std::move(rules), facts));
  return BoundPtr(std::move(bound));
}

Result<KeyDemand> key_demand(const BoundStatement& bound, const Arguments& arguments) {
  return own(bound).key_demand(arguments);
}

Result<Plan> plan(const BoundStatement& bound, const Arguments& arguments, std::span<const uint64_t> keys) {
  return own(bound).plan(arguments, keys);
}

Result<Plan> prototype(const BoundStatement& bound, const Arguments& arguments) {
  // As text without parameters: each ? stays, and session values become literals.
  const Arguments unbound{arguments.tokens, {}, arguments.facts, false};
  return own(bound).prototype(unbound);
}

}  // namespace evenkeel::plan
