// Query expressions: SELECT, VALUES, TABLE, set operations, WITH, ORDER BY, LIMIT, locks.
#include <algorithm>

#include "router/sql/parse_state.h"

namespace evenkeel::sql {

// [WITH …] term [UNION term …] [ORDER BY …] [LIMIT …] [INTO …] [FOR UPDATE …]
Query* Parser::query() {
  const Deeper deeper(*this);
  if (!deeper) return nullptr;
  const int outside = height_seen_;
  height_seen_ = 0;
  const uint32_t first = at_;
  std::span<const CommonTable> with;
  Span with_span;
  if (keyword() == Keyword::with && !with_clause(with, with_span)) return nullptr;
  Query* result = query_term();
  SetOp set_op = SetOp::none;
  bool all = false;
  int terms = 1;
  while (result != nullptr && set_operator(false, set_op, all)) {
    ++terms;
    Query* right = query_term();
    result = right == nullptr ? nullptr : set_operation(result, set_op, right, all);
  }
  if (result == nullptr) return nullptr;
  const bool tail_follows = keyword() == Keyword::order || keyword() == Keyword::limit ||
                            keyword() == Keyword::fetch || keyword() == Keyword::offset;
  if (result->parenthesised && (tail_follows || !with.empty())) {
    if (!result->order_by.empty() || result->limit != nullptr || !result->with.empty()) {
      Query* outer = make<Query>();
      outer->left = result;
      result = outer;
      has_opaque_ = true;
    }
  }
  if (!with.empty()) {
    result->with = with;
    result->with_span = with_span;
  }
  if (!query_tail(*result)) return nullptr;
  result->span = since(first);
  note_height(height_seen_ + terms);
  query_height_ = height_seen_;
  height_seen_ = std::max(height_seen_, outside);
  return error_ ? nullptr : result;
}

bool Parser::with_clause(std::span<const CommonTable>& out, Span& span) {
  span.first = at_++;
  const bool recursive = accept(Keyword::recursive);
  Gather<CommonTable> commons(*this, commons_);
  do {
    CommonTable common;
    common.recursive = recursive;
    const auto name = take_name();
    if (!name) return false;
    common.name = *name;
    if (op() == Op::lparen && !name_list(common.columns)) return false;
    if (!accept(Keyword::as) || !accept(Op::lparen)) return false;
    common.query = query();
    if (common.query == nullptr || !accept(Op::rparen)) return false;
    if (accept(Keyword::cycle)) {  // MariaDB: CYCLE a, b RESTRICT
      while (!at_end() && keyword() != Keyword::restrict) ++at_;
      if (!accept(Keyword::restrict)) return false;
    }
    commons.push(common);
  } while (accept(Op::comma));
  out = commons.finish();
  span.last = at_;
  return true;
}

// INTERSECT binds tighter than UNION and EXCEPT.
Query* Parser::query_term() {
  Query* left = query_primary();
  SetOp set_op = SetOp::none;
  bool all = false;
  int terms = 0;
  while (left != nullptr && set_operator(true, set_op, all)) {
    note_height(++terms);
    Query* right = query_primary();
    left = right == nullptr ? nullptr : set_operation(left, set_op, right, all);
  }
  return left;
}

bool Parser::set_operator(bool intersect, SetOp& set_op, bool& all) {
  switch (keyword()) {
    case Keyword::union_:
      set_op = SetOp::union_;
      break;
    case Keyword::except:
      set_op = SetOp::except;
      break;
    case Keyword::intersect:
      set_op = SetOp::intersect;
      break;
    default:
      return false;
  }
  if ((set_op == SetOp::intersect) != intersect) return false;
  ++at_;
  all = accept(Keyword::all);
  if (!all) accept(Keyword::distinct);
  return true;
}

Query* Parser::set_operation(Query* left, SetOp set_op, Query* right, bool all) {
  Query* result = make<Query>();
  result->op = set_op;
  result->all = all;
  result->left = left;
  result->right = right;
  result->span = since(left->span.first);
  return result;
}

Query* Parser::query_primary() {
  const uint32_t first = at_;
  if (accept(Op::lparen)) {
    Query* inner = query();
    if (inner == nullptr || !accept(Op::rparen)) return nullptr;
    inner->parenthesised = true;
    inner->span = since(first);
    return inner;
  }
  SelectBlock* block = nullptr;
  switch (keyword()) {
    case Keyword::select:
      block = select_block();
      break;
    case Keyword::values:
      block = values_block();
      break;
    case Keyword::table:
      block = table_block();
      break;
    default:
      break;
  }
  if (block == nullptr) return nullptr;
  Query* result = make<Query>();
  result->block = block;
  result->span = since(first);
  return result;
}

void Parser::select_options(SelectBlock& block) {
  block.options.first = at_;
  for (;; ++at_) {
    switch (keyword()) {
      case Keyword::distinct:
      case Keyword::distinctrow:
        block.distinct = true;
        continue;
      case Keyword::sql_calc_found_rows:
        block.calc_found_rows = true;
        continue;
      case Keyword::straight_join:
        block.straight_join = true;
        continue;
      case Keyword::all:
      case Keyword::high_priority:
      case Keyword::sql_small_result:
      case Keyword::sql_big_result:
        continue;
      case Keyword::sql_buffer_result:
      case Keyword::sql_cache:
      case Keyword::sql_no_cache: {
        // Not reserved: a column of this name is followed by something other than an expression.
        const TokenKind next = token(1).kind;
        const bool name = next == TokenKind::end || keyword(1) == Keyword::from ||
                          keyword(1) == Keyword::as ||
                          (next == TokenKind::punctuation && op(1) != Op::star && op(1) != Op::lparen);
        if (!name) continue;
        break;
      }
      default:
        break;
    }
    break;
  }
  block.options.last = at_;
}

SelectBlock* Parser::select_block() {
  SelectBlock* block = make<SelectBlock>();
  block->span.first = at_++;
  select_options(*block);
  block->list.first = at_;
  if (!select_items(block->items)) return nullptr;
  block->list.last = at_;
  if (keyword() == Keyword::into && !into_clause(block->into_span)) return nullptr;
  if (accept(Keyword::from)) {
    block->from_span.first = at_;
    if (keyword() == Keyword::dual && op(1) != Op::dot) {
      ++at_;
      block->from_dual = true;
    } else {
      block->from = table_references();
      if (block->from == nullptr) return nullptr;
    }
    block->from_span.last = at_;
  }
  if (keyword() == Keyword::where) {
    block->where_span.first = at_++;
    block->where = expression_or_opaque();
    if (block->where == nullptr) return nullptr;
    block->where_span.last = at_;
  }
  if (keyword() == Keyword::group && !group_clause(*block)) return nullptr;
  if (keyword() == Keyword::having) {
    block->having_span.first = at_++;
    block->having = expression_or_opaque();
    if (block->having == nullptr) return nullptr;
    block->having_span.last = at_;
  }
  const bool window =
      keyword() == Keyword::window && is_name(1) && keyword(2) == Keyword::as && op(3) == Op::lparen;
  if (window && !window_clause(*block)) return nullptr;
  block->span.last = at_;
  return block;
}

bool Parser::select_items(std::span<const SelectItem>& out) {
  Gather<SelectItem> items(*this, items_);
  do {
    SelectItem item;
    const uint32_t first = at_;
    if (!star_item(item)) {
      Expr* expr = expression_or_opaque();
      if (expr == nullptr || !alias(item.alias, true)) return false;
      item.expr = expr;
    }
    item.span = since(first);
    items.push(item);
  } while (accept(Op::comma));
  out = items.finish();
  return true;
}

// * or t.* or s.t.*
bool Parser::star_item(SelectItem& item) {
  uint32_t ahead = 0;
  if (op() != Op::star) {
    if (!is_name() || op(1) != Op::dot) return false;
    ahead = 2;
    if (is_word(2) && op(3) == Op::dot) ahead = 4;
    if (op(ahead) != Op::star) return false;
  }
  Expr* star = begin(ExprKind::star, at_);
  if (ahead == 4) {
    star->schema = identifier_at(at_);
    star->table = identifier_at(at_ + 2);
  } else if (ahead == 2) {
    star->table = identifier_at(at_);
  }
  at_ += ahead + 1;
  item.expr = close(star);
  return item.expr != nullptr;
}

bool Parser::group_clause(SelectBlock& block) {
  block.group_span.first = at_++;
  if (!accept(Keyword::by)) return false;
  if (keyword() == Keyword::rollup && op(1) == Op::lparen) {  // MySQL 8.4: GROUP BY ROLLUP (a, b)
    ++at_;
    block.with_rollup = true;
    if (!accept(Op::lparen) || !order_items(block.group_by) || !accept(Op::rparen)) return false;
  } else if (!order_items(block.group_by)) {
    return false;
  }
  if (accept_all({Keyword::with, Keyword::rollup})) block.with_rollup = true;
  block.group_span.last = at_;
  return true;
}

bool Parser::window_clause(SelectBlock& block) {
  block.window_span.first = at_++;
  do {
    WindowSpec spec;
    if (!take_name() || !accept(Keyword::as) || !window_body(spec)) return false;
  } while (accept(Op::comma));
  block.window_span.last = at_;
  return true;
}

// INTO OUTFILE 'f' …, INTO DUMPFILE 'f', INTO @a, @b
bool Parser::into_clause(Span& span) {
  span.first = at_++;
  if (accept(Keyword::outfile) || accept(Keyword::dumpfile)) {
    if (token().kind != TokenKind::string) return false;
    ++at_;
    // CHARACTER SET x FIELDS TERMINATED BY ',' … LINES …
    const auto ends = [&] {
      switch (keyword()) {
        case Keyword::from:
        case Keyword::for_:
        case Keyword::lock:
        case Keyword::where:
        case Keyword::group:
        case Keyword::having:
        case Keyword::order:
        case Keyword::limit:
          return true;
        default:
          return at_end() || op() == Op::rparen;
      }
    };
    while (!ends()) ++at_;
  } else {
    do {
      if (token().kind == TokenKind::user_variable) {
        if (user_variable_node() == nullptr) return false;
      } else if (!take_name()) {
        return false;
      }
    } while (accept(Op::comma));
  }
  span.last = at_;
  return true;
}

SelectBlock* Parser::values_block() {
  SelectBlock* block = make<SelectBlock>();
  block->is_values = true;
  block->span.first = at_++;
  block->list.first = at_;
  if (!value_rows(block->values_rows)) return nullptr;
  block->list.last = at_;
  block->span.last = at_;
  return block;
}

SelectBlock* Parser::table_block() {
  SelectBlock* block = make<SelectBlock>();
  block->is_values = true;
  block->span.first = at_++;
  block->from_span.first = at_;
  TableRef* ref = make<TableRef>();
  ref->span.first = at_;
  const auto name = table_name();
  if (!name) return nullptr;
  ref->name = *name;
  ref->span.last = at_;
  block->from = ref;
  block->from_span.last = at_;
  block->span.last = at_;
  return block;
}

bool Parser::value_rows(std::span<const InsertRow>& out) {
  Gather<InsertRow> rows(*this, rows_);
  do {
    InsertRow row;
    if (!value_row(row)) return false;
    rows.push(row);
  } while (accept(Op::comma));
  out = rows.finish();
  return true;
}

bool Parser::value_row(InsertRow& row) {
  row.span.first = at_;
  accept(Keyword::row);
  if (!accept(Op::lparen)) return false;
  if (op() != Op::rparen && !expression_list(row.values)) return false;
  if (!accept(Op::rparen)) return false;
  row.span.last = at_;
  return true;
}

bool Parser::query_tail(Query& query) {
  if (keyword() == Keyword::order && !order_clause(query.order_by, query.order_span)) return false;
  if (keyword() == Keyword::limit && !limit_clause(query.limit)) return false;
  if (keyword() == Keyword::fetch || keyword() == Keyword::offset) {
    Limit* limit = make<Limit>();
    if (!fetch_clause(*limit)) return false;
    query.limit = limit;
  }
  if (keyword() == Keyword::procedure) {  // PROCEDURE ANALYSE(…)
    const uint32_t first = at_;
    skip_to({Keyword::into, Keyword::for_, Keyword::lock});
    scan_opaque(since(first));
    has_opaque_ = true;
  }
  if (keyword() == Keyword::into && !into_clause(query.into_span)) return false;
  if (!lock_clauses(query)) return false;
  return keyword() != Keyword::into || into_clause(query.into_span);
}

bool Parser::order_items(std::span<const OrderItem>& out) {
  Gather<OrderItem> items(*this, orders_);
  do {
    OrderItem item;
    const uint32_t first = at_;
    // A whole number is a column's position: part of what the statement means.
    if (token().kind == TokenKind::integer) structural_.push_back(at_);
    item.expr = expression_or_opaque();
    if (item.expr == nullptr) return false;
    item.descending = accept(Keyword::desc);
    if (!item.descending) accept(Keyword::asc);
    item.span = since(first);
    items.push(item);
  } while (accept(Op::comma));
  out = items.finish();
  return true;
}

bool Parser::order_clause(std::span<const OrderItem>& items, Span& span) {
  span.first = at_++;
  if (!accept(Keyword::by) || !order_items(items)) return false;
  span.last = at_;
  return true;
}

// LIMIT n | LIMIT skip, n | LIMIT n OFFSET skip, with MariaDB's ROWS EXAMINED m
bool Parser::limit_clause(const Limit*& out) {
  Limit* limit = make<Limit>();
  limit->span.first = at_++;
  if (keyword() != Keyword::rows) {
    limit->count = expression();
    if (limit->count == nullptr) return false;
    if (accept(Op::comma)) {
      limit->offset = limit->count;
      limit->count = expression();
      if (limit->count == nullptr) return false;
    } else if (accept(Keyword::offset)) {
      limit->offset = expression();
      if (limit->offset == nullptr) return false;
    }
  }
  if (accept_all({Keyword::rows, Keyword::examined})) {
    has_opaque_ = true;
    if (expression() == nullptr) return false;
  }
  limit->span.last = at_;
  out = limit;
  return true;
}

// MariaDB: [OFFSET n ROWS] FETCH FIRST n ROWS ONLY
bool Parser::fetch_clause(Limit& limit) {
  limit.span.first = at_;
  if (accept(Keyword::offset)) {
    limit.offset = expression();
    if (limit.offset == nullptr || !(accept(Keyword::rows) || accept(Keyword::row))) return false;
  }
  if (accept(Keyword::fetch)) {
    if (!accept(Keyword::first) && !accept(Keyword::next)) return false;
    if (keyword() != Keyword::row && keyword() != Keyword::rows) limit.count = expression();
    if (!accept(Keyword::rows) && !accept(Keyword::row)) return false;
    if (!accept(Keyword::only) && !accept_all({Keyword::with, Keyword::ties})) return false;
  }
  has_opaque_ = true;
  limit.span.last = at_;
  return true;
}

// FOR UPDATE [OF t, …] [NOWAIT | SKIP LOCKED | WAIT n], FOR SHARE …, LOCK IN SHARE MODE
bool Parser::lock_clauses(Query& query) {
  const uint32_t first = at_;
  while (keyword() == Keyword::for_ || keyword() == Keyword::lock) {
    LockClause lock = LockClause::none;
    if (accept_all({Keyword::lock, Keyword::in, Keyword::share, Keyword::mode})) {
      lock = LockClause::lock_in_share_mode;
    } else if (accept_all({Keyword::for_, Keyword::update})) {
      lock = LockClause::for_update;
    } else if (accept_all({Keyword::for_, Keyword::share})) {
      lock = LockClause::for_share;
    } else {
      return false;
    }
    if (query.lock != LockClause::for_update) query.lock = lock;  // the strongest of several
    if (accept(Keyword::of)) {
      do {
        if (!table_name(false)) return false;
      } while (accept(Op::comma));
    }
    if (accept(Keyword::wait)) {
      if (expression() == nullptr) return false;
    } else if (!accept(Keyword::nowait)) {
      accept_all({Keyword::skip, Keyword::locked});
    }
  }
  if (at_ != first) query.lock_span = since(first);
  return true;
}

}  // namespace evenkeel::sql
