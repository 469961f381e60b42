// Tokens -> Statement. Recursive descent, Pratt for expressions; depth and token limits; never guesses: what
// is not understood is an opaque node or an opaque statement that keeps its span.
#pragma once

#include "base/result.h"
#include "router/sql/ast.h"
#include "router/sql/lexer.h"

namespace evenkeel::sql {

// Parses the statement in tokens [first, last) (`last` may be tokens.size()-1 = the end token, or a `;`).
// Error 1064 with MySQL's words and the text near the offending token only where the text cannot be any
// statement (unbalanced parentheses, depth limit); syntax this parser doesn't know gives opaque nodes
// instead, because the server decides.
Result<StatementPtr> parse(const Tokens& tokens, const LexRules& rules, Span part);
Result<StatementPtr> parse(const Tokens& tokens, const LexRules& rules);

}  // namespace evenkeel::sql
