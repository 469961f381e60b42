// Which statement it is, and the ones that need few words.
#include <algorithm>
#include <string>

#include "router/sql/parse_state.h"

namespace evenkeel::sql {

// Never fails softly: what no rule understands is an opaque statement with every name it could open.
void Parser::statement(Statement& out) {
  const uint32_t first = at_;
  const Mark from = mark();
  if (at_end()) {
    out.kind = StatementKind::empty;
  } else if (const Deeper deeper(*this); !deeper) {
    return;
  } else if (!understood(out) || !at_end()) {
    if (error_) return;
    forget(out, from);
    list_all({first, last_});
    has_opaque_ = true;
  }
  if (!error_) finish(out, first);
}

// Back to a statement of which nothing is known but what its first words say.
void Parser::forget(Statement& out, const Mark& from) {
  attempts_left_ = std::max(attempts_left_, 1);
  back_to(from);
  Statement fresh;
  fresh.implicit_commit = out.implicit_commit;
  fresh.temporary = out.temporary;
  fresh.arena = std::move(out.arena);
  out = std::move(fresh);
}

void Parser::finish(Statement& out, uint32_t first) {
  std::stable_sort(calls_.begin(), calls_.end(),
                   [](const Expr* a, const Expr* b) { return a->span.first < b->span.first; });
  out.span = {first, last_};
  out.words = leading_words(first);
  out.tables = keep(std::span<const TableName>(tables_));
  out.calls = keep(std::span<const Expr* const>(calls_));
  out.has_opaque = has_opaque_;
}

// The keywords at the beginning, up to four, before any name or sign.
std::string_view Parser::leading_words(uint32_t first) {
  constexpr uint32_t words_max = 4;
  std::string words;
  for (uint32_t i = first; i < last_ && i < first + words_max; ++i) {
    if (tokens_[i].kind != TokenKind::identifier || tokens_[i].keyword == Keyword::none) break;
    if (!words.empty()) words += ' ';
    words += to_string(tokens_[i].keyword);
  }
  return keep_text(words);
}

bool Parser::understood(Statement& out) {
  switch (keyword()) {
    case Keyword::select:
    case Keyword::values:
    case Keyword::table:
      out.kind = StatementKind::select;
      out.query = query();
      return out.query != nullptr;
    case Keyword::with:
      return with_statement(out);
    case Keyword::insert:
      return insert(out);
    case Keyword::replace:
      return insert(out);
    case Keyword::update:
      return update(out, {}, {});
    case Keyword::delete_:
      return del(out, {}, {});
    case Keyword::set:
      return set_statement(out);
    case Keyword::create:
    case Keyword::alter:
    case Keyword::drop:
    case Keyword::rename:
    case Keyword::truncate:
      if (keyword() == Keyword::drop && keyword(1) == Keyword::prepare) return by_first_word(out);
      return ddl(out);
    case Keyword::begin:
    case Keyword::start:
    case Keyword::commit:
    case Keyword::rollback:
    case Keyword::savepoint:
    case Keyword::release:
      return transaction(out);
    case Keyword::show:
      return show(out);
    case Keyword::explain:
    case Keyword::describe:
    case Keyword::desc:
      return explain(out);
    case Keyword::kill:
      return kill(out);
    case Keyword::lock:
    case Keyword::unlock:
      return lock_tables(out);
    case Keyword::analyze:
    case Keyword::check:
    case Keyword::checksum:
    case Keyword::optimize:
    case Keyword::repair:
      return maintenance(out);
    case Keyword::use: {
      ++at_;
      const auto name = take_name();
      if (!name) return false;
      out.kind = StatementKind::use;
      out.use_schema = *name;
      return true;
    }
    default:
      break;
  }
  if (op() == Op::lparen) {
    out.kind = StatementKind::select;
    out.query = query();
    return out.query != nullptr;
  }
  return by_first_word(out);
}

// WITH … SELECT | UPDATE | DELETE
bool Parser::with_statement(Statement& out) {
  const Mark from = mark();
  std::span<const CommonTable> with;
  Span with_span;
  if (!with_clause(with, with_span)) return false;
  if (keyword() == Keyword::update) return update(out, with, with_span);
  if (keyword() == Keyword::delete_) return del(out, with, with_span);
  if (!back_to(from)) return false;
  out.kind = StatementKind::select;
  out.query = query();
  return out.query != nullptr;
}

bool Parser::transaction(Statement& out) {
  Transaction* tx = make<Transaction>();
  out.kind = StatementKind::transaction;
  out.transaction = tx;
  const Keyword word = keyword();
  ++at_;
  switch (word) {
    case Keyword::begin:
      tx->kind = TxKind::begin;
      out.implicit_commit = true;
      accept(Keyword::work);
      return at_end();
    case Keyword::start:
      tx->kind = TxKind::begin;
      out.implicit_commit = true;
      return accept(Keyword::transaction) && start_transaction(*tx);
    case Keyword::commit:
      tx->kind = TxKind::commit;
      accept(Keyword::work);
      return completion(*tx);
    case Keyword::rollback: {
      tx->kind = TxKind::rollback;
      accept(Keyword::work);
      if (!accept(Keyword::to)) return completion(*tx);
      tx->kind = TxKind::rollback_to;
      accept(Keyword::savepoint);
      break;
    }
    case Keyword::savepoint:
      tx->kind = TxKind::savepoint;
      break;
    default:
      tx->kind = TxKind::release_savepoint;
      if (!accept(Keyword::savepoint)) return false;
      break;
  }
  const auto name = take_name();
  if (!name) return false;
  tx->savepoint = *name;
  return at_end();
}

bool Parser::start_transaction(Transaction& tx) {
  if (at_end()) return true;
  do {
    if (accept_all({Keyword::with, Keyword::consistent, Keyword::snapshot})) {
      tx.consistent_snapshot = true;
    } else if (accept_all({Keyword::read, Keyword::only})) {
      tx.read_only = true;
    } else if (accept_all({Keyword::read, Keyword::write})) {
      tx.read_only = false;
    } else {
      return false;
    }
  } while (accept(Op::comma));
  return at_end();
}

// [AND [NO] CHAIN] [[NO] RELEASE]
bool Parser::completion(Transaction& tx) {
  if (accept_all({Keyword::and_, Keyword::chain})) tx.chain = true;
  if (accept_all({Keyword::and_, Keyword::no, Keyword::chain})) tx.chain = false;
  if (accept(Keyword::release)) tx.release = true;
  if (accept_all({Keyword::no, Keyword::release})) tx.release = false;
  return at_end();
}

// SHOW CREATE TABLE t, SHOW COLUMNS FROM t [FROM s], SHOW TABLES [FROM s] …: the rest is the server's.
bool Parser::show(Statement& out) {
  out.kind = StatementKind::show;
  ++at_;
  bool of_table = false;
  for (; !at_end(); ++at_) {
    switch (keyword()) {
      case Keyword::columns:
      case Keyword::fields:
      case Keyword::index:
      case Keyword::indexes:
      case Keyword::keys:
        of_table = true;
        continue;
      case Keyword::table:
      case Keyword::view:
        if (keyword(1) == Keyword::status) continue;
        ++at_;
        table_name();
        skip_rest();
        return true;
      case Keyword::from:
      case Keyword::in: {
        ++at_;
        if (!of_table) {
          if (const auto schema = take_name()) out.use_schema = *schema;
        } else if (auto table = table_name();
                   table && (keyword() == Keyword::from || keyword() == Keyword::in)) {
          ++at_;
          const auto schema = take_name();
          if (!schema) return false;
          tables_.back().schema = *schema;
          tables_.back().span.last = at_;
        }
        break;
      }
      case Keyword::like:
      case Keyword::where:
        break;
      default:
        continue;
    }
    break;
  }
  scan_opaque({at_, last_});
  skip_rest();
  return true;
}

// EXPLAIN ROUTE statement; EXPLAIN [EXTENDED|PARTITIONS|ANALYZE|FORMAT = x] statement; DESCRIBE t
bool Parser::explain(Statement& out) {
  ++at_;
  const bool route = keyword() == Keyword::route && !at_end() && token(1).kind != TokenKind::end &&
                     (is_reserved(keyword(1), rules_.flavour, rules_.version) || op(1) == Op::lparen ||
                      token(1).kind == TokenKind::identifier);
  out.kind = route ? StatementKind::explain_route : StatementKind::explain;
  if (route) {
    ++at_;
  } else {
    for (;;) {
      if (keyword() == Keyword::extended || keyword() == Keyword::partitions ||
          keyword() == Keyword::analyze) {
        ++at_;
      } else if (keyword() == Keyword::format && op(1) == Op::eq) {
        at_ += 3;
      } else {
        break;
      }
    }
    switch (keyword()) {
      case Keyword::select:
      case Keyword::with:
      case Keyword::insert:
      case Keyword::replace:
      case Keyword::update:
      case Keyword::delete_:
      case Keyword::table:
      case Keyword::values:
        break;
      case Keyword::for_:
        skip_rest();
        return true;  // FOR CONNECTION n
      default:
        if (op() == Op::lparen) break;
        if (!table_name()) return false;
        skip_rest();  // a column or a pattern
        return true;
    }
  }
  Statement* inner = make<Statement>();
  statement(*inner);
  out.inner = inner;
  skip_rest();
  return !error_;
}

bool Parser::kill(Statement& out) {
  Kill* kill = make<Kill>();
  out.kind = StatementKind::kill;
  ++at_;
  if (keyword(0) == Keyword::none && token().kind == TokenKind::identifier &&
      token(1).kind != TokenKind::end) {
    ++at_;  // MariaDB: HARD or SOFT
  }
  if (accept(Keyword::query)) {
    kill->query = true;
  } else {
    accept(Keyword::connection);
  }
  kill->id = expression();
  out.kill = kill;
  return kill->id != nullptr;
}

// LOCK TABLES t [AS a] READ|WRITE, …; UNLOCK TABLES
bool Parser::lock_tables(Statement& out) {
  out.implicit_commit = true;
  const bool lock = keyword() == Keyword::lock;
  ++at_;
  if (!accept(Keyword::tables) && !accept(Keyword::table)) return false;
  out.kind = lock ? StatementKind::lock_tables : StatementKind::unlock_tables;
  if (!lock) return at_end();
  do {
    if (!table_name()) return false;
    while (!at_end() && op() != Op::comma) ++at_;
  } while (accept(Op::comma));
  return true;
}

// ANALYZE | CHECK | CHECKSUM | OPTIMIZE | REPAIR [LOCAL] TABLE t, …
bool Parser::maintenance(Statement& out) {
  const Keyword verb = keyword();
  ++at_;
  if (keyword() == Keyword::local || keyword() == Keyword::no_write_to_binlog) ++at_;
  if (!accept(Keyword::table) && !accept(Keyword::tables)) return false;
  out.kind = StatementKind::analyze;
  out.implicit_commit = verb != Keyword::checksum;
  if (!ddl_names()) return false;
  skip_rest();
  return true;
}

bool Parser::by_first_word(Statement& out) {
  const uint32_t first = at_;
  switch (keyword()) {
    case Keyword::call:
      out.kind = StatementKind::call;
      break;
    case Keyword::do_: {
      out.kind = StatementKind::do_;
      ++at_;
      std::span<Expr* const> values;
      return expression_list(values);
    }
    case Keyword::load: {
      out.kind = keyword(1) == Keyword::data || keyword(1) == Keyword::xml ? StatementKind::load_data
                                                                           : StatementKind::opaque;
      if (out.kind == StatementKind::opaque) {
        out.implicit_commit = true;  // LOAD INDEX INTO CACHE
        break;
      }
      while (!at_end() && !(keyword() == Keyword::into && keyword(1) == Keyword::table)) ++at_;
      at_ += at_end() ? 0 : 2;
      if (!table_name()) return false;
      scan_opaque({at_, last_});
      has_opaque_ = true;
      skip_rest();
      return true;
    }
    case Keyword::prepare:
      out.kind = StatementKind::prepare;
      break;
    case Keyword::execute:
      out.kind = keyword(1) == Keyword::immediate ? StatementKind::prepare : StatementKind::execute;
      break;
    case Keyword::drop:
    case Keyword::deallocate:
      out.kind = StatementKind::deallocate;
      break;
    case Keyword::xa:
      out.kind = StatementKind::xa;
      break;
    case Keyword::handler:
      out.kind = StatementKind::handler;
      ++at_;
      if (!table_name()) return false;
      break;
    case Keyword::flush:
      out.kind = StatementKind::flush;
      out.implicit_commit = true;
      ++at_;
      if (keyword() == Keyword::local || keyword() == Keyword::no_write_to_binlog) ++at_;
      if ((accept(Keyword::tables) || accept(Keyword::table)) && is_name() && !ddl_names()) return false;
      break;
    case Keyword::grant:
    case Keyword::revoke:
      out.kind = StatementKind::grant;
      out.implicit_commit = true;
      break;
    case Keyword::cache:
    case Keyword::install:
    case Keyword::uninstall:
    case Keyword::change:
    case Keyword::stop:
    case Keyword::reset:
      out.implicit_commit = true;
      return false;
    default:
      return false;
  }
  scan_opaque({first, last_});
  skip_rest();
  return true;
}

}  // namespace evenkeel::sql
