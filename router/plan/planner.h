// Statement -> plan, by pure functions: no IO, no clock, no randomness.
//
//   bind         once per shape: names resolved against catalog and rules, conditions on sharding columns
//   found,
//                rewriting prepared. Cached by the session (plan cache), shared by all threads.
//   key_demands  per execution: which rows want a generated id.
//   plan         per execution: conditions evaluated with the literals or parameters at hand -> slots ->
//   texts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/value.h"
#include "base/result.h"
#include "router/catalog/catalog.h"
#include "router/plan/plan.h"
#include "router/rule/rule_set.h"
#include "router/sql/ast.h"
#include "router/sql/lexer.h"

namespace evenkeel::plan {

// What a session tells of itself, for session functions and for reading the text. Views live for the call.
struct SessionFacts {
  std::string_view database;  // current schema; empty: none
  sql::LexRules lex;          // as the text was lexed
  bool no_auto_value_on_zero = false;
  uint64_t last_insert_id = 0;
  uint64_t connection_id = 0;
  int64_t row_count = -1;
  uint64_t found_rows = 0;
  bool autocommit = true;
  std::string_view user;  // "app@127.0.0.1": USER(), CURRENT_USER()
  uint16_t connection_collation = 45;
  // character_set_client and character_set_connection are the same set; else only ASCII strings are routed
  // by.
  bool client_charset_is_connection = true;
  uint16_t warning_count = 0;  // of the last statement: @@warning_count
  uint16_t error_count = 0;    // of the last statement: @@error_count
  // The time of this statement. NOW() and its like in a write that is split are fixed to it; 0: such a write
  // is refused.
  int64_t unix_micros = 0;
  // OFFSET of a SELECT over several tables, each of which reads and sends that many rows.
  uint64_t max_offset = 1'000'000;
  size_t max_statement_bytes = 8 << 20;  // half of the instances' max_allowed_packet: bounds a unit's text
};

// The statement at hand: the text's own tokens (same shape as the bound one's) and the bound parameters.
struct Arguments {
  const sql::Tokens& tokens;
  std::span<const mysql::Value> parameters;  // empty for text without ?
  const SessionFacts& facts;
  bool binary = false;  // units keep ? and name their parameters
};

// What planning knows of a shape; immutable, shared. Opaque to others but for these questions.
class BoundStatement {
 public:
  virtual ~BoundStatement() = default;
  virtual const sql::Statement& statement() const = 0;
  // Session functions or nothing at all are the only content: the plan will be local.
  virtual bool local() const = 0;
};
using BoundPtr = std::shared_ptr<const BoundStatement>;

// Refusals: kind unsupported, message naming the clause. `tokens` are those the statement was parsed from.
Result<BoundPtr> bind(sql::StatementPtr statement, const sql::Tokens& tokens, catalog::CatalogPtr catalog,
                      rule::RuleSetPtr rules, const SessionFacts& facts);

// An id for `row` of the INSERT; `slot` set: the id must name this slot (a table sharded by another column),
// or carry this remainder of the table's gene modulus where one is configured.
struct RowDemand {
  uint32_t row = 0;
  std::optional<rule::Slot> slot;
};
struct KeyDemand {
  const rule::LogicalTable* table = nullptr;  // null: no keys wanted, none given
  std::vector<RowDemand> rows;
  // What the client itself gives for the generated column; a generator that counts must not come to it later.
  std::vector<uint64_t> explicit_ids;
  // A row's value for the generated column is an expression that only the server can work out.
  bool explicit_unknown = false;
};
Result<KeyDemand> key_demand(const BoundStatement& bound, const Arguments& arguments);

// `keys`: one per demanded row, in order.
Result<Plan> plan(const BoundStatement& bound, const Arguments& arguments, std::span<const uint64_t> keys);

// For PREPARE: the statement on one actual table (slot 0) or the default instance, every ? kept in the
// client's order, nothing drawn and no value looked at. One unit, whose column definitions (names by
// `restore`) and parameter count are what the client is told; its text is prepared and never executed. Local
// plans are as by plan(). Refusals that do not depend on values come here already.
Result<Plan> prototype(const BoundStatement& bound, const Arguments& arguments);

}  // namespace evenkeel::plan
