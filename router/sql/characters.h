// Bytes as the lexer sees them, and stepping by character in the client's character set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/mysql/collation.h"

namespace evenkeel::sql {

// What a token that begins with this byte is.
enum class Start : uint8_t {
  other,  // no token of SQL begins so; the byte alone becomes punctuation without an operator
  blank,
  word,    // letter, _, $, any byte from 0x80 on
  x_word,  // x and X: perhaps x'…'
  b_word,  // b and B: perhaps b'…'
  n_word,  // n and N: perhaps N'…'
  line_comment,
  digit,
  single_quote,
  double_quote,
  backtick,
  dot,
  at,
  slash,
  minus,
  star,
  single,  // an operator of this one byte
  less,
  greater,
  exclamation,
  ampersand,
  pipe,
  colon,
  backslash,
};

struct CharacterTable {
  std::array<Start, 256> start{};
  std::array<bool, 256> word{};  // may continue an identifier

  constexpr CharacterTable() {
    for (int c = 0; c < 256; ++c) {
      const bool letter =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
      const bool number = c >= '0' && c <= '9';
      word[c] = letter || number;
      start[c] = letter ? Start::word : number ? Start::digit : Start::other;
    }
    for (const char c : {' ', '\t', '\n', '\v', '\f', '\r'}) set(c, Start::blank);
    for (const char c : {',', ';', '(', ')', '{', '}', '+', '%', '~', '^', '=', '?'}) set(c, Start::single);
    set('x', Start::x_word), set('X', Start::x_word);
    set('b', Start::b_word), set('B', Start::b_word);
    set('n', Start::n_word), set('N', Start::n_word);
    set('#', Start::line_comment), set('\'', Start::single_quote), set('"', Start::double_quote);
    set('`', Start::backtick), set('.', Start::dot), set('@', Start::at), set('/', Start::slash);
    set('-', Start::minus), set('*', Start::star), set('<', Start::less), set('>', Start::greater);
    set('!', Start::exclamation), set('&', Start::ampersand), set('|', Start::pipe), set(':', Start::colon);
    set('\\', Start::backslash);
  }
  constexpr void set(char c, Start value) { start[static_cast<unsigned char>(c)] = value; }
};
inline constexpr CharacterTable characters;

constexpr bool is_word_byte(char c) { return characters.word[static_cast<unsigned char>(c)]; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return characters.start[static_cast<unsigned char>(c)] == Start::blank; }

// Bytes of the multi-byte character at `at`, as the server counts them; 1 for a single byte, and for a lead
// byte that no valid trail follows (the server then takes the lead alone). `at` < `end`.
// Only sets whose trail bytes may look like ASCII are stepped; utf8 and single-byte sets give 1 throughout.
size_t character_length(mysql::CharsetStep step, const char* at, const char* end);

}  // namespace evenkeel::sql
