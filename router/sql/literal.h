// The value of a literal token or literal expression, as MySQL would read it.
#pragma once

#include <string>
#include <string_view>

#include "base/mysql/value.h"
#include "base/result.h"
#include "router/sql/ast.h"
#include "router/sql/lexer.h"

namespace evenkeel::sql {

// For ExprKind literal, null_, boolean, temporal, and unary minus/plus of a numeric literal. Integers that
// fit become int64/uint64, larger ones decimal. Strings are unescaped by the rules (backslashes, doubled
// quotes, adjacent strings joined). hex and bit literals become bytes.
Result<mysql::Value> literal_value(const Expr& expr, const Tokens& tokens, const LexRules& rules);

// The bytes of one `string` or `national_string` token: quotes removed, escapes resolved by the rules.
std::string unescape_string(std::string_view token, const LexRules& rules);

// The bytes of one `quoted_identifier` token: quotes removed, doubled ones made single.
std::string unquote_identifier(std::string_view token, const LexRules& rules);

// True when literal_value can evaluate it without parameters.
bool is_literal(const Expr& expr);

// Value -> literal text for a statement in the given rules (quotes and backslashes escaped by charset step
// and sql_mode). Decimals and integers plain, reals with 17 digits, bytes as x'…', temporals quoted.
void append_literal(const mysql::Value& value, const LexRules& rules, std::string& out);

// `name` with backticks doubled.
void append_identifier(std::string_view name, std::string& out);

}  // namespace evenkeel::sql
