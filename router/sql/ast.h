// The parsed statement. Nodes name tokens by index, never by byte, so that one tree serves every text of the
// same shape: the tree is cached by fingerprint and read together with the tokens of the text at hand.
//
// Nodes live in the arena of their `Statement` and are immutable once parsed. Identifier texts are unquoted
// copies in that arena (identifiers are part of the shape, so they are the same in each text); literals are
// only named by token, because they differ from text to text.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "router/sql/token.h"

namespace evenkeel::sql {

inline constexpr uint32_t no_token = UINT32_MAX;

struct Identifier {
  std::string_view text;      // unquoted; empty when absent
  uint32_t token = no_token;  // its token
  explicit operator bool() const { return token != no_token; }
};

// [schema.]table, as written; `span` covers both parts.
struct TableName {
  Identifier schema;
  Identifier table;
  Span span;
};

struct Query;
struct Expr;
struct WindowSpec;

enum class ExprKind : uint8_t {
  literal,    // token: integer, decimal, real, string, hex, bit; with an introducer or adjacent strings the
              // span has several
  null_,      // NULL
  boolean,    // TRUE / FALSE: `truth`
  temporal,   // DATE '…', TIME '…', TIMESTAMP '…'
  parameter,  // ?: `parameter` is its index, counted over the whole statement
  column,     // [[schema.]table.]column
  star,       // * or t.* (select list and COUNT(*))
  function,   // name(args…), also the keyword-like ones without parentheses (CURRENT_TIMESTAMP)
  aggregate,  // COUNT SUM MIN MAX AVG GROUP_CONCAT STD … without OVER
  window,     // any function with OVER
  unary,      // op or NOT / BINARY / ! / ~ / -: args[0]
  binary,     // args[0] op args[1]
  and_,       // two or more args: a AND b AND c is one node
  or_,        // as and_
  xor_,       // args[0] XOR args[1]
  in_list,    // args[0] [NOT] IN (args[1..])
  in_query,   // args[0] [NOT] IN (query)
  between,    // args[0] [NOT] BETWEEN args[1] AND args[2]
  is_test,    // args[0] IS [NOT] NULL / TRUE / FALSE / UNKNOWN: `name` has the word
  like,       // [NOT] LIKE / REGEXP / RLIKE / SOUNDS LIKE: `name` has the word
  case_,      // args in order of appearance
  cast,       // CAST / CONVERT / BINARY x: args[0]
  interval,   // INTERVAL args[0] unit
  row,        // (a, b) or ROW(a, b): args
  exists,     // EXISTS (query)
  subquery,   // (query) as a value; also ANY / ALL / SOME (query) by `name`
  match,      // MATCH (…) AGAINST (…)
  default_,   // DEFAULT, DEFAULT(col): args
  values_of,  // VALUES(col) in ON DUPLICATE KEY UPDATE: args[0]
  user_variable,    // @x: `name`
  system_variable,  // @@[scope.]x: `name` is x in lower case, `scope` global|session|local|empty
  assign,           // @x := args[0]; `name` is x
  collate,          // args[0] COLLATE name
  parenthesis,      // ( args[0] )
  opaque,           // balanced tokens that were not understood; may hide columns and tables
};

// One expression. Only the members that the kind's comment names are set.
struct Expr {
  ExprKind kind = ExprKind::opaque;
  Op op = Op::none;       // unary (minus, tilde, exclamation; none = NOT/BINARY by `name`), binary
  bool negated = false;   // NOT IN, NOT BETWEEN, IS NOT, NOT LIKE, NOT EXISTS stays unary
  bool distinct = false;  // aggregate(DISTINCT …)
  bool truth = false;
  uint16_t height = 1;  // longest way down to a leaf, subqueries included; at most limits::sql_height_max
  Span span;            // every token of the expression
  uint32_t parameter = 0;
  std::string_view name;  // lower-case function name, variable name, word (see kinds)
  std::string_view scope;
  Identifier schema, table, column;  // column and star
  std::span<Expr* const> args;
  const Query* query = nullptr;
  const WindowSpec* over = nullptr;
  // GROUP_CONCAT(… ORDER BY … SEPARATOR …) and the like: tokens beyond the arguments are in the span only.
};

struct OrderItem {
  const Expr* expr = nullptr;
  bool descending = false;
  // A whole-number literal here is a column position: its value is part of the shape (see
  // Statement::structural).
  Span span;
};

struct WindowSpec {
  Span span;        // OVER (…) or OVER name
  Identifier name;  // OVER name, OVER (name …)
  std::span<Expr* const> partition_by;
  std::span<const OrderItem> order_by;
  Span frame;  // ROWS / RANGE / GROUPS …
};

struct Limit {
  const Expr* count = nullptr;   // literal or parameter
  const Expr* offset = nullptr;  // null when absent
  Span span;                     // from LIMIT on
};

struct SelectItem {
  const Expr* expr = nullptr;  // kind star for * and t.*
  Identifier alias;
  Span span;  // expression and alias
};

enum class TableKind : uint8_t { table, derived, join, parenthesis, opaque };
enum class JoinKind : uint8_t {
  inner,
  left,
  right,
  cross,
  straight,
  comma,
  natural,
  natural_left,
  natural_right,
  full
};

// FROM item: a tree of joins.
struct TableRef {
  TableKind kind = TableKind::table;
  Span span;
  TableName name;  // table
  Span partition;  // PARTITION (…), refused for sharded tables
  Span index_hints;
  Identifier alias;                           // table and derived
  std::span<const Identifier> alias_columns;  // derived: AS t (a, b)
  bool lateral = false;
  const Query* query = nullptr;  // derived
  JoinKind join = JoinKind::comma;
  const TableRef* left = nullptr;  // join; parenthesis uses left alone
  const TableRef* right = nullptr;
  const Expr* on = nullptr;
  std::span<const Identifier> using_columns;
};

enum class LockClause : uint8_t { none, for_update, for_share, lock_in_share_mode };

// One parenthesised list of values.
struct InsertRow {
  std::span<Expr* const> values;  // default_ for DEFAULT
  Span span;                      // with the parentheses, and with ROW before them where it is written
};

// One SELECT … block, or VALUES ROW(…).
struct SelectBlock {
  Span span;
  bool distinct = false;
  bool calc_found_rows = false;
  bool straight_join = false;
  Span options;  // SELECT's modifiers between SELECT and the list
  Span list;     // the whole select list
  std::span<const SelectItem> items;
  const TableRef* from = nullptr;  // null without FROM; DUAL gives null too, with `from_dual`
  bool from_dual = false;
  Span from_span;  // tokens after FROM
  const Expr* where = nullptr;
  Span where_span;  // from WHERE on
  std::span<const OrderItem> group_by;
  Span group_span;  // from GROUP on
  bool with_rollup = false;
  const Expr* having = nullptr;
  Span having_span;
  Span window_span;                        // WINDOW w AS (…), …
  Span into_span;                          // INTO OUTFILE / DUMPFILE / @var
  bool is_values = false;                  // VALUES ROW(…), … or TABLE t
  std::span<const InsertRow> values_rows;  // VALUES ROW(…), …; TABLE t sets `from` alone
};

enum class SetOp : uint8_t { none, union_, intersect, except };

struct CommonTable {
  Identifier name;
  std::span<const Identifier> columns;
  const Query* query = nullptr;
  bool recursive = false;
};

// A query expression: one block, or two queries with a set operation; with its own ORDER BY and LIMIT.
// `(SELECT … LIMIT 5) LIMIT 2` has neither: op none, block null, the query in parentheses in `left`; the
// statement then counts as having opaque parts.
struct Query {
  Span span;
  std::span<const CommonTable> with;
  Span with_span;
  const SelectBlock* block = nullptr;  // when op is none
  SetOp op = SetOp::none;
  bool all = false;
  const Query* left = nullptr;
  const Query* right = nullptr;
  std::span<const OrderItem> order_by;
  Span order_span;  // from ORDER on
  const Limit* limit = nullptr;
  LockClause lock = LockClause::none;
  Span lock_span;
  Span into_span;  // INTO … at the end of the query expression
  bool parenthesised = false;
};

struct Assignment {
  Identifier schema, table, column;
  const Expr* value = nullptr;
  Span span;
};

enum class Priority : uint8_t { none, low, high, delayed };

// INSERT and REPLACE in all forms.
struct Insert {
  bool replace = false;
  bool ignore = false;
  Priority priority = Priority::none;
  TableName table;
  Span partition;
  bool has_column_list = false;
  Span column_list;                     // with the parentheses; empty when absent
  std::span<const Identifier> columns;  // of the list, or of SET
  bool set_form = false;                // INSERT … SET a = 1, …
  std::span<const Assignment> set;      // set form
  uint32_t values_token = no_token;     // VALUES or VALUE
  std::span<const InsertRow> rows;
  const Query* query = nullptr;  // INSERT … SELECT
  Identifier row_alias;          // VALUES (…) AS new [(a, b)]
  std::span<const Identifier> column_aliases;
  std::span<const Assignment> on_duplicate;
  Span on_duplicate_span;
  Span returning_span;  // MariaDB
  std::span<const SelectItem> returning;
};

struct Update {
  bool ignore = false;
  bool low_priority = false;
  const TableRef* tables = nullptr;  // one table, or a join
  bool multi_table = false;
  std::span<const Assignment> set;
  const Expr* where = nullptr;
  std::span<const OrderItem> order_by;
  const Limit* limit = nullptr;
  std::span<const CommonTable> with;
  Span with_span;
};

struct Delete {
  bool ignore = false;
  bool low_priority = false;
  bool quick = false;
  const TableRef* from = nullptr;      // the table deleted from, or the joined tables
  std::span<const TableName> targets;  // multi-table forms
  bool multi_table = false;
  const Expr* where = nullptr;
  std::span<const OrderItem> order_by;
  const Limit* limit = nullptr;
  std::span<const CommonTable> with;
  Span with_span;
  Span returning_span;
  std::span<const SelectItem> returning;
};

enum class SetScope : uint8_t { session, global, persist, persist_only, user_variable };

// One assignment of SET a = 1, @@session.b = 2, @c = 3, NAMES utf8mb4, …
struct SetItem {
  enum class What : uint8_t { variable, names, character_set, password, transaction, role, opaque };
  What what = What::variable;
  SetScope scope = SetScope::session;
  bool explicit_scope = false;  // SESSION / LOCAL / GLOBAL / @@session. was written
  std::string_view name;        // lower case
  const Expr* value = nullptr;  // null for DEFAULT; a bare word (ON, utf8mb4) is a column expression
  std::string_view collation;   // NAMES x COLLATE y
  Span span;
};

struct Set {
  std::span<const SetItem> items;
  // SET [SESSION|GLOBAL] TRANSACTION …: one-shot when neither scope is written.
  bool transaction = false;
  bool one_shot = false;
  std::string_view isolation;  // "repeatable read", …; empty when not set
  std::optional<bool> read_only;
};

enum class TxKind : uint8_t { begin, commit, rollback, savepoint, rollback_to, release_savepoint };
struct Transaction {
  TxKind kind = TxKind::begin;
  bool consistent_snapshot = false;
  std::optional<bool> read_only;
  std::optional<bool> chain;    // AND [NO] CHAIN
  std::optional<bool> release;  // [NO] RELEASE
  Identifier savepoint;
};

enum class StatementKind : uint8_t {
  empty,   // nothing but comments and blanks
  select,  // Statement::query
  insert,
  update,
  delete_,
  set,
  use,
  transaction,
  show,           // Statement::words has the first words in lower case: "show create table"
  explain,        // EXPLAIN / DESCRIBE of a statement: `inner`; DESCRIBE t: `tables`
  explain_route,  // EXPLAIN ROUTE <statement>: `inner`
  ddl,  // CREATE / ALTER / DROP / RENAME / TRUNCATE of tables, indexes, views: `tables` are those named
  lock_tables,
  unlock_tables,
  kill,  // KILL [QUERY|CONNECTION] id
  call,
  do_,
  load_data,
  prepare,
  execute,
  deallocate,  // SQL-level prepared statements
  xa,
  analyze,  // ANALYZE / CHECK / CHECKSUM / OPTIMIZE / REPAIR TABLE: `tables`
  handler,  // HANDLER t OPEN …
  flush,
  grant,   // account and server administration
  opaque,  // anything else; `words` and `tables` as far as seen
};

struct Kill {
  bool query = false;  // KILL QUERY
  const Expr* id = nullptr;
};

// A parsed statement with its arena. Immutable, shared by all sessions.
struct Statement {
  StatementKind kind = StatementKind::opaque;
  // Implicitly commits the open transaction, as MySQL's list says (DDL, LOCK TABLES, …).
  bool implicit_commit = false;
  bool temporary = false;   // CREATE / DROP TEMPORARY TABLE
  std::string_view words;   // the first keywords, lower case, one blank between
  Span span;                // without a trailing semicolon
  uint32_t parameters = 0;  // how many ?

