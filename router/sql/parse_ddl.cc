// Definitions of tables, indexes and views: which tables they name. (create_table.h reads a whole
// definition.)
#include "router/sql/parse_state.h"

namespace evenkeel::sql {

// name, name, … up to what is no comma
bool Parser::ddl_names() {
  do {
    if (!table_name()) return false;
  } while (accept(Op::comma));
  return true;
}

// At CREATE, ALTER, DROP, RENAME or TRUNCATE. False: not of a table, index or view.
bool Parser::ddl(Statement& out) {
  const Keyword verb = keyword();
  ++at_;
  out.kind = StatementKind::ddl;
  out.implicit_commit = true;
  if (verb == Keyword::create) {
    ddl_create(out);
    return true;
  }
  if (verb == Keyword::truncate) {
    accept(Keyword::table);
    return table_name().has_value();
  }
  if (verb == Keyword::rename) {
    if (!accept(Keyword::table) && !accept(Keyword::tables)) return other_object(out);
    accept_all({Keyword::if_, Keyword::exists});
    do {
      if (!table_name()) return false;
      if (accept(Keyword::wait) && expression() == nullptr) return false;
      accept(Keyword::nowait);
      if (!accept(Keyword::to) || !table_name()) return false;
    } while (accept(Op::comma));
    return true;
  }
  while (keyword() == Keyword::online || keyword() == Keyword::ignore || keyword() == Keyword::temporary) {
    out.temporary = out.temporary || keyword() == Keyword::temporary;
    ++at_;
  }
  if (verb == Keyword::drop && out.temporary) out.implicit_commit = false;
  switch (keyword()) {
    case Keyword::table:
    case Keyword::tables:
    case Keyword::view:
      ++at_;
      accept_all({Keyword::if_, Keyword::exists});
      if (verb == Keyword::drop) {
        if (!ddl_names()) return false;
        skip_rest();  // RESTRICT, CASCADE, WAIT n
        return true;
      }
      if (!table_name()) return false;
      ddl_tail();
      return true;
    case Keyword::index:
      ++at_;
      accept_all({Keyword::if_, Keyword::exists});
      if (!take_name() || !accept(Keyword::on) || !table_name()) return false;
      skip_rest();  // ALGORITHM, LOCK
      return true;
    default:
      return other_object(out);
  }
}

void Parser::ddl_create(Statement& out) {
  accept_all({Keyword::or_, Keyword::replace});
  if (accept(Keyword::temporary)) {
    out.temporary = true;
    out.implicit_commit = false;
  }
  // ALGORITHM = … DEFINER = … SQL SECURITY … before VIEW; UNIQUE and the like before INDEX
  constexpr int words_between_max = 16;
  for (int i = 0; i < words_between_max; ++i) {
    const Keyword word = keyword();
    const bool object = word == Keyword::table || word == Keyword::view || word == Keyword::index;
    if (object || at_end()) break;
    if (i == 0) {
      switch (word) {
        case Keyword::algorithm:
        case Keyword::definer:
        case Keyword::sql:
        case Keyword::unique:
        case Keyword::fulltext:
        case Keyword::spatial:
        case Keyword::online:
          break;
        default:
          other_object(out);
          return;
      }
    }
    if (word == Keyword::procedure || word == Keyword::function || word == Keyword::trigger ||
        word == Keyword::event) {
      other_object(out);
      return;
    }
    ++at_;
  }
  const Keyword object = keyword();
  ++at_;
  accept_all({Keyword::if_, Keyword::not_, Keyword::exists});
  if (object == Keyword::index) {
    while (!at_end() && keyword() != Keyword::on) ++at_;
    if (accept(Keyword::on)) table_name();
  } else if (object == Keyword::table || object == Keyword::view) {
    table_name();
  } else {
    other_object(out);
    return;
  }
  ddl_tail();
}

// What follows the table: REFERENCES t, LIKE t, RENAME TO t, EXCHANGE PARTITION p WITH TABLE t, UNION = (t,
// …), and the query of CREATE TABLE … SELECT and CREATE VIEW … AS.
void Parser::ddl_tail() {
  while (!at_end()) {
    const Keyword word = keyword();
    if (word == Keyword::references || (word == Keyword::like && is_name(1))) {
      ++at_;
      table_name();
    } else if (word == Keyword::rename) {
      ++at_;
      if (keyword() == Keyword::column || keyword() == Keyword::index || keyword() == Keyword::key) continue;
      if (!accept(Keyword::to)) accept(Keyword::as);
      accept(Op::eq);
      table_name();
    } else if (accept_all({Keyword::with, Keyword::table}) ||
               accept_all({Keyword::partition, Keyword::from})) {
      table_name();
    } else if (word == Keyword::union_ && (op(1) == Op::eq || op(1) == Op::lparen)) {
      at_ += op(1) == Op::eq ? 2 : 1;
      if (accept(Op::lparen)) ddl_names();
    } else if (word == Keyword::select ||
               (word == Keyword::with && is_name(1) && keyword(1) != Keyword::system) ||
               (word == Keyword::as && query_starts(1)) ||
               (word == Keyword::values && op(1) == Op::lparen && keyword(2) == Keyword::row)) {
      if (word == Keyword::as) ++at_;
      const Mark from = mark();
      if (query() != nullptr || error_) continue;
      if (!back_to(from)) return;
      list_all({at_, last_});
      has_opaque_ = true;
      skip_rest();
    } else {
      ++at_;
    }
  }
}

// A database, routine, account or the like: every name of the rest counts as a table's.
bool Parser::other_object(Statement& out) {
  out.kind = StatementKind::opaque;
  switch (keyword()) {
    case Keyword::user:
    case Keyword::role:
      out.kind = StatementKind::grant;
      break;
    default:
      // Calls are not listed: those of a body are made when it runs.
      list_names({at_, last_});
      has_opaque_ = true;
  }
  skip_rest();
  return true;
}

}  // namespace evenkeel::sql
