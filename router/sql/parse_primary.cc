// Operands of expressions.
#include <algorithm>

#include "router/sql/literal.h"
#include "router/sql/parse_state.h"

namespace evenkeel::sql {
namespace {

// Of unary minus, ! and ~, and of what BINARY applies to (see parse_expression.cc).
constexpr int unary_operand_power = 15;
constexpr int collate_power = 16;
constexpr int bit_or_power = 8;

}  // namespace

Expr* Parser::prefix() {
  switch (token().kind) {
    case TokenKind::integer:
    case TokenKind::decimal:
    case TokenKind::real:
    case TokenKind::hex:
    case TokenKind::bit:
      return literal();
    case TokenKind::string:
    case TokenKind::national_string:
      return string_literal();
    case TokenKind::introducer:
      switch (token(1).kind) {
        case TokenKind::string:
        case TokenKind::hex:
        case TokenKind::bit:
          return string_literal();
        default:
          return word_primary();
      }
    case TokenKind::parameter:
      return parameter();
    case TokenKind::user_variable:
      return user_variable();
    case TokenKind::system_variable:
      return system_variable();
    case TokenKind::identifier:
    case TokenKind::quoted_identifier:
      return word_primary();
    case TokenKind::punctuation:
      return punctuation_primary();
    case TokenKind::end:
      return nullptr;
  }
  return nullptr;
}

Expr* Parser::literal() {
  Expr* expr = begin(ExprKind::literal, at_++);
  return close(expr);
}

// [introducer] string string …
Expr* Parser::string_literal() {
  Expr* expr = begin(ExprKind::literal, at_);
  if (token().kind == TokenKind::introducer) ++at_;
  const bool joins = token().kind == TokenKind::string || token().kind == TokenKind::national_string;
  ++at_;
  while (joins && token().kind == TokenKind::string) ++at_;
  return close(expr);
}

Expr* Parser::parameter() {
  Expr* expr = begin(ExprKind::parameter, at_);
  const auto place = std::lower_bound(parameters_.begin(), parameters_.end(), at_);
  expr->parameter = static_cast<uint32_t>(place - parameters_.begin());
  ++at_;
  return close(expr);
}

Expr* Parser::user_variable_node() {
  Expr* expr = begin(ExprKind::user_variable, at_);
  std::string_view name = tokens_.text_of(at_).substr(1);
  if (!name.empty() && name.front() == '\'') {
    expr->name = keep_text(unescape_string(name, rules_));
  } else if (!name.empty() && name.front() == '"' && !rules_.ansi_quotes) {
    expr->name = keep_text(unescape_string(name, rules_));
  } else if (!name.empty() && (name.front() == '`' || name.front() == '"')) {
    expr->name = keep_text(unquote_identifier(name, rules_));
  } else {
    expr->name = keep_text(name);
  }
  ++at_;
  calls_.push_back(expr);
  return close(expr);
}

Expr* Parser::user_variable() {
  Expr* expr = user_variable_node();
  if (expr == nullptr || !accept(Op::assign)) return expr;
  Expr* value = expression();
  if (value == nullptr) return nullptr;
  expr->kind = ExprKind::assign;
  return with_args(expr, {value});
}

// @@name, @@scope.name, @@name.part
Expr* Parser::system_variable() {
  Expr* expr = begin(ExprKind::system_variable, at_);
  std::string_view name = tokens_.text_of(at_).substr(2);
  if (!name.empty() && name.front() == '`') {
    expr->name = keep_lower(unquote_identifier(name, rules_));
  } else {
    expr->name = keep_lower(name);
  }
  ++at_;
  while (op() == Op::dot && is_word(1)) {
    ++at_;
    const std::string_view part = keep_lower(unquoted(at_++));
    const std::string_view before = expr->name;
    const bool scope = before == "global" || before == "session" || before == "local" ||
                       before == "persist" || before == "persist_only";
    if (scope && expr->scope.empty()) {
      expr->scope = before;
      expr->name = part;
    } else {
      expr->name = keep_text(std::string(before) + "." + std::string(part));
    }
  }
  calls_.push_back(expr);
  return close(expr);
}

Expr* Parser::unary(std::string_view name, Op op, int power) {
  Expr* expr = begin(ExprKind::unary, at_++);
  expr->name = name;
  expr->op = op;
  Expr* operand = expression(power);
  return operand == nullptr ? nullptr : with_args(expr, {operand});
}

Expr* Parser::punctuation_primary() {
  switch (op()) {
    case Op::lparen:
      return parenthesis();
    case Op::minus:
    case Op::plus:
    case Op::tilde:
    case Op::exclamation:
      return unary({}, op(), unary_operand_power);
    case Op::lbrace:
      return odbc_escape();
    case Op::dot:
      return column();
    default:
      return nullptr;
  }
}

// (query), (a, b) or (a)
Expr* Parser::parenthesis() {
  const uint32_t first = at_;
  uint32_t ahead = 1;
  while (op(ahead) == Op::lparen) ++ahead;
  if (query_starts(ahead)) {
    const Mark from = mark();
    if (Expr* expr = query_expression(ExprKind::subquery, first, {})) return expr;
    if (!back_to(from)) return nullptr;
  }
  ++at_;
  std::span<Expr* const> args;
  if (!expression_list(args) || !accept(Op::rparen)) return nullptr;
  Expr* expr = begin(args.size() == 1 ? ExprKind::parenthesis : ExprKind::row, first);
  expr->args = args;
  return close(expr);
}

// At the `(` of a query; the node begins at `first`.
Expr* Parser::query_expression(ExprKind kind, uint32_t first, std::string_view name) {
  if (!accept(Op::lparen)) return nullptr;
  const Query* inner = query();
  if (inner == nullptr || !accept(Op::rparen)) return nullptr;
  Expr* expr = begin(kind, first);
  expr->name = name;
  expr->query = inner;
  expr->height = static_cast<uint16_t>(query_height_ + 1);
  return close(expr);
}

// {d '2026-01-01'}, {fn NOW()}: the braces belong to the span alone.
Expr* Parser::odbc_escape() {
  const uint32_t first = at_++;
  if (!is_word()) return nullptr;
  const std::string_view word = keep_lower(unquoted(at_++));
  Expr* expr = nullptr;
  if ((word == "d" || word == "t" || word == "ts") && token().kind == TokenKind::string) {
    expr = begin(ExprKind::temporal, first);
    expr->name = word == "d" ? "date" : word == "t" ? "time" : "timestamp";
    ++at_;
  } else {
    Expr* inner = expression();
    if (inner == nullptr) return nullptr;
    expr = begin(ExprKind::parenthesis, first);
    const std::initializer_list<Expr*> args = {inner};
    expr->args = keep(std::span<Expr* const>(args.begin(), 1));
  }
  return accept(Op::rbrace) ? close(expr) : nullptr;
}

Expr* Parser::word_primary() {
  const Token& t = token();
  if (t.kind == TokenKind::identifier && t.keyword != Keyword::none) {
    const Mark from = mark();
    if (Expr* expr = reserved_primary()) return expr;
    // Words such as DATE or INTERVAL begin special forms, and are names where the form does not follow.
    if (at_ != from.at && (reserved(t.keyword) || !back_to(from))) return nullptr;
    if (reserved(t.keyword) && op(1) != Op::lparen) return nullptr;
  }
  if (op(1) == Op::lparen) {
    const uint32_t first = at_;
    return function_call({}, first);
  }
  return column();
}

// Forms that begin with a word of their own; null with the cursor unmoved when the word begins none.
Expr* Parser::reserved_primary() {
  const uint32_t first = at_;
  const Keyword word = keyword();
  switch (word) {
    case Keyword::null:
      ++at_;
      return close(begin(ExprKind::null_, first));
    case Keyword::true_:
    case Keyword::false_: {
      ++at_;
      Expr* expr = begin(ExprKind::boolean, first);
      expr->truth = word == Keyword::true_;
      return close(expr);
    }
    case Keyword::date:
    case Keyword::time:
    case Keyword::timestamp:
      return token(1).kind == TokenKind::string ? temporal(to_string(word)) : nullptr;
    case Keyword::not_:
      return unary("not", Op::none, unary_operand_power);
    case Keyword::binary:
      return unary("binary", Op::none, collate_power);
    case Keyword::exists:
      if (op(1) != Op::lparen) return nullptr;
      ++at_;
      return query_expression(ExprKind::exists, first, {});
    case Keyword::case_:
      return case_expression();
    case Keyword::interval:
      return interval();
    case Keyword::match:
      return op(1) == Op::lparen ? match_against() : nullptr;
    case Keyword::row: {
      if (op(1) != Op::lparen) return nullptr;
      ++at_;
      Expr* expr = parenthesis();
      if (expr == nullptr) return nullptr;
      expr->kind = ExprKind::row;
      expr->span.first = first;
      return expr;
    }
    case Keyword::default_: {
      ++at_;
      Expr* expr = begin(ExprKind::default_, first);
      if (!accept(Op::lparen)) return close(expr);
      Expr* of = column();
      return of != nullptr && accept(Op::rparen) ? with_args(expr, {of}) : nullptr;
    }
    case Keyword::values:
    case Keyword::value: {
      if (op(1) != Op::lparen) return nullptr;
      at_ += 2;
      Expr* of = column();
      if (of == nullptr || !accept(Op::rparen)) return nullptr;
      return with_args(begin(ExprKind::values_of, first), {of});
    }
    case Keyword::next:
    case Keyword::previous:
      return keyword(1) == Keyword::value && keyword(2) == Keyword::for_ ? sequence_value() : nullptr;
    default:
      return bare_function(first);
  }
}

Expr* Parser::temporal(std::string_view name) {
  Expr* expr = begin(ExprKind::temporal, at_);
  expr->name = name;
  at_ += 2;
  return close(expr);
}

// NEXT VALUE FOR sequence: a sequence is a table of the server.
Expr* Parser::sequence_value() {
  Expr* expr = begin(ExprKind::function, at_);
  expr->name = keyword() == Keyword::next ? "nextval" : "lastval";
  at_ += 3;
  calls_.push_back(expr);
  return table_name() ? close(expr) : nullptr;
}

Expr* Parser::case_expression() {
  Expr* expr = begin(ExprKind::case_, at_++);
  Gather<Expr*> args(*this, exprs_);
  const auto take = [&] {
    Expr* arg = expression();
    if (arg != nullptr) args.push(arg);
    return arg != nullptr;
  };
  if (keyword() != Keyword::when && !take()) return nullptr;
  while (accept(Keyword::when)) {
    if (!take() || !accept(Keyword::then) || !take()) return nullptr;
  }
  if (accept(Keyword::else_) && !take()) return nullptr;
  if (!accept(Keyword::end)) return nullptr;
  expr->args = args.finish();
  return close(expr);
}

// INTERVAL expr unit; INTERVAL(a, b, …) is a function.
Expr* Parser::interval() {
  const uint32_t first = at_;
  if (op(1) == Op::lparen) {
    const uint32_t close_paren = matching_paren(at_ + 1);
    int depth = 0;
    for (uint32_t i = at_ + 1; i < close_paren; ++i) {
      if (tokens_[i].op == Op::lparen) ++depth;
      if (tokens_[i].op == Op::rparen) --depth;
      if (tokens_[i].op == Op::comma && depth == 1) return function_call({}, first);
    }
  }
  ++at_;
  Expr* amount = expression();
  if (amount == nullptr || !is_word()) return nullptr;
  Expr* expr = begin(ExprKind::interval, first);
  expr->name = keep_lower(tokens_.text_of(at_++));
  return with_args(expr, {amount});
}

// MATCH (a, b) AGAINST ('…' [IN … MODE] [WITH QUERY EXPANSION])
Expr* Parser::match_against() {
  Expr* expr = begin(ExprKind::match, at_);
  at_ += 2;
  Gather<Expr*> args(*this, exprs_);
  do {
    Expr* arg = column();
    if (arg == nullptr) return nullptr;
    args.push(arg);
  } while (accept(Op::comma));
  if (!accept(Op::rparen) || !accept(Keyword::against) || !accept(Op::lparen)) return nullptr;
  Expr* words = expression(bit_or_power);
  if (words == nullptr) return nullptr;
  args.push(words);
  skip_to({});
  expr->args = args.finish();
  return accept(Op::rparen) ? close(expr) : nullptr;
}

// [[schema.]table.]column, or schema.function(…)
Expr* Parser::column() {
  const uint32_t first = at_;
  Identifier parts[3];
  int count = 0;
  if (accept(Op::dot)) {
    const auto part = take_word();
    if (!part) return nullptr;
    parts[count++] = *part;
  } else {
    const auto part = take_name();
    if (!part) return nullptr;
    parts[count++] = *part;
  }
  while (count < 3 && op() == Op::dot && is_word(1)) {
    ++at_;
    parts[count++] = *take_word();
  }
  if (op() == Op::dot) return nullptr;
  if (count == 2 && op() == Op::lparen) {
    --at_;
    return function_call(parts[0], first);
  }
  Expr* expr = begin(ExprKind::column, first);
  expr->column = parts[count - 1];
  if (count >= 2) expr->table = parts[count - 2];
  if (count == 3) expr->schema = parts[0];
  if (close(expr) == nullptr) return nullptr;
  return op() == Op::arrow || op() == Op::arrow_text ? json_path(expr) : expr;
}

// column -> 'path'
Expr* Parser::json_path(Expr* left) {
  Expr* expr = begin(ExprKind::binary, left->span.first);
  expr->op = op();
  ++at_;
  if (token().kind != TokenKind::string) return nullptr;
  Expr* path = string_literal();
  return path == nullptr ? nullptr : with_args(expr, {left, path});
}

}  // namespace evenkeel::sql
