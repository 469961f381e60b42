// Expressions: operators and their precedence. Operands are in parse_primary.cc.
#include <algorithm>

#include "base/limits.h"
#include "router/sql/parse_state.h"

namespace evenkeel::sql {
namespace {

// Binding powers, loosest first; a right operand binds one tighter than its operator.
enum Power : int {
  power_assign = 1,
  power_or,
  power_xor,
  power_and,
  power_not,
  power_comparison,
  power_predicate,
  power_bit_or,
  power_bit_and,
  power_shift,
  power_sum,
  power_product,
  power_caret,
  power_concat,
  power_unary,
  power_collate,
};

int operator_power(Op op, bool pipes_as_concat) {
  switch (op) {
    case Op::pipe_pipe:
      return pipes_as_concat ? power_concat : power_or;
    case Op::and_and:
      return power_and;
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::null_safe_eq:
      return power_comparison;
    case Op::pipe:
      return power_bit_or;
    case Op::ampersand:
      return power_bit_and;
    case Op::shift_left:
    case Op::shift_right:
      return power_shift;
    case Op::plus:
    case Op::minus:
      return power_sum;
    case Op::star:
    case Op::slash:
    case Op::percent:
      return power_product;
    case Op::caret:
      return power_caret;
    default:
      return 0;
  }
}

}  // namespace

Expr* Parser::begin(ExprKind kind, uint32_t first) {
  Expr* expr = make<Expr>();
  expr->kind = kind;
  expr->span.first = first;
  return expr;
}

// Ends the span at the cursor and measures the height.
Expr* Parser::close(Expr* expr) {
  expr->span.last = at_;
  int height = expr->height;
  for (const Expr* arg : expr->args) height = std::max(height, arg->height + 1);
  if (height > limits::sql_height_max) {
    limit_error("an expression higher than sql_height_max");
    return nullptr;
  }
  expr->height = static_cast<uint16_t>(height);
  note_height(height);
  return expr;
}

void Parser::note_height(int height) {
  height_seen_ = std::max(height_seen_, height);
  if (height_seen_ > limits::sql_height_max) limit_error("a query higher than sql_height_max");
}

Expr* Parser::with_args(Expr* expr, std::initializer_list<Expr*> args) {
  expr->args = keep(std::span<Expr* const>(args.begin(), args.size()));
  return close(expr);
}

// The operator at the cursor; 0 when the expression ends here.
int Parser::infix_power() const {
  const Token& t = token();
  if (t.kind == TokenKind::punctuation) return operator_power(t.op, rules_.pipes_as_concat);
  if (t.kind != TokenKind::identifier) return 0;
  switch (t.keyword) {
    case Keyword::or_:
      return power_or;
    case Keyword::xor_:
      return power_xor;
    case Keyword::and_:
      return power_and;
    case Keyword::is:
      return power_comparison;
    case Keyword::in:
    case Keyword::between:
    case Keyword::like:
    case Keyword::regexp:
    case Keyword::rlike:
      return power_predicate;
    case Keyword::not_:
      switch (keyword(1)) {
        case Keyword::in:
        case Keyword::between:
        case Keyword::like:
        case Keyword::regexp:
        case Keyword::rlike:
          return power_predicate;
        default:
          return 0;
      }
    case Keyword::sounds:
      return keyword(1) == Keyword::like ? power_predicate : 0;
    case Keyword::member:
      return keyword(1) == Keyword::of ? power_predicate : 0;
    case Keyword::div:
    case Keyword::mod:
      return power_product;
    case Keyword::collate:
      return power_collate;
    default:
      return 0;
  }
}

Expr* Parser::expression(int power) {
  const Deeper deeper(*this);
  if (!deeper) return nullptr;
  Expr* left = nullptr;
  const bool tight_not = rules_.high_not_precedence;
  if (keyword() == Keyword::not_ && (tight_not || power <= power_comparison)) {
    left = unary("not", Op::none, tight_not ? power_unary : power_not);
  } else {
    left = prefix();
  }
  while (left != nullptr) {
    const int next = infix_power();
    if (next == 0 || next < power) break;
    left = infix(left, next);
  }
  return left;
}

// An expression, or what stands in its place; null only when there is nothing or the parse has failed for
// good.
Expr* Parser::expression_or_opaque() {
  const Mark from = mark();
  if (Expr* expr = expression()) {
    const Token& t = token();
    const bool ends = t.kind == TokenKind::end || op() == Op::comma || op() == Op::rparen ||
                      op() == Op::rbrace || t.kind == TokenKind::identifier ||
                      t.kind == TokenKind::quoted_identifier || t.kind == TokenKind::string ||
                      t.kind == TokenKind::introducer;
    if (ends) return expr;
  }
  return opaque_expression(from);
}

Expr* Parser::infix(Expr* left, int power) {
  switch (power) {
    case power_or:
      return flat(left, ExprKind::or_, power);
    case power_and:
      return flat(left, ExprKind::and_, power);
    case power_xor:
      ++at_;
      return binary(left, ExprKind::xor_, Op::none, power);
    case power_comparison:
      return keyword() == Keyword::is ? is_test(left) : comparison(left);
    case power_predicate:
      return predicate(left);
    case power_collate: {
      ++at_;
      Expr* expr = begin(ExprKind::collate, left->span.first);
      if (token().kind == TokenKind::string) {
        expr->name = string_as_name().text;
      } else {
        const auto name = take_word();  // BINARY is reserved and a collation
        if (!name) return nullptr;
        expr->name = keep_lower(name->text);
      }
      return with_args(expr, {left});
    }
    default:
      break;
  }
  const Op op = token().op;
  const std::string_view name = op == Op::none ? to_string(keyword()) : std::string_view{};
  ++at_;
  return binary(left, ExprKind::binary, op, power, name);
}

Expr* Parser::binary(Expr* left, ExprKind kind, Op op, int power, std::string_view name) {
  Expr* right = expression(power + 1);
  if (right == nullptr) return nullptr;
  Expr* expr = begin(kind, left->span.first);
  expr->op = op;
  expr->name = name;
  return with_args(expr, {left, right});
}

// a OR b OR c: one node, however long; the tree stays low.
Expr* Parser::flat(Expr* left, ExprKind kind, int power) {
  Gather<Expr*> args(*this, exprs_);
  args.push(left);
  while (infix_power() == power) {
    ++at_;
    Expr* arg = expression(power + 1);
    if (arg == nullptr) return nullptr;
    args.push(arg);
  }
  Expr* expr = begin(kind, left->span.first);
  expr->args = args.finish();
  return close(expr);
}

// left = right, also = ANY (query)
Expr* Parser::comparison(Expr* left) {
  const Op op = token().op;
  ++at_;
  const Keyword word = keyword();
  const bool quantified = (word == Keyword::all || word == Keyword::any || word == Keyword::some) &&
                          this->op(1) == Op::lparen && (query_starts(2) || this->op(2) == Op::lparen);
  if (!quantified) return binary(left, ExprKind::binary, op, power_comparison);
  const uint32_t first = at_++;
  Expr* right = query_expression(ExprKind::subquery, first, to_string(word));
  if (right == nullptr) return nullptr;
  Expr* expr = begin(ExprKind::binary, left->span.first);
  expr->op = op;
  return with_args(expr, {left, right});
}

Expr* Parser::is_test(Expr* left) {
  ++at_;
  Expr* expr = begin(ExprKind::is_test, left->span.first);
  expr->negated = accept(Keyword::not_);
  switch (keyword()) {
    case Keyword::null:
    case Keyword::true_:
    case Keyword::false_:
    case Keyword::unknown:
      expr->name = to_string(keyword());
      break;
    default:
      return nullptr;
  }
  ++at_;
  return with_args(expr, {left});
}

Expr* Parser::predicate(Expr* left) {
  const bool negated = accept(Keyword::not_);
  switch (keyword()) {
    case Keyword::in:
      return in_predicate(left, negated);
    case Keyword::between: {
      ++at_;
      Expr* low = expression(power_bit_or);
      if (low == nullptr || !accept(Keyword::and_)) return nullptr;
      Expr* high = expression(power_predicate);
      if (high == nullptr) return nullptr;
      Expr* expr = begin(ExprKind::between, left->span.first);
      expr->negated = negated;
      return with_args(expr, {left, low, high});
    }
    case Keyword::member: {
      at_ += 2;
      if (!accept(Op::lparen)) return nullptr;
      Expr* array = expression();
      if (array == nullptr || !accept(Op::rparen)) return nullptr;
      Expr* expr = begin(ExprKind::function, left->span.first);
      expr->name = "member of";
      calls_.push_back(expr);
      return with_args(expr, {left, array});
    }
    default:
      return like_predicate(left, negated);
  }
}

Expr* Parser::in_predicate(Expr* left, bool negated) {
  ++at_;
  if (op() != Op::lparen) return nullptr;
  uint32_t ahead = 1;
  while (op(ahead) == Op::lparen) ++ahead;
  if (query_starts(ahead)) {
    const Mark from = mark();
    Expr* query = query_expression(ExprKind::in_query, left->span.first, {});
    if (query != nullptr) {
      query->negated = negated;
      return with_args(query, {left});
    }
    // ((SELECT …), 2) is a list.
    if (!back_to(from)) return nullptr;
  }
  ++at_;
  Gather<Expr*> args(*this, exprs_);
  args.push(left);
  do {
    Expr* value = expression_or_opaque();
    if (value == nullptr) return nullptr;
    args.push(value);
  } while (accept(Op::comma));
  if (!accept(Op::rparen)) return nullptr;
  Expr* expr = begin(ExprKind::in_list, left->span.first);
  expr->negated = negated;
  expr->args = args.finish();
  return close(expr);
}

Expr* Parser::like_predicate(Expr* left, bool negated) {
  Expr* expr = begin(ExprKind::like, left->span.first);
  expr->negated = negated;
  if (accept(Keyword::sounds)) {
    expr->name = "sounds like";
  } else {
    expr->name = to_string(keyword());
  }
  ++at_;
  Expr* pattern = expression(power_bit_or);
  if (pattern == nullptr) return nullptr;
  if (expr->name != "like" || !accept(Keyword::escape)) return with_args(expr, {left, pattern});
  Expr* escape = expression(power_unary);
  if (escape == nullptr) return nullptr;
  return with_args(expr, {left, pattern, escape});
}

bool Parser::expression_list(std::span<Expr* const>& out) {
  Gather<Expr*> list(*this, exprs_);
  do {
    Expr* expr = expression_or_opaque();
    if (expr == nullptr) return false;
    list.push(expr);
  } while (accept(Op::comma));
  out = list.finish();
  return true;
}

}  // namespace evenkeel::sql
