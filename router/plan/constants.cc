#include "router/plan/constants.h"

#include "base/mysql/collation.h"
#include "router/plan/session_functions.h"
#include "router/sql/literal.h"

namespace evenkeel::plan {

const sql::Expr& bare(const sql::Expr& expr) {
  const sql::Expr* at = &expr;
  while (at->kind == sql::ExprKind::parenthesis && at->args.size() == 1) at = at->args[0];
  return *at;
}

bool is_constant(const sql::Expr& outer) {
  const sql::Expr& expr = bare(outer);
  return expr.kind == sql::ExprKind::parameter || sql::is_literal(expr) || session_function(expr).has_value();
}

std::optional<Constant> constant(const sql::Expr& outer, const Arguments& arguments) {
  const sql::Expr& expr = bare(outer);
  if (expr.kind == sql::ExprKind::parameter) {
    if (expr.parameter >= arguments.parameters.size()) return std::nullopt;
    return Constant{arguments.parameters[expr.parameter], false};
  }
  if (const auto function = session_function(expr)) {
    return Constant{session_value(*function, arguments.facts), false};
  }
  if (!sql::is_literal(expr)) return std::nullopt;
  auto value = sql::literal_value(expr, arguments.tokens, arguments.facts.lex);
  if (!value) return std::nullopt;
  const sql::TokenKind first = arguments.tokens[expr.span.first].kind;
  const bool introduced = first == sql::TokenKind::introducer || first == sql::TokenKind::national_string;
  return Constant{std::move(*value), introduced};
}

TextFacts text_facts(const Constant& constant, const SessionFacts& facts) {
  TextFacts text;
  text.introduced = constant.introduced;
  const mysql::Collation* collation = mysql::find_collation(facts.connection_collation);
  if (collation != nullptr && facts.client_charset_is_connection) text.charset = collation->charset;
  return text;
}

}  // namespace evenkeel::plan
