// A plan: what to send where, and how the answers combine. A value; prints itself (EXPLAIN ROUTE and the
// golden files are that text).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mysql/value.h"
#include "router/merge/spec.h"
#include "router/rule/rule_set.h"
#include "router/sql/ast.h"

namespace evenkeel::plan {

// In text results: the cell of this column whose text begins with `from` begins with `to` instead (SHOW
// CREATE TABLE and SHOW INDEX print actual table names).
struct CellRestore {
  uint16_t column = 0;
  std::string from;
  std::string to;
};

enum class PlanKind : uint8_t {
  local,     // answered by the proxy: `local_columns`, `local_row`
  forward,   // the statement as it is (session functions substituted) to the schema's default instance
  one_slot,  // one actual table (or bound tables of one slot): passes through
  scatter,   // SELECT over several slots
  write,     // UPDATE / DELETE over several slots, or INSERT split over several
  none,      // known to touch no slot (WHERE id = NULL, IN () after cutting): sent to one slot, so that the
             // server answers
};

enum class RouteReason : uint8_t {
  not_sharded,    // no sharded table in the statement
  key_equality,   // sharding column = value
  key_list,       // IN list, OR of values, small range
  insert_values,  // values of the sharding column in the rows
  generated_key,  // ids drawn by the proxy
  no_condition,   // nothing restricts the sharding column: all slots
  not_exact,      // a condition exists, but its value's type does not allow routing by it: all slots
  impossible,     // conditions contradict each other
};
std::string_view to_string(RouteReason reason);

// What the affected rows of a write say of how many rows its slots hold afterwards.
enum class RowChange : uint8_t {
  none,      // as many as before
  inserted,  // so many more
  deleted,   // so many fewer
  replaced,  // REPLACE: the rows it gave, less those beyond them, which it took out first
  upserted,  // ON DUPLICATE KEY UPDATE: known where one row was given, and 1 or 2 are affected
  unknown,
};

// SQL text plus instance, ready to send.
struct ExecutionUnit {
  rule::InstanceId instance = 0;
  std::string sql;
  // Binary execution: which client parameter stands at each ? of `sql`; values >= parameter_count of the
  // statement name Plan::extra_parameters (index - parameter_count).
  std::vector<uint32_t> parameters;
  std::vector<rule::Slot> slots;  // ascending; empty for forward
  // A database that has to be current where the connection has none, although every name has its own; usually
  // empty.
  std::string database = {};
  uint32_t given_rows = 0;  // INSERT and REPLACE: how many rows the text holds
};

// Names to put back into column definitions: what the server reports -> what the client knows.
struct NameRestore {
  std::string schema;                      // logical schema
  std::string table;                       // logical table
  std::vector<std::string> actual_tables;  // one per unit's slot is not needed: any org_table in this family
  // MariaDB says of a common table's column that it is the common table's own, in this database.
  std::string actual_database = {};
};

// How an INSERT counts a row that is there already.
enum class InsertKind : uint8_t { none, plain, ignore, replace, on_duplicate };

struct Plan {
  PlanKind kind = PlanKind::forward;
  RouteReason reason = RouteReason::not_sharded;
  bool writes = false;  // changes rows or takes locks that a transaction must hold (FOR UPDATE)
  bool returns_rows = false;
  // A write whose units must all happen or none (more than one unit). The executor opens a transaction or
  // savepoints.
  bool atomic = false;
  std::vector<ExecutionUnit> units;  // by instance, then slot
  merge::Spec merge;
  // scatter: the statement on one actual table whose column definitions the client sees (prepared on the
  // first unit's instance, never executed). Same parameters in the same order as units[0] of that statement.
  std::string metadata_sql;

  // Logical names of the sharded table(s) read, for column definitions; empty: leave as the server sends.
  std::vector<NameRestore> restore;

  // Cells to put back, in each row of the result.
  std::vector<CellRestore> cells;

  InsertKind insert_kind = InsertKind::none;
  // INSERT: the first generated id (0: none was generated), how many; the OK packet's insert id and
  // LAST_INSERT_ID() afterwards are `first_generated`.
  uint64_t first_generated = 0;
  uint64_t generated = 0;
  // INSERT with explicit keys only: what MySQL would report in the OK packet for an AUTO_INCREMENT key column
  // (the last explicit value), 0 for another column. LAST_INSERT_ID() does not change.
  uint64_t explicit_insert_id = 0;

  // For counting rows by slot: how, and of which logical table.
  RowChange row_change = RowChange::none;
  const rule::LogicalTable* written = nullptr;

  // LAST_INSERT_ID() afterwards, where the proxy computes it (`SELECT LAST_INSERT_ID(5)`).
  std::optional<uint64_t> set_last_insert_id;
  // The statement calls LAST_INSERT_ID(expr) and goes as one unit: a non-zero insert id of the backend's OK
  // packet is the new LAST_INSERT_ID(), also where `first_generated` or `explicit_insert_id` is set and the
  // row existed (affected rows other than 1).
  bool backend_sets_last_insert_id = false;

  // SQL_CALC_FOUND_ROWS, one unit: FOUND_ROWS() afterwards is what the same connection answers to it, not the
  // number of rows sent.
  bool calc_found_rows = false;

  // local: one row of values under these column names (empty names: an OK packet).
  std::vector<std::string> local_columns;
  std::vector<mysql::Value> local_row;

  std::vector<mysql::Value> extra_parameters;
  // DDL passed through, SELECT … INTO, temporary tables, GET_LOCK, user variables assigned …: the session
  // must keep the default instance's connection from now on, and why.
  std::string pin_reason;
  // It runs statements that nobody here has seen, and may begin or end a transaction with them.
  bool hidden_effects = false;
  // DDL on a table of this schema: the catalog is to be refreshed.
  bool changes_catalog = false;
};

// One line a fact, stable; the text of golden files and of EXPLAIN ROUTE. Instances by name.
std::string to_text(const Plan& plan, const rule::RuleSet& rules);

}  // namespace evenkeel::plan
