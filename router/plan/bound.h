// What the kinds of statements share behind `BoundStatement`: one class each, made by the functions below.
#pragma once

#include <memory>
#include <utility>

#include "router/plan/analysis.h"
#include "router/plan/planner.h"

namespace evenkeel::plan {

class Bound : public BoundStatement {
 public:
  explicit Bound(Analysis analysis) : analysis_(std::move(analysis)) {}

  const sql::Statement& statement() const override { return *analysis_.statement; }
  bool local() const override { return false; }

  virtual Result<KeyDemand> key_demand(const Arguments&) const { return KeyDemand{}; }
  virtual Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t> keys) const = 0;
  virtual Result<Plan> prototype(const Arguments& arguments) const = 0;
  // For EXPLAIN <statement>: one unit that shows how an actual table is read or written, never with effects.
  // `prefix`: EXPLAIN and its options.
  virtual Result<Plan> explain(const Arguments& arguments) const { return plan(arguments, {}); }

  const Analysis& analysis() const { return analysis_; }

 protected:
  Analysis analysis_;
};

using BoundResult = Result<std::shared_ptr<const Bound>>;

// Everything without a sharded table.
BoundResult bind_forward(Analysis analysis, const sql::Tokens& tokens, const SessionFacts& facts);
// SELECT … of nothing but session functions and literals; null when it is another.
std::shared_ptr<const Bound> bind_local(const Analysis& analysis);
BoundResult bind_select(Analysis analysis, const sql::Tokens& tokens);
BoundResult bind_insert(Analysis analysis);
BoundResult bind_write(Analysis analysis);
// SHOW and DESCRIBE: null when the statement has nothing to do with sharded tables.
BoundResult bind_show(const Analysis& analysis, const sql::Tokens& tokens, const SessionFacts& facts);
// EXPLAIN and EXPLAIN ROUTE of a statement.
BoundResult bind_explain(Analysis analysis, const sql::Tokens& tokens, const SessionFacts& facts);
// Any statement; `whole` as for analyse().
BoundResult bind_any(sql::StatementPtr statement, const sql::Statement& whole, const sql::Tokens& tokens,
                     catalog::CatalogPtr catalog, rule::RuleSetPtr rules, const SessionFacts& facts);

}  // namespace evenkeel::plan
