// Calls of functions, with the argument forms that are not a list with commas.
#include <algorithm>
#include <array>

#include "router/sql/parse_state.h"

namespace evenkeel::sql {
namespace {

constexpr int bit_or_power = 8;  // tighter than IN: POSITION(a IN b)

constexpr std::array<std::string_view, 21> aggregates = {
    "any_value",    "avg",           "bit_and",        "bit_or", "bit_xor", "count",
    "group_concat", "json_arrayagg", "json_objectagg", "max",    "min",     "std",
    "stddev",       "stddev_pop",    "stddev_samp",    "sum",    "var_pop", "var_samp",
    "variance",     "st_collect",    "median"};

bool is_aggregate(std::string_view name) {
  return std::find(aggregates.begin(), aggregates.end(), name) != aggregates.end();
}

}  // namespace

// Reserved words of which no expression `word (…)` is a call.
bool Parser::never_called(Keyword word) {
  switch (word) {
    case Keyword::select:
    case Keyword::from:
    case Keyword::where:
    case Keyword::and_:
    case Keyword::or_:
    case Keyword::xor_:
    case Keyword::in:
    case Keyword::on:
    case Keyword::using_:
    case Keyword::as:
    case Keyword::by:
    case Keyword::set:
    case Keyword::when:
    case Keyword::then:
    case Keyword::else_:
    case Keyword::having:
    case Keyword::group:
    case Keyword::order:
    case Keyword::limit:
    case Keyword::union_:
    case Keyword::except:
    case Keyword::intersect:
    case Keyword::into:
    case Keyword::join:
    case Keyword::over:
    case Keyword::partition:
    case Keyword::table:
    case Keyword::with:
    case Keyword::all:
    case Keyword::distinct:
    case Keyword::like:
    case Keyword::between:
    case Keyword::is:
    case Keyword::not_:
      return true;
    default:
      return false;
  }
}

// Functions that need no parentheses: CURRENT_TIMESTAMP and its like.
Expr* Parser::bare_function(uint32_t first) {
  switch (keyword()) {
    case Keyword::current_date:
    case Keyword::current_time:
    case Keyword::current_timestamp:
    case Keyword::current_user:
    case Keyword::current_role:
    case Keyword::localtime:
    case Keyword::localtimestamp:
    case Keyword::utc_date:
    case Keyword::utc_time:
    case Keyword::utc_timestamp:
      break;
    default:
      return nullptr;
  }
  if (op(1) == Op::lparen || !reserved(keyword())) return nullptr;
  Expr* expr = begin(ExprKind::function, first);
  expr->name = to_string(keyword());
  calls_.push_back(expr);
  ++at_;
  return close(expr);
}

// At the name, which a `(` follows.
Expr* Parser::function_call(Identifier schema, uint32_t first) {
  const Token& name = token();
  const bool plain_word = name.kind == TokenKind::identifier;
  if (!schema && plain_word && reserved(name.keyword) && never_called(name.keyword)) return nullptr;
  Expr* call = begin(ExprKind::function, first);
  call->schema = schema;
  call->name = keep_lower(unquoted(at_));
  at_ += 2;
  if (!schema && plain_word && is_aggregate(call->name)) {
    call->kind = ExprKind::aggregate;
  } else {
    calls_.push_back(call);
  }
  const Mark from = mark();
  const bool understood = call->kind == ExprKind::aggregate ? aggregate_arguments(call)
                          : schema                          ? plain_arguments(call)
                                                            : arguments(call, call->name);
  if (!understood || op() != Op::rparen) {
    // Keep the call and its name; what is inside becomes one opaque argument.
    if (!back_to(from)) return nullptr;
    const uint32_t close_paren = matching_paren(from.at - 1);
    Expr* inside = begin(ExprKind::opaque, at_);
    at_ = close_paren;
    scan_opaque({from.at, close_paren});
    has_opaque_ = true;
    if (close(inside) == nullptr) return nullptr;
    const std::initializer_list<Expr*> args = {inside};
    call->args = keep(std::span<Expr* const>(args.begin(), 1));
  }
  if (!accept(Op::rparen) || !finish_call(call)) return nullptr;
  return close(call);
}

bool Parser::arguments(Expr* call, std::string_view name) {
  using Rule = bool (Parser::*)(Expr*);
  struct Special {
    std::string_view name;
    Rule rule;
  };
  static constexpr std::array<Special, 14> specials = {{
      {"position", &Parser::position_arguments},
      {"substring", &Parser::substring_arguments},
      {"substr", &Parser::substring_arguments},
      {"mid", &Parser::substring_arguments},
      {"trim", &Parser::trim_arguments},
      {"extract", &Parser::extract_arguments},
      {"timestampadd", &Parser::unit_first_arguments},
      {"timestampdiff", &Parser::unit_first_arguments},
      {"get_format", &Parser::unit_first_arguments},
      {"cast", &Parser::cast_arguments},
      {"convert", &Parser::convert_arguments},
      {"char", &Parser::char_arguments},
      {"weight_string", &Parser::weight_string_arguments},
      {"json_value", &Parser::json_value_arguments},
  }};
  for (const Special& special : specials) {
    if (special.name == name) return (this->*special.rule)(call);
  }
  return plain_arguments(call);
}

bool Parser::plain_arguments(Expr* call) {
  if (op() == Op::rparen) return true;
  call->distinct = accept(Keyword::distinct);
  return expression_list(call->args);
}

bool Parser::position_arguments(Expr* call) {
  Expr* what = expression(bit_or_power);
  if (what == nullptr || !accept(Keyword::in)) return false;
  Expr* where = expression();
  return where != nullptr && with_args(call, {what, where}) != nullptr;
}

// SUBSTRING(s FROM p [FOR n]) or with commas
bool Parser::substring_arguments(Expr* call) {
  Gather<Expr*> args(*this, exprs_);
  do {
    Expr* arg = expression();
    if (arg == nullptr) return false;
    args.push(arg);
  } while (accept(Op::comma) || accept(Keyword::from) || accept(Keyword::for_));
  call->args = args.finish();
  return true;
}

// TRIM([LEADING|TRAILING|BOTH] [what] FROM text)
bool Parser::trim_arguments(Expr* call) {
  const bool side = accept(Keyword::leading) || accept(Keyword::trailing) || accept(Keyword::both);
  if (side && accept(Keyword::from)) return expression_list(call->args);
  Expr* first = expression();
  if (first == nullptr) return false;
  if (!accept(Keyword::from)) return with_args(call, {first}) != nullptr;
  Expr* text = expression();
  return text != nullptr && with_args(call, {first, text}) != nullptr;
}

bool Parser::extract_arguments(Expr* call) {
  if (!is_word()) return false;
  ++at_;
  return accept(Keyword::from) && expression_list(call->args);
}

// TIMESTAMPADD(unit, …): the unit stays in the span alone.
bool Parser::unit_first_arguments(Expr* call) {
  if (!is_word()) return false;
  ++at_;
  return accept(Op::comma) && expression_list(call->args);
}

// Also GROUP_CONCAT([DISTINCT] a, b ORDER BY c SEPARATOR 'x' LIMIT n)
bool Parser::aggregate_arguments(Expr* call) {
  if (op() == Op::star) {
    Expr* star = begin(ExprKind::star, at_++);
    return close(star) != nullptr && with_args(call, {star}) != nullptr;
  }
  call->distinct = accept(Keyword::distinct);
  if (!call->distinct) accept(Keyword::all);
  if (!expression_list(call->args)) return false;
  std::span<const OrderItem> order;
  Span order_span;
  if (keyword() == Keyword::order && !order_clause(order, order_span)) return false;
  if (accept(Keyword::separator)) {
    if (token().kind != TokenKind::string) return false;
    ++at_;
  }
  const Limit* limit = nullptr;
  return keyword() != Keyword::limit || limit_clause(limit);
}

// A type name with its attributes, up to the `)` or `,` of the call. Numbers in it are part of the meaning.
void Parser::skip_type() {
  while (!at_end() && op() != Op::comma && op() != Op::rparen && keyword() != Keyword::on) {
    const uint32_t first = at_;
    skip_balanced();
    for (uint32_t i = first; i < at_; ++i) {
      if (tokens_[i].kind != TokenKind::identifier && tokens_[i].kind != TokenKind::punctuation) {
        structural_.push_back(i);
      }
    }
  }
}

// CAST(a [AT TIME ZONE …] AS type [ARRAY])
bool Parser::cast_arguments(Expr* call) {
  Expr* value = expression();
  if (value == nullptr) return false;
  if (keyword() == Keyword::at) skip_to({Keyword::as});
  if (!accept(Keyword::as)) return false;
  const uint32_t type = at_;
  skip_type();
  if (type == at_) return false;
  calls_.erase(std::remove(calls_.begin(), calls_.end(), call), calls_.end());
  call->kind = ExprKind::cast;
  return with_args(call, {value}) != nullptr;
}

// CONVERT(a, type) or CONVERT(a USING charset)
bool Parser::convert_arguments(Expr* call) {
  Expr* value = expression();
  if (value == nullptr || (!accept(Op::comma) && !accept(Keyword::using_))) return false;
  const uint32_t type = at_;
  skip_type();
  if (type == at_) return false;
  calls_.erase(std::remove(calls_.begin(), calls_.end(), call), calls_.end());
  call->kind = ExprKind::cast;
  return with_args(call, {value}) != nullptr;
}

// CHAR(n, … [USING charset])
bool Parser::char_arguments(Expr* call) {
  if (!expression_list(call->args)) return false;
  if (accept(Keyword::using_)) skip_type();
  return true;
}

// WEIGHT_STRING(a [AS CHAR(n)] [LEVEL …])
bool Parser::weight_string_arguments(Expr* call) {
  if (!expression_list(call->args)) return false;
  while (!at_end() && op() != Op::rparen) skip_balanced();
  return true;
}

// JSON_VALUE(doc, path [RETURNING type] [… ON EMPTY] [… ON ERROR])
bool Parser::json_value_arguments(Expr* call) {
  if (!expression_list(call->args)) return false;
  if (accept(Keyword::returning)) skip_type();
  while (!at_end() && op() != Op::rparen) skip_balanced();
  return true;
}

// What may follow the closing parenthesis: FROM FIRST, RESPECT NULLS, WITHIN GROUP (…), OVER ….
bool Parser::finish_call(Expr* call) {
  if (keyword() == Keyword::from && (keyword(1) == Keyword::first || keyword(1) == Keyword::last)) {
    if (keyword(2) == Keyword::over || keyword(2) == Keyword::respect || keyword(2) == Keyword::ignore)
      at_ += 2;
  }
  if ((keyword() == Keyword::respect || keyword() == Keyword::ignore) && keyword(1) == Keyword::nulls)
    at_ += 2;
  if (keyword() == Keyword::within && keyword(1) == Keyword::group && op(2) == Op::lparen) {
    at_ += 3;
    std::span<const OrderItem> order;
    Span span;
    if (!order_clause(order, span) || !accept(Op::rparen)) return false;
  }
  const bool over = keyword() == Keyword::over && (op(1) == Op::lparen || is_name(1));
  return !over || window(call);
}

bool Parser::window(Expr* call) {
  WindowSpec* spec = make<WindowSpec>();
  spec->span.first = at_++;
  if (op() == Op::lparen) {
    if (!window_body(*spec)) return false;
  } else {
    const auto name = take_name();
    if (!name) return false;
    spec->name = *name;
  }
  spec->span.last = at_;
  call->kind = ExprKind::window;
  call->over = spec;
  return true;
}

// ([name] [PARTITION BY …] [ORDER BY …] [frame])
bool Parser::window_body(WindowSpec& spec) {
  if (!accept(Op::lparen)) return false;
  const bool frame_word =
      keyword() == Keyword::rows || keyword() == Keyword::range || keyword() == Keyword::groups;
  if (is_name() && !frame_word) spec.name = *take_name();
  if (accept(Keyword::partition)) {
    if (!accept(Keyword::by) || !expression_list(spec.partition_by)) return false;
  }
  Span order_span;
  if (keyword() == Keyword::order && !order_clause(spec.order_by, order_span)) return false;
  spec.frame.first = at_;
  while (!at_end() && op() != Op::rparen) skip_balanced();
  spec.frame.last = at_;
  scan_opaque(spec.frame);
  return accept(Op::rparen);
}

}  // namespace evenkeel::sql
