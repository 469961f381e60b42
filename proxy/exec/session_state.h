// What a session is apart from its command loop: read and written by the machines of proxy/exec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mysql/types.h"
#include "proxy/exec/connection.h"
#include "proxy/exec/lanes.h"
#include "proxy/exec/variables.h"
#include "proxy/protocol/capabilities.h"
#include "router/rule/slot_traffic.h"
#include "router/sql/lexer.h"

namespace evenkeel::exec {

// One row of SHOW WARNINGS.
struct Warning {
  std::string level;  // "Note", "Warning", "Error"
  uint16_t code = 0;
  std::string message;
};

// How one statement changed the number of rows in one slot.
struct RowCount {
  rule::SlotTraffic* traffic = nullptr;
  rule::Slot slot = 0;
  int64_t inserted = 0;
  int64_t deleted = 0;
  bool known = true;
};

// The client's transaction. Branches are opened lazily: a lane begins when a statement first touches it.
struct Transaction {
  bool open = false;                    // BEGIN was given, or autocommit is off and a statement ran
  std::string begin_sql = "BEGIN";      // what opens a branch: "START TRANSACTION READ ONLY", …
  std::vector<std::string> savepoints;  // quoted names, in the order of their making
  // Counted when it is committed. `savepoint_rows` are how many there were at each of `savepoints`.
  std::vector<RowCount> rows;
  std::vector<size_t> savepoint_rows;
  std::string one_shot;  // SET TRANSACTION … for this (or the next) transaction only
  // A branch is lost or its rollback was not confirmed: only ROLLBACK and COMMIT (an error) are accepted.
  std::string poisoned;  // why; empty: sound
};

struct SessionState {
  protocol::Capabilities client_capabilities = 0;
  CapabilityClass capability;
  VariablesPtr variables;
  std::string database;
  bool autocommit = true;
  sql::LexRules lex;
  bool no_auto_value_on_zero = false;
  uint16_t connection_collation = 45;
  bool client_charset_is_connection = true;
  // What column definitions of strings say: the login's collation, or that of the last SET NAMES. 0: as the
  // server sends it (character_set_results is NULL).
  uint16_t results_collation = 45;
  rule::InstanceId default_instance = 0;  // of the current schema, or of the first one

  uint64_t last_insert_id = 0;
  int64_t row_count = -1;
  uint64_t found_rows = 0;
  std::vector<Warning> warnings;  // of the last statement

  // A connection that held state which nothing can restore (a temporary table, a lock) is gone.
  bool pinned_lost = false;

  Transaction transaction;
  Lanes lanes;

  bool in_transaction() const {
    if (transaction.open) return true;
    for (const auto& lane : lanes.all()) {
      if (lane->begun) return true;
    }
    return false;
  }
  // The flags that OK and EOF packets carry, the more-results flag excepted.
  uint16_t status() const {
    uint16_t flags = 0;
    if (autocommit) flags |= mysql::server_status::autocommit;
    if (in_transaction()) flags |= mysql::server_status::in_trans;
    if (lex.no_backslash_escapes) flags |= mysql::server_status::no_backslash_escapes;
    return flags;
  }
};

}  // namespace evenkeel::exec
