// What binding finds in a statement: which tables it names, which of them are sharded, what its conditions
// say of their sharding columns, and the places where its text must change. A value, immutable after
// `analyse`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/catalog/catalog.h"
#include "router/plan/condition.h"
#include "router/plan/planner.h"
#include "router/plan/rewrite.h"
#include "router/plan/session_functions.h"
#include "router/rule/rule_set.h"
#include "router/sql/ast.h"

namespace evenkeel::plan {

// One place where the statement uses a sharded table.
struct TableUse {
  const rule::LogicalTable* rule = nullptr;
  const catalog::Table* table = nullptr;
  const catalog::Column* key = nullptr;  // the sharding column
  // A generated key whose gene names the slot too (gene.routes); null otherwise.
  const catalog::Column* gene_key = nullptr;
  sql::Span name;          // [schema.]table in the text
  std::string_view shown;  // by which its columns are qualified: the alias, or the table's name
  bool has_alias = false;
  // In a subquery, a derived table, a common table expression or a branch of a set operation.
  bool nested = false;
  Condition condition{Condition::Kind::all_of, sql::Op::none, false, nullptr, {}, {}};
  Condition gene_condition = condition;
  // Uses whose sharding column equals this one's in every row that counts: their slots bound these. Closed
  // under reachability.
  std::vector<uint32_t> equal;
};

// A column's qualifier that names a sharded table otherwise than by alias.
struct Qualifier {
  uint32_t use = 0;
  sql::Span with_schema;  // "shop." of shop.orders.id; empty when there is none
  sql::Span table;        // "orders" or "shop.orders"; empty for an alias
};

struct SessionCall {
  const sql::Expr* expr = nullptr;
  SessionFunction function = SessionFunction::last_insert_id;
  // Stands in a select list, GROUP BY or ORDER BY, where a parameter would have no type.
  bool literal_only = false;
  bool orders = false;  // stands in GROUP BY or ORDER BY
};

struct Analysis {
  sql::StatementPtr statement;
  catalog::CatalogPtr catalog;
  rule::RuleSetPtr rules;

  std::vector<uint32_t> parameter_tokens;  // every ? of the statement
  std::vector<TableUse> uses;
  std::vector<std::string> others;  // tables that are not sharded
  std::vector<Qualifier> qualifiers;
  std::vector<SessionCall> calls;
  // Select items without an alias whose text changes: their result columns keep the client's name.
  std::vector<const sql::SelectItem*> named_items;
  std::vector<const sql::Expr*> time_calls;      // NOW() and its like
  const sql::Expr* last_insert_id_of = nullptr;  // LAST_INSERT_ID(expr)
  const sql::Expr* user_variable = nullptr;      // @x read or assigned
  bool assigns_user_variable = false;
  bool leaves_state = false;  // GET_LOCK and its like
  // DELETE targets by name: "shop." to be taken away.
  std::vector<sql::Span> target_schemas;

  rule::InstanceId home = 0;  // the default instance of the schema that the statement is about

  bool sharded() const { return !uses.empty(); }
};

// Errors: unsupported, naming the clause, where a sharded table stands in a place that is not understood or
// beside tables that are elsewhere; no database selected is left to the server. `whole`: where the parser
// listed the names and calls: the statement itself, or the EXPLAIN that holds it.
Result<Analysis> analyse(sql::StatementPtr statement, const sql::Statement& whole, const sql::Tokens& tokens,
                         catalog::CatalogPtr catalog, rule::RuleSetPtr rules, const SessionFacts& facts);

// The edits that every unit of the statement wants: session values, column names, qualifiers, table names.
// `style`: how the names of sharded tables without an alias are written.
void add_edits(const Analysis& analysis, const Arguments& arguments, NameStyle style, Rewrite& rewrite);

}  // namespace evenkeel::plan
