// Tokens and trees as text, for golden files and for messages of failing tests.
#pragma once

#include <string>

#include "router/sql/ast.h"
#include "router/sql/lexer.h"

namespace evenkeel::sql {

// One line a token: kind, operator or keyword, text.
std::string dump_tokens(const Tokens& tokens);

// One line a node, children indented below it, each with its span as the text that it covers.
std::string dump(const Statement& statement, const Tokens& tokens);

// Calls `visit(child, parent)` for each node's span inside the span of its parent.
struct SpanPair {
  Span child;
  Span parent;
  std::string what;
};
std::vector<SpanPair> nested_spans(const Statement& statement);

}  // namespace evenkeel::sql
