// INSERT, REPLACE, UPDATE, DELETE.
#include "router/sql/parse_state.h"

namespace evenkeel::sql {

bool Parser::insert(Statement& out) {
  Insert* insert = make<Insert>();
  insert->replace = keyword() == Keyword::replace;
  ++at_;
  for (;; ++at_) {
    if (keyword() == Keyword::low_priority) {
      insert->priority = Priority::low;
    } else if (keyword() == Keyword::high_priority) {
      insert->priority = Priority::high;
    } else if (keyword() == Keyword::delayed) {
      insert->priority = Priority::delayed;
    } else if (keyword() == Keyword::ignore) {
      insert->ignore = true;
    } else {
      break;
    }
  }
  accept(Keyword::into);
  const auto table = table_name();
  if (!table) return false;
  insert->table = *table;
  if (keyword() == Keyword::partition && op(1) == Op::lparen) {
    insert->partition.first = at_++;
    skip_balanced();
    insert->partition.last = at_;
  }
  if (!insert_columns(*insert) || !insert_source(*insert)) return false;
  if (keyword() == Keyword::on && !on_duplicate(*insert)) return false;
  if (keyword() == Keyword::returning && !returning(insert->returning_span, insert->returning)) return false;
  out.kind = StatementKind::insert;
  out.insert = insert;
  return at_end();
}

// (a, b, …), where no query stands in the parentheses
bool Parser::insert_columns(Insert& insert) {
  uint32_t ahead = 0;
  while (op(ahead) == Op::lparen) ++ahead;
  if (ahead == 0 || query_starts(ahead)) return true;
  insert.has_column_list = true;
  insert.column_list.first = at_++;
  Gather<Identifier> columns(*this, names_);
  if (op() != Op::rparen) {
    do {
      Identifier schema, table, column;
      if (!target_column(schema, table, column)) return false;
      columns.push(column);
    } while (accept(Op::comma));
  }
  if (!accept(Op::rparen)) return false;
  insert.columns = columns.finish();
  insert.column_list.last = at_;
  return true;
}

bool Parser::insert_source(Insert& insert) {
  if (accept(Keyword::set)) {
    insert.set_form = true;
    if (!assignments(insert.set)) return false;
    Gather<Identifier> columns(*this, names_);
    for (const Assignment& assignment : insert.set) columns.push(assignment.column);
    insert.columns = columns.finish();
  } else if (keyword() == Keyword::values || keyword() == Keyword::value) {
    insert.values_token = at_++;
    if (!value_rows(insert.rows)) return false;
  } else {
    insert.query = query();
    return insert.query != nullptr;
  }
  if (!accept(Keyword::as)) return true;
  const auto alias = take_name();  // MySQL 8.0.19: VALUES (…) AS new (a, b)
  if (!alias) return false;
  insert.row_alias = *alias;
  return op() != Op::lparen || name_list(insert.column_aliases);
}

bool Parser::on_duplicate(Insert& insert) {
  insert.on_duplicate_span.first = at_;
  if (!accept_all({Keyword::on, Keyword::duplicate, Keyword::key, Keyword::update})) return false;
  if (!assignments(insert.on_duplicate)) return false;
  insert.on_duplicate_span.last = at_;
  return true;
}

bool Parser::returning(Span& span, std::span<const SelectItem>& items) {
  span.first = at_++;
  if (!select_items(items)) return false;
  span.last = at_;
  return true;
}

// [[schema.]table.]column
bool Parser::target_column(Identifier& schema, Identifier& table, Identifier& column) {
  auto part = take_name();
  if (!part) return false;
  column = *part;
  for (int more = 0; more < 2 && accept(Op::dot); ++more) {
    part = take_word();
    if (!part) return false;
    schema = table;
    table = column;
    column = *part;
  }
  return true;
}

bool Parser::assignments(std::span<const Assignment>& out) {
  Gather<Assignment> list(*this, assignments_);
  do {
    Assignment assignment;
    const uint32_t first = at_;
    if (!target_column(assignment.schema, assignment.table, assignment.column)) return false;
    if (!accept(Op::eq) && !accept(Op::assign)) return false;
    assignment.value = expression_or_opaque();
    if (assignment.value == nullptr) return false;
    assignment.span = since(first);
    list.push(assignment);
  } while (accept(Op::comma));
  out = list.finish();
  return true;
}

bool Parser::update(Statement& out, std::span<const CommonTable> with, Span with_span) {
  Update* update = make<Update>();
  update->with = with;
  update->with_span = with_span;
  ++at_;
  update->low_priority = accept(Keyword::low_priority);
  update->ignore = accept(Keyword::ignore);
  update->tables = table_references();
  if (update->tables == nullptr) return false;
  update->multi_table = update->tables->kind != TableKind::table;
  if (!accept(Keyword::set) || !assignments(update->set)) return false;
  if (accept(Keyword::where)) {
    update->where = expression_or_opaque();
    if (update->where == nullptr) return false;
  }
  Span order_span;
  if (keyword() == Keyword::order && !order_clause(update->order_by, order_span)) return false;
  if (keyword() == Keyword::limit && !limit_clause(update->limit)) return false;
  out.kind = StatementKind::update;
  out.update = update;
  return at_end();
}

// DELETE FROM t … | DELETE a, b FROM … | DELETE FROM a, b USING …
bool Parser::del(Statement& out, std::span<const CommonTable> with, Span with_span) {
  Delete* del = make<Delete>();
  del->with = with;
  del->with_span = with_span;
  ++at_;
  for (;; ++at_) {
    if (keyword() == Keyword::low_priority) {
      del->low_priority = true;
    } else if (keyword() == Keyword::ignore) {
      del->ignore = true;
    } else if (keyword() == Keyword::quick && token(1).kind == TokenKind::identifier) {
      del->quick = true;
    } else {
      break;
    }
  }
  const bool history = keyword() == Keyword::history && keyword(1) == Keyword::from;
  if (history && rules_.flavour == mysql::Flavour::mariadb) return false;  // of system-versioned rows
  if (keyword() != Keyword::from) {
    if (!delete_targets(*del) || !accept(Keyword::from)) return false;
  } else {
    ++at_;
    const Mark from = mark();
    if (delete_targets(*del) && accept(Keyword::using_)) {
      // form with USING
    } else {
      if (!back_to(from)) return false;
      del->targets = {};
    }
  }
  del->multi_table = !del->targets.empty();
  del->from = del->multi_table ? table_references() : named_table();
  if (del->from == nullptr) return false;
  if (accept(Keyword::where)) {
    del->where = expression_or_opaque();
    if (del->where == nullptr) return false;
  }
  Span order_span;
  if (keyword() == Keyword::order && !order_clause(del->order_by, order_span)) return false;
  if (keyword() == Keyword::limit && !limit_clause(del->limit)) return false;
  if (keyword() == Keyword::returning && !returning(del->returning_span, del->returning)) return false;
  out.kind = StatementKind::delete_;
  out.del = del;
  return at_end();
}

// name[.*], … : aliases or tables of the FROM clause, so they add nothing to the tables of the statement.
bool Parser::delete_targets(Delete& del) {
  Gather<TableName> targets(*this, targets_);
  do {
    auto name = table_name(false);
    if (!name) return false;
    if (op() == Op::dot && op(1) == Op::star) at_ += 2;
    targets.push(*name);
  } while (accept(Op::comma));
  del.targets = targets.finish();
  return true;
}

}  // namespace evenkeel::sql
