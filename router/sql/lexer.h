// Text -> tokens, by MySQL's lexical rules.
//
// The lexer and the server must agree on where each string ends, so the rules depend on what the session told
// the server: the client character set, sql_mode, and the server's flavour and version (executable comments).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/collation.h"
#include "base/mysql/flavour.h"
#include "base/result.h"
#include "router/sql/token.h"

namespace evenkeel::sql {

struct LexRules {
  mysql::CharsetStep step = mysql::CharsetStep::bytewise;
  bool ansi_quotes = false;           // "x" is an identifier
  bool no_backslash_escapes = false;  // \ is an ordinary character
  bool ignore_space = false;
  bool pipes_as_concat = false;
  bool high_not_precedence = false;
  mysql::Flavour flavour = mysql::Flavour::mariadb;
  uint32_t version = 101100;  // 80036, 101119: as in /*!80036 … */
  bool operator==(const LexRules&) const = default;
};

// The tokens of a text, ending with one `end` token. Reusable: `lex` keeps the vector's memory.
// `text` is borrowed: it must outlive the object's use.
struct Tokens {
  // The delimiters of an executed comment, `/*!80000` and `*/`: bytes between tokens that come in pairs.
  struct Marker {
    uint32_t begin = 0;
    uint32_t end = 0;
  };

  std::string_view text;
  std::vector<Token> items;
  std::vector<Marker> markers;  // in order of appearance; empty for nearly every statement

  size_t size() const { return items.size(); }
  const Token& operator[](size_t i) const { return items[i]; }
  std::string_view text_of(uint32_t token) const {
    return text.substr(items[token].begin, items[token].end - items[token].begin);
  }
  // Bytes from the first token's begin to the last one's end; empty span -> empty.
  std::string_view text_of(Span span) const;
};

// Never recurses. Errors: an unterminated string or comment, a statement over limits::sql_tokens_max, a
// character set that is no client character set. `tokens.text` is set to `text`.
Status lex(std::string_view text, const LexRules& rules, Tokens& tokens);

// Where the next statement of a multi-statement text begins: the index after the first `;` token at or after
// `from`, or tokens.size()-1 when there is none. A statement with a body (CREATE PROCEDURE, FUNCTION,
// TRIGGER, EVENT, PACKAGE; BEGIN NOT ATOMIC) reaches to the end of the text, because its own `;` cannot be
// told from separators without the server's grammar.
uint32_t next_statement(const Tokens& tokens, uint32_t from);

}  // namespace evenkeel::sql
