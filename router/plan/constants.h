// Expressions whose value is known without a server: literals, parameters, session functions.
#pragma once

#include <optional>

#include "base/mysql/value.h"
#include "router/plan/key_value.h"
#include "router/plan/planner.h"
#include "router/sql/ast.h"

namespace evenkeel::plan {

struct Constant {
  mysql::Value value;
  bool introduced = false;  // a string literal with a character set of its own
};

// The expression within any number of parentheses.
const sql::Expr& bare(const sql::Expr& expr);
// By shape alone: `constant` will have a value, given parameters.
bool is_constant(const sql::Expr& expr);
// Nullopt when it is no constant, or a parameter that is not bound.
std::optional<Constant> constant(const sql::Expr& expr, const Arguments& arguments);

TextFacts text_facts(const Constant& constant, const SessionFacts& facts);

}  // namespace evenkeel::plan