  const Query* query = nullptr;
  const Insert* insert = nullptr;
  const Update* update = nullptr;
  const Delete* del = nullptr;
  const Set* set = nullptr;
  const Transaction* transaction = nullptr;
  const Kill* kill = nullptr;
  Identifier use_schema;             // USE s; SHOW … FROM s
  const Statement* inner = nullptr;  // explain, explain_route
  // Every table-like name seen anywhere in the statement, in order of appearance, subqueries and names of
  // common tables included (which of them is in scope is the reader's to say); for
  // opaque statements every name that stands where a table could. Never misses one that the server would
  // open.
  std::span<const TableName> tables;
  // Calls of functions and variables that the proxy answers itself (see session_functions.h of router/plan):
  // every `function`, `system_variable`, `user_variable` and `assign` expression, in order of appearance,
  // those inside opaque parts included.
  std::span<const Expr* const> calls;
  // The statement holds parts that were not understood (an opaque expression or table).
  bool has_opaque = false;
  // Tokens whose text decides meaning (positions in ORDER BY / GROUP BY, LIMIT in places that are not a plain
  // literal …) and so must be equal for the tree to serve another text of the same fingerprint.
  std::vector<uint32_t> structural;

  std::unique_ptr<std::pmr::monotonic_buffer_resource> arena;
};

using StatementPtr = std::shared_ptr<const Statement>;

}  // namespace evenkeel::sql
