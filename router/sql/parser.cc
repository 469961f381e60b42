#include "router/sql/parser.h"

#include <algorithm>

#include "base/limits.h"
#include "base/mysql/error_codes.h"
#include "router/sql/literal.h"
#include "router/sql/parse_state.h"
#include "router/sql/syntax_error.h"

namespace evenkeel::sql {

Parser::Parser(const Tokens& tokens, const LexRules& rules, Span part)
    : tokens_(tokens), rules_(rules), part_(part), at_(part.first), last_(part.last) {
  constexpr size_t arena_bytes = 2048;  // enough for a point select: one allocation
  statement_ = std::make_shared<Statement>();
  statement_->arena = std::make_unique<std::pmr::monotonic_buffer_resource>(arena_bytes);
  arena_ = statement_->arena.get();
  const auto end = static_cast<uint32_t>(tokens.size() - 1);
  last_ = std::min(last_, end);
  at_ = std::min(at_, last_);
  while (last_ > at_ && tokens_[last_ - 1].op == Op::semicolon) --last_;
}

Parser::Deeper::Deeper(Parser& parser) : parser_(parser), ok_(++parser.depth_ <= limits::sql_depth_max) {
  if (!ok_) parser_.limit_error("nested deeper than sql_depth_max");
}

Result<StatementPtr> Parser::run() {
  EVENKEEL_TRY(check_parens());
  statement(*statement_);
  if (error_) return fail(*error_);
  statement_->parameters = static_cast<uint32_t>(parameters_.size());
  statement_->structural = std::move(structural_);
  std::sort(statement_->structural.begin(), statement_->structural.end());
  return StatementPtr(std::move(statement_));
}

// One pass before all rules: parentheses must pair up, and the placeholders are numbered.
Status Parser::check_parens() {
  int open = 0;
  for (uint32_t i = at_; i < last_; ++i) {
    const Token& token = tokens_[i];
    if (token.kind == TokenKind::parameter) parameters_.push_back(i);
    if (token.op == Op::lparen) ++open;
    if (token.op != Op::rparen) continue;
    if (--open < 0)
      return fail(syntax_error(tokens_.text, token.begin, "a closing parenthesis without an opening one"));
  }
  if (open > 0) return fail(syntax_error(tokens_.text, tokens_.text.size(), "an unclosed parenthesis"));
  return {};
}

Error Parser::syntax_error_here(std::string_view reason) const {
  return syntax_error(tokens_.text, at_end() ? tokens_.text.size() : token().begin, reason);
}

void Parser::limit_error(std::string_view what) {
  if (error_) return;
  error_ = syntax_error_here(what);
  error_->kind = ErrorKind::limit;
}

bool Parser::accept(Keyword word) {
  if (keyword() != word) return false;
  ++at_;
  return true;
}

bool Parser::accept(Op wanted) {
  if (op() != wanted) return false;
  ++at_;
  return true;
}

bool Parser::accept_all(std::initializer_list<Keyword> words) {
  uint32_t ahead = 0;
  for (const Keyword word : words) {
    if (keyword(ahead++) != word) return false;
  }
  at_ += ahead;
  return true;
}

bool Parser::is_name(uint32_t ahead) const {
  const Token& t = token(ahead);
  if (t.kind == TokenKind::quoted_identifier || t.kind == TokenKind::introducer) return true;
  return t.kind == TokenKind::identifier && (t.keyword == Keyword::none || !reserved(t.keyword));
}

bool Parser::is_word(uint32_t ahead) const {
  const TokenKind kind = token(ahead).kind;
  return kind == TokenKind::identifier || kind == TokenKind::quoted_identifier ||
         kind == TokenKind::introducer;
}

bool Parser::query_starts(uint32_t ahead) const {
  switch (keyword(ahead)) {
    case Keyword::select:
    case Keyword::with:
      return true;
    case Keyword::values:  // MySQL: VALUES (a) is the function of ON DUPLICATE KEY UPDATE, VALUES ROW (a) a
                           // query
      return rules_.flavour == mysql::Flavour::mariadb || keyword(ahead + 1) == Keyword::row;
    case Keyword::table:
      return rules_.flavour == mysql::Flavour::mysql;
    default:
      return false;
  }
}

uint32_t Parser::matching_paren(uint32_t open) const {
  int depth = 0;
  for (uint32_t i = open; i < last_; ++i) {
    if (tokens_[i].op == Op::lparen) ++depth;
    if (tokens_[i].op == Op::rparen && --depth == 0) return i;
  }
  return last_;
}

std::string_view Parser::keep_text(std::string_view text) {
  if (text.empty()) return {};
  char* copy = static_cast<char*>(arena_->allocate(text.size(), 1));
  std::copy(text.begin(), text.end(), copy);
  return {copy, text.size()};
}

std::string_view Parser::keep_lower(std::string_view text) {
  if (text.empty()) return {};
  char* copy = static_cast<char*>(arena_->allocate(text.size(), 1));
  std::transform(text.begin(), text.end(), copy,
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return {copy, text.size()};
}

bool Parser::back_to(const Mark& mark) {
  if (error_ || --attempts_left_ < 0) return false;
  at_ = mark.at;
  tables_.resize(mark.tables);
  calls_.resize(mark.calls);
  structural_.resize(mark.structural);
  has_opaque_ = mark.has_opaque;
  return true;
}

std::string_view Parser::unquoted(uint32_t index) {
  std::string_view text = tokens_.text_of(index);
  if (tokens_[index].kind != TokenKind::quoted_identifier) return keep_text(text);
  const char quote = text.front();
  text = text.substr(1, text.size() - 2);
  if (text.find(quote) == std::string_view::npos) return keep_text(text);
  return keep_text(unquote_identifier(tokens_.text_of(index), rules_));
}

Identifier Parser::identifier_at(uint32_t index) { return {unquoted(index), index}; }

std::optional<Identifier> Parser::take_name() {
  if (!is_name()) return std::nullopt;
  return identifier_at(at_++);
}

std::optional<Identifier> Parser::take_word() {
  if (!is_word()) return std::nullopt;
  return identifier_at(at_++);
}

// [schema.]table or .table
std::optional<TableName> Parser::table_name(bool listed) {
  TableName name;
  const uint32_t first = at_;
  if (!accept(Op::dot)) {
    const auto part = take_name();
    if (!part) return std::nullopt;
    name.table = *part;
    if (op() == Op::dot && is_word(1)) {
      ++at_;
      name.schema = name.table;
      const auto table = take_word();
      if (!table) return std::nullopt;
      name.table = *table;
    }
  } else {
    const auto table = take_word();
    if (!table) return std::nullopt;
    name.table = *table;
  }
  name.span = since(first);
  if (listed) tables_.push_back(name);
  return name;
}

bool Parser::name_list(std::span<const Identifier>& out) {
  if (!accept(Op::lparen)) return false;
  Gather<Identifier> list(*this, names_);
  do {
    const auto name = take_name();
    if (!name) return false;
    list.push(*name);
  } while (accept(Op::comma));
  out = list.finish();
  return accept(Op::rparen);
}

Identifier Parser::string_as_name() {
  structural_.push_back(at_);
  const std::string text = unescape_string(tokens_.text_of(at_), rules_);
  return {keep_text(text), at_++};
}

bool Parser::alias(Identifier& out, bool strings) {
  const bool as = accept(Keyword::as);
  if (strings && token().kind == TokenKind::string) {
    out = string_as_name();
    return true;
  }
  const auto name = take_name();
  if (name) out = *name;
  return name || !as;
}

Result<StatementPtr> parse(const Tokens& tokens, const LexRules& rules, Span part) {
  return Parser(tokens, rules, part).run();
}

Result<StatementPtr> parse(const Tokens& tokens, const LexRules& rules) {
  return parse(tokens, rules, {0, static_cast<uint32_t>(tokens.size() - 1)});
}

}  // namespace evenkeel::sql
