// What is done with text that no rule of the grammar knows: it is skipped in balance, and searched for names
// that the server could open as tables and for calls that the proxy must answer.
#include <algorithm>

#include "router/sql/parse_state.h"

namespace evenkeel::sql {

// Stops before a word that ends an expression at this level.
Expr* Parser::opaque_expression(const Mark& from) {
  if (!back_to(from)) return nullptr;
  skip_to({Keyword::from,  Keyword::where,   Keyword::group,         Keyword::having,    Keyword::order,
           Keyword::limit, Keyword::union_,  Keyword::except,        Keyword::intersect, Keyword::into,
           Keyword::for_,  Keyword::lock,    Keyword::procedure,     Keyword::on,        Keyword::using_,
           Keyword::set,   Keyword::as,      Keyword::when,          Keyword::then,      Keyword::else_,
           Keyword::end,   Keyword::join,    Keyword::left,          Keyword::right,     Keyword::inner,
           Keyword::cross, Keyword::natural, Keyword::straight_join, Keyword::returning, Keyword::window,
           Keyword::with,  Keyword::asc,     Keyword::desc,          Keyword::and_,      Keyword::or_,
           Keyword::xor_});
  if (at_ == from.at) return nullptr;
  Expr* expr = begin(ExprKind::opaque, from.at);
  scan_opaque(since(from.at));
  has_opaque_ = true;
  return close(expr);
}

void Parser::skip_balanced() {
  if (op() == Op::lparen) {
    at_ = std::min(matching_paren(at_) + 1, last_);
  } else if (!at_end()) {
    ++at_;
  }
}

bool Parser::skip_to(std::initializer_list<Keyword> words) {
  while (!at_end() && op() != Op::comma && op() != Op::rparen && op() != Op::semicolon) {
    const Keyword word = keyword();
    if (word != Keyword::none && std::find(words.begin(), words.end(), word) != words.end()) return true;
    skip_balanced();
  }
  return false;
}

// Whether any word of the span can lead to a table.
bool Parser::opens_tables(Span span) const {
  for (uint32_t i = span.first; i < span.last; ++i) {
    switch (tokens_[i].keyword) {
      case Keyword::select:
      case Keyword::from:
      case Keyword::join:
      case Keyword::table:
      case Keyword::into:
      case Keyword::update:
      case Keyword::nextval:
      case Keyword::lastval:
      case Keyword::setval:
      case Keyword::value:
        return true;
      default:
        break;
    }
  }
  return false;
}

void Parser::scan_opaque(Span span) {
  scan_calls(span);
  if (opens_tables(span)) list_names(span);
}

void Parser::list_all(Span span) {
  scan_calls(span);
  list_names(span);
}

// Variables, and words that a parenthesis follows, as nodes without arguments.
void Parser::scan_calls(Span span) {
  const uint32_t resume = at_;
  const uint32_t part_last = last_;
  last_ = span.last;
  for (at_ = span.first; at_ < span.last && !error_;) {
    const uint32_t first = at_;
    const Token& t = token();
    const bool name = t.kind == TokenKind::identifier || t.kind == TokenKind::quoted_identifier;
    if (t.kind == TokenKind::user_variable) {
      user_variable_node();
    } else if (t.kind == TokenKind::system_variable) {
      system_variable();
    } else if (name && op(1) == Op::lparen && !never_called(t.keyword)) {
      Expr* call = begin(ExprKind::function, first);
      call->name = keep_lower(unquoted(first));
      calls_.push_back(call);
      at_ = std::min(matching_paren(first + 1) + 1, span.last);
      close(call);
      at_ = first + 1;  // calls among the arguments are calls of their own
    } else if (!name || bare_function(first) == nullptr) {
      ++at_;
    }
  }
  at_ = resume;
  last_ = part_last;
}

// Every chain of names in the span, up to two parts of each: more than the server opens, never less.
void Parser::list_names(Span span) {
  for (uint32_t i = span.first; i < span.last; ++i) {
    const auto name_at = [&](uint32_t index, bool behind_dot) {
      if (index >= span.last) return false;
      const Token& t = tokens_[index];
      if (t.kind == TokenKind::quoted_identifier || t.kind == TokenKind::introducer) return true;
      return t.kind == TokenKind::identifier &&
             (behind_dot || t.keyword == Keyword::none || !reserved(t.keyword));
    };
    if (!name_at(i, false)) continue;
    TableName name;
    name.table = identifier_at(i);
    name.span = {i, i + 1};
    if (i + 1 < span.last && tokens_[i + 1].op == Op::dot && name_at(i + 2, true)) {
      name.schema = name.table;
      name.table = identifier_at(i + 2);
      name.span.last = i + 3;
    }
    tables_.push_back(name);
    i = name.span.last - 1;
    // The rest of a longer chain is a column's.
    while (i + 2 < span.last && tokens_[i + 1].op == Op::dot) i += 2;
  }
}

}  // namespace evenkeel::sql
