// Tokens of one statement: where each begins and ends in the client's own bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::sql {

enum class TokenKind : uint8_t {
  identifier,         // abc, also every keyword that is not reserved in its place
  quoted_identifier,  // `abc`, or "abc" under ANSI_QUOTES
  string,             // 'abc' or "abc"; adjacent strings are tokens of their own
  national_string,    // N'abc'
  hex,                // x'0a' or 0x0a
  bit,                // b'01' or 0b01
  integer,            // 12
  decimal,            // 1.5
  real,               // 1e3
  parameter,          // ?
  user_variable,      // @abc, @'abc', @`abc`; a lone @ as well
  system_variable,    // @@abc; scope and dots are tokens of their own
  punctuation,        // operators and separators; `op` says which
  introducer,         // _utf8mb4 before a string, hex or bit literal
  end,                // one past the last token
};

// Operators and separators. The values are internal, not stored.
enum class Op : uint8_t {
  none,
  comma,
  semicolon,
  dot,
  lparen,
  rparen,
  lbrace,
  rbrace,
  colon,
  plus,
  minus,
  star,
  slash,
  percent,
  tilde,
  exclamation,
  caret,
  ampersand,
  pipe,
  shift_left,
  shift_right,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  null_safe_eq,
  assign,
  and_and,
  pipe_pipe,
  arrow,
  arrow_text,
  at,
};

// Reserved or not, every word the parser tests for. `none` for other identifiers. Defined in keywords.h.
enum class Keyword : uint16_t;

struct Token {
  uint32_t begin = 0;  // byte offsets into the statement text
  uint32_t end = 0;
  TokenKind kind = TokenKind::end;
  Op op = Op::none;
  Keyword keyword{};  // for `identifier` only (a quoted identifier is never a keyword)
};

// Half-open range of token indices.
struct Span {
  uint32_t first = 0;
  uint32_t last = 0;
  bool empty() const { return first == last; }
  bool operator==(const Span&) const = default;
};

}  // namespace evenkeel::sql
