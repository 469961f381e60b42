// SET in all forms.
#include <string>

#include "router/sql/parse_state.h"

namespace evenkeel::sql {

bool Parser::set_statement(Statement& out) {
  Set* set = make<Set>();
  out.kind = StatementKind::set;
  out.set = set;
  ++at_;
  const bool scope =
      keyword() == Keyword::session || keyword() == Keyword::local || keyword() == Keyword::global;
  if (keyword(scope ? 1 : 0) == Keyword::transaction && op(scope ? 2 : 1) != Op::eq)
    return set_transaction(*set);
  Gather<SetItem> items(*this, set_items_);
  do {
    SetItem item;
    const uint32_t first = at_;
    if (!set_item(item)) return false;
    item.span = since(first);
    items.push(item);
  } while (accept(Op::comma));
  set->items = items.finish();
  return at_end();
}

// SET [SESSION|GLOBAL] TRANSACTION {ISOLATION LEVEL … | READ ONLY | READ WRITE}, …
bool Parser::set_transaction(Set& set) {
  SetItem item;
  item.what = SetItem::What::transaction;
  item.span.first = at_;
  set.transaction = true;
  set.one_shot = keyword() == Keyword::transaction;
  if (!set.one_shot) {
    item.explicit_scope = true;
    item.scope = keyword() == Keyword::global ? SetScope::global : SetScope::session;
    ++at_;
  }
  ++at_;
  do {
    if (accept_all({Keyword::isolation, Keyword::level})) {
      if (accept_all({Keyword::repeatable, Keyword::read})) {
        set.isolation = "repeatable read";
      } else if (accept_all({Keyword::read, Keyword::committed})) {
        set.isolation = "read committed";
      } else if (accept_all({Keyword::read, Keyword::uncommitted})) {
        set.isolation = "read uncommitted";
      } else if (accept(Keyword::serializable)) {
        set.isolation = "serializable";
      } else {
        return false;
      }
    } else if (accept_all({Keyword::read, Keyword::only})) {
      set.read_only = true;
    } else if (accept_all({Keyword::read, Keyword::write})) {
      set.read_only = false;
    } else {
      return false;
    }
  } while (accept(Op::comma));
  item.span.last = at_;
  set.items = keep(std::span<const SetItem>(&item, 1));
  return at_end();
}

bool Parser::set_item(SetItem& item) {
  switch (keyword()) {
    case Keyword::names:
      return op(1) == Op::eq ? set_variable(item) : set_names(item);
    case Keyword::charset:
      return op(1) == Op::eq ? set_variable(item) : set_names(item);
    case Keyword::character:
    case Keyword::char_:
      if (keyword(1) != Keyword::set) return false;
      return set_names(item);
    case Keyword::password:
      if (op(1) != Op::eq && keyword(1) != Keyword::for_ && keyword(1) != Keyword::to)
        return set_variable(item);
      item.what = SetItem::What::password;
      skip_rest();
      return true;
    case Keyword::role:
      if (op(1) == Op::eq || op(1) == Op::assign) return set_variable(item);
      item.what = SetItem::What::role;
      skip_rest();
      return true;
    case Keyword::default_:
      if (keyword(1) != Keyword::role) return false;
      item.what = SetItem::What::role;
      skip_rest();
      return true;
    default:
      return set_variable(item);
  }
}

// NAMES x [COLLATE y], CHARACTER SET x, CHARSET x; DEFAULT for x leaves the value null
bool Parser::set_names(SetItem& item) {
  item.what = keyword() == Keyword::names ? SetItem::What::names : SetItem::What::character_set;
  at_ += keyword() == Keyword::character || keyword() == Keyword::char_ ? 2 : 1;
  if (accept(Keyword::default_)) return true;
  if (token().kind == TokenKind::string) structural_.push_back(at_);
  item.value = token().kind == TokenKind::string ? string_literal() : is_word() ? bare_word() : nullptr;
  if (item.value == nullptr) return false;
  if (!accept(Keyword::collate)) return true;
  if (accept(Keyword::default_)) return true;
  if (token().kind == TokenKind::string) {
    item.collation = keep_lower(string_as_name().text);
    return true;
  }
  const auto name = take_word();
  if (!name) return false;
  item.collation = keep_lower(name->text);
  return true;
}

// [scope] name = value, @@scope.name = value, @user = value
bool Parser::set_variable(SetItem& item) {
  if (token().kind == TokenKind::user_variable) {
    const size_t calls = calls_.size();
    const Expr* variable = user_variable_node();
    calls_.resize(calls);  // written, not read
    item.scope = SetScope::user_variable;
    item.name = variable->name;
  } else if (token().kind == TokenKind::system_variable) {
    const size_t calls = calls_.size();
    const Expr* variable = system_variable();
    calls_.resize(calls);
    item.name = variable->name;
    item.explicit_scope = !variable->scope.empty();
    if (variable->scope == "global") item.scope = SetScope::global;
    if (variable->scope == "persist") item.scope = SetScope::persist;
    if (variable->scope == "persist_only") item.scope = SetScope::persist_only;
  } else {
    const Keyword scope = keyword();
    const bool written = (scope == Keyword::session || scope == Keyword::local || scope == Keyword::global ||
                          scope == Keyword::persist || scope == Keyword::persist_only) &&
                         op(1) != Op::eq && op(1) != Op::assign && op(1) != Op::dot;
    if (written) {
      ++at_;
      item.explicit_scope = true;
      if (scope == Keyword::global) item.scope = SetScope::global;
      if (scope == Keyword::persist) item.scope = SetScope::persist;
      if (scope == Keyword::persist_only) item.scope = SetScope::persist_only;
    }
    const auto name = take_name();
    if (!name) return false;
    item.name = keep_lower(name->text);
    if (accept(Op::dot)) {
      const auto part = take_word();
      if (!part) return false;
      item.name = keep_text(std::string(item.name) + "." + std::string(keep_lower(part->text)));
    }
  }
  if (!accept(Op::eq) && !accept(Op::assign)) return false;
  if (keyword() == Keyword::default_ && op(1) != Op::lparen) {
    ++at_;
    return item.scope != SetScope::user_variable;
  }
  item.value = set_value();
  return item.value != nullptr;
}

// Some reserved words are values where nothing follows them.
Expr* Parser::set_value() {
  const bool ends = token(1).kind == TokenKind::end || op(1) == Op::comma || op(1) == Op::semicolon;
  switch (keyword()) {
    case Keyword::on:
    case Keyword::all:
    case Keyword::binary:
    case Keyword::row:
    case Keyword::system:
      return ends ? bare_word() : nullptr;
    default:
      return expression_or_opaque();
  }
}

// ON, utf8mb4, …: a column expression with the word for its name
Expr* Parser::bare_word() {
  Expr* expr = begin(ExprKind::column, at_);
  expr->column = identifier_at(at_++);
  return close(expr);
}

}  // namespace evenkeel::sql
