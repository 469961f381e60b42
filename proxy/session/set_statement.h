// SET -> what it means for the session: a pure function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/exec/variables.h"
#include "router/sql/ast.h"
#include "router/sql/lexer.h"

namespace evenkeel::session {

struct SetEffects {
  std::vector<exec::Variables::Item> changes;  // for exec::with
  std::optional<bool> autocommit;
  // SET NAMES and the like: the collation that results are then described with.
  std::optional<uint16_t> results_collation;
  std::optional<uint64_t> last_insert_id;
  std::string one_shot;  // SET TRANSACTION … for the next transaction
  // Values that only the server can compute: `SELECT <expression>, …` is asked for, and each answer becomes
  // the value of the change with the same index.
  struct Question {
    size_t change = 0;
    std::string expression;
  };
  std::vector<Question> questions;
  // A name or value that only the server can judge is among the changes: it is tried before the client hears
  // OK.
  bool must_be_tried = false;
};

// Refusals name the variable. `tokens`: those that `set` was parsed from.
Result<SetEffects> interpret_set(const sql::Set& set, const sql::Tokens& tokens, const sql::LexRules& rules);

// The value of one answer as SQL text: quoted unless the column is a number.
std::string value_text(const std::optional<std::string>& cell, bool is_number);

// What the lexer must know of a sql_mode's text.
struct SqlMode {
  bool ansi_quotes = false;
  bool no_backslash_escapes = false;
  bool ignore_space = false;
  bool pipes_as_concat = false;
  bool high_not_precedence = false;
  bool no_auto_value_on_zero = false;
};
SqlMode parse_sql_mode(std::string_view text);

}  // namespace evenkeel::session
