// Functions and variables whose answer the proxy knows and a pooled backend connection does not.
#pragma once

#include <cstdint>
#include <optional>

#include "base/mysql/value.h"
#include "router/plan/planner.h"
#include "router/sql/ast.h"

namespace evenkeel::plan {

enum class SessionFunction : uint8_t {
  last_insert_id,  // LAST_INSERT_ID(), @@last_insert_id, @@identity
  connection_id,   // CONNECTION_ID(), @@pseudo_thread_id
  row_count,
  found_rows,
  database,  // DATABASE(), SCHEMA()
  user,      // USER(), CURRENT_USER, SESSION_USER(), SYSTEM_USER()
  autocommit,
  warning_count,
  error_count,
};

// Nullopt for every other call, LAST_INSERT_ID(expr) and @@global variables among them.
std::optional<SessionFunction> session_function(const sql::Expr& call);
mysql::Value session_value(SessionFunction function, const SessionFacts& facts);

bool is_last_insert_id_of(const sql::Expr& call);  // LAST_INSERT_ID(expr)

// Functions that read the statement's time. In a write that is split each is replaced by an expression of the
// session's own time zone, so that all rows get the same time. `text`: nullopt when the function has no such
// form (UTC_TIME and its like).
bool reads_time(const sql::Expr& call);
std::optional<std::string> fixed_time(const sql::Expr& call, int64_t unix_micros, const Arguments& arguments);

// Functions that leave something behind on their connection (GET_LOCK, …), so that it must be kept.
bool leaves_state(const sql::Expr& call);

}  // namespace evenkeel::plan
