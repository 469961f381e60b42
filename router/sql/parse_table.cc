// FROM: tables, derived tables and joins.
#include <algorithm>

#include "router/sql/parse_state.h"

namespace evenkeel::sql {

// reference, reference, …
TableRef* Parser::table_references() {
  TableRef* left = table_reference();
  int joins = 0;
  while (left != nullptr && accept(Op::comma)) {
    note_height(++joins);
    TableRef* right = table_reference();
    if (right == nullptr) return nullptr;
    TableRef* join = make<TableRef>();
    join->kind = TableKind::join;
    join->join = JoinKind::comma;
    join->left = left;
    join->right = right;
    join->span = since(left->span.first);
    left = join;
  }
  return error_ ? nullptr : left;
}

TableRef* Parser::table_reference() {
  const Deeper deeper(*this);
  if (!deeper) return nullptr;
  TableRef* left = table_factor();
  int joins = 0;
  while (left != nullptr && !error_) {
    TableRef* join = joined(left);
    if (join == left) break;
    note_height(++joins);
    left = join;
  }
  return error_ ? nullptr : left;
}

// left JOIN right [ON … | USING (…)]; `left` itself when no join follows. A join without a condition takes
// all joins behind it as its right side, so that a JOIN b JOIN c ON x ON y pairs as the server does.
TableRef* Parser::joined(TableRef* left) {
  JoinKind kind = JoinKind::inner;
  const uint32_t before = at_;
  if (!join_operator(kind)) return at_ == before ? left : nullptr;
  const bool natural =
      kind == JoinKind::natural || kind == JoinKind::natural_left || kind == JoinKind::natural_right;
  TableRef* right = natural ? table_factor() : table_reference();
  if (right == nullptr) return nullptr;
  TableRef* join = make<TableRef>();
  join->kind = TableKind::join;
  join->join = kind;
  join->left = left;
  join->right = right;
  if (!natural && !join_condition(*join)) return nullptr;
  join->span = since(left->span.first);
  return join;
}

bool Parser::join_operator(JoinKind& kind) {
  switch (keyword()) {
    case Keyword::join:
      kind = JoinKind::inner;
      break;
    case Keyword::straight_join:
      kind = JoinKind::straight;
      break;
    case Keyword::inner:
      kind = JoinKind::inner;
      ++at_;
      return accept(Keyword::join);
    case Keyword::cross:
      kind = JoinKind::cross;
      ++at_;
      return accept(Keyword::join);
    case Keyword::left:
    case Keyword::right:
      kind = keyword() == Keyword::left ? JoinKind::left : JoinKind::right;
      ++at_;
      accept(Keyword::outer);
      return accept(Keyword::join);
    case Keyword::natural:
      kind = JoinKind::natural;
      ++at_;
      if (keyword() == Keyword::left || keyword() == Keyword::right) {
        kind = keyword() == Keyword::left ? JoinKind::natural_left : JoinKind::natural_right;
        ++at_;
        accept(Keyword::outer);
      } else {
        accept(Keyword::inner);
      }
      return accept(Keyword::join);
    default:
      return false;
  }
  ++at_;
  return true;
}

bool Parser::join_condition(TableRef& join) {
  if (keyword() == Keyword::on && keyword(1) != Keyword::duplicate) {
    ++at_;
    join.on = expression_or_opaque();
    return join.on != nullptr;
  }
  if (accept(Keyword::using_)) return name_list(join.using_columns);
  return true;
}

TableRef* Parser::table_factor() {
  const uint32_t first = at_;
  if (op() == Op::lparen) {
    uint32_t ahead = 1;
    while (op(ahead) == Op::lparen) ++ahead;
    if (query_starts(ahead)) {
      const Mark from = mark();
      if (TableRef* derived = derived_table(first, false)) return derived;
      // ((SELECT …) AS a JOIN b) is a join in parentheses.
      if (!back_to(from)) return nullptr;
    }
    return parenthesised_tables();
  }
  if (op() == Op::lbrace) {  // {OJ a LEFT JOIN b ON …}
    ++at_;
    TableRef* ref = make<TableRef>();
    ref->kind = TableKind::parenthesis;
    if (!take_name()) return nullptr;
    ref->left = table_reference();
    if (ref->left == nullptr || !accept(Op::rbrace)) return nullptr;
    ref->span = since(first);
    return ref;
  }
  if (keyword() == Keyword::lateral && op(1) == Op::lparen) {
    ++at_;
    return derived_table(first, true);
  }
  if (keyword() == Keyword::json_table && op(1) == Op::lparen) return json_table();
  return named_table();
}

TableRef* Parser::parenthesised_tables() {
  TableRef* ref = make<TableRef>();
  ref->kind = TableKind::parenthesis;
  const uint32_t first = at_++;
  ref->left = table_references();
  if (ref->left == nullptr || !accept(Op::rparen)) return nullptr;
  ref->span = since(first);
  return ref;
}

// At the `(`.
TableRef* Parser::derived_table(uint32_t first, bool lateral) {
  TableRef* ref = make<TableRef>();
  ref->kind = TableKind::derived;
  ref->lateral = lateral;
  ++at_;
  ref->query = query();
  if (ref->query == nullptr || !accept(Op::rparen) || !derived_alias(*ref)) return nullptr;
  ref->span = since(first);
  return ref;
}

// [AS] name [(column, …)]
bool Parser::derived_alias(TableRef& ref) {
  if (!alias(ref.alias, false)) return false;
  return !ref.alias || op() != Op::lparen || name_list(ref.alias_columns);
}

// The first argument is an expression, the rest a grammar of its own.
TableRef* Parser::json_table() {
  TableRef* ref = make<TableRef>();
  ref->kind = TableKind::opaque;
  const uint32_t first = at_++;
  const uint32_t arguments = at_;
  skip_balanced();
  scan_opaque(since(arguments));
  has_opaque_ = true;
  if (!derived_alias(*ref)) return nullptr;
  ref->span = since(first);
  return ref;
}

TableRef* Parser::named_table() {
  TableRef* ref = make<TableRef>();
  const uint32_t first = at_;
  const auto name = table_name();
  if (!name) return nullptr;
  ref->name = *name;
  if (keyword() == Keyword::partition && op(1) == Op::lparen) {
    ref->partition.first = at_++;
    skip_balanced();
    ref->partition.last = at_;
  }
  if (keyword() == Keyword::for_ && keyword(1) == Keyword::system_time) {  // MariaDB: rows of the past
    at_ += 2;
    if (accept(Keyword::all)) {
    } else if (accept(Keyword::as)) {
      accept(Keyword::of);
      if (keyword() == Keyword::transaction) ++at_;
      if (expression() == nullptr) return nullptr;
    } else {
      const bool between = accept(Keyword::between);
      if (!between && !accept(Keyword::from)) return nullptr;
      if (expression(8) == nullptr || !accept(between ? Keyword::and_ : Keyword::to)) return nullptr;
      if (expression(8) == nullptr) return nullptr;
    }
    has_opaque_ = true;
  }
  const bool window = keyword() == Keyword::window && is_name(1) && keyword(2) == Keyword::as;
  if (!window && !alias(ref->alias, false)) return nullptr;
  index_hints(*ref);
  ref->span = since(first);
  return ref;
}

// USE INDEX (a), IGNORE KEY FOR JOIN (b), …
void Parser::index_hints(TableRef& ref) {
  const uint32_t first = at_;
  for (;;) {
    const Keyword word = keyword();
    const bool verb = word == Keyword::use || word == Keyword::ignore || word == Keyword::force;
    if (!verb || (keyword(1) != Keyword::index && keyword(1) != Keyword::key)) break;
    uint32_t ahead = 2;
    while (op(ahead) != Op::lparen && token(ahead).kind == TokenKind::identifier) ++ahead;  // FOR ORDER BY
    if (op(ahead) != Op::lparen) break;
    at_ += ahead;
    skip_balanced();
    if (op() == Op::comma && (keyword(1) == Keyword::use || keyword(1) == Keyword::ignore)) ++at_;
  }
  if (at_ != first) ref.index_hints = since(first);
}

}  // namespace evenkeel::sql
