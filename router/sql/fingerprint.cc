#include "router/sql/fingerprint.h"

#include <algorithm>
#include <xxhash.h>

#include "router/sql/keywords.h"

namespace evenkeel::sql {
namespace {

bool is_zero(std::string_view digits) { return digits.find_first_not_of('0') == std::string_view::npos; }

bool is_literal_token(TokenKind kind) {
  switch (kind) {
    case TokenKind::string:
    case TokenKind::national_string:
    case TokenKind::hex:
    case TokenKind::bit:
    case TokenKind::integer:
    case TokenKind::decimal:
    case TokenKind::real:
    case TokenKind::parameter:
      return true;
    default:
      return false;
  }
}

// Reserved in both flavours: never a name, so letter case cannot matter.
bool same_in_any_case(Keyword keyword) {
  constexpr uint32_t oldest = 0;
  return keyword != Keyword::none && is_reserved(keyword, mysql::Flavour::mysql, oldest) &&
         is_reserved(keyword, mysql::Flavour::mariadb, oldest);
}

// Index behind a list of values in parentheses at `open`; 0 when it is none.
uint32_t behind_value_list(const Tokens& tokens, uint32_t open, uint32_t last) {
  bool value = false;
  for (uint32_t i = open + 1; i < last; ++i) {
    const Token& token = tokens[i];
    if (token.op == Op::rparen) return value ? i + 1 : 0;
    const bool word = token.keyword == Keyword::null || token.keyword == Keyword::default_ ||
                      token.keyword == Keyword::true_ || token.keyword == Keyword::false_;
    if (is_literal_token(token.kind) || word) {
      value = true;
    } else if (token.op != Op::comma && token.op != Op::minus && token.op != Op::plus &&
               token.kind != TokenKind::introducer) {
      return 0;
    }
  }
  return 0;
}

// Names carry their length, so that no two token lists give the same bytes: one byte, or long_mark and four.
// keyword_mark stands in its place before a keyword.
constexpr char long_mark = '\xfe';
constexpr char keyword_mark = '\xff';

void append_size(size_t size, std::string& out) {
  if (size < static_cast<unsigned char>(long_mark)) {
    out += static_cast<char>(size);
    return;
  }
  out += long_mark;
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(size >> shift);
}

bool tight_before(Op op) {
  return op == Op::comma || op == Op::rparen || op == Op::dot || op == Op::semicolon || op == Op::lparen;
}
bool tight_after(Op op) { return op == Op::lparen || op == Op::dot; }

}  // namespace

void append_shape(const Tokens& tokens, Span part, std::string& out) {
  for (uint32_t i = part.first; i < part.last; ++i) {
    const Token& token = tokens[i];
    out += static_cast<char>(token.kind);
    switch (token.kind) {
      case TokenKind::identifier:
        if (same_in_any_case(token.keyword)) {
          out += keyword_mark;
          out += static_cast<char>(static_cast<uint16_t>(token.keyword) & 0xff);
          out += static_cast<char>(static_cast<uint16_t>(token.keyword) >> 8);
          break;
        }
        [[fallthrough]];
      case TokenKind::quoted_identifier:
      case TokenKind::user_variable:
      case TokenKind::system_variable:
      case TokenKind::introducer: {
        const std::string_view text = tokens.text_of(i);
        append_size(text.size(), out);
        out += text;
        break;
      }
      case TokenKind::punctuation:
        out += static_cast<char>(token.op);
        if (token.op == Op::none) out += tokens.text_of(i);
        break;
      case TokenKind::integer:
        out += is_zero(tokens.text_of(i)) ? '0' : '1';
        break;
      default:
        break;
    }
  }
}

uint64_t shape_hash(std::string_view shape) { return XXH3_64bits(shape.data(), shape.size()); }

std::string fingerprint_text(const Tokens& tokens, Span part) {
  std::string out;
  Op before = Op::lparen;
  for (uint32_t i = part.first; i < part.last; ++i) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::end) break;
    const bool glued =
        tight_after(before) || (token.kind == TokenKind::punctuation && tight_before(token.op));
    const uint32_t behind = token.op == Op::lparen ? behind_value_list(tokens, i, part.last) : 0;
    const bool listed =
        i > part.first && (tokens[i - 1].keyword == Keyword::in || tokens[i - 1].keyword == Keyword::values ||
                           tokens[i - 1].keyword == Keyword::value);
    if (behind != 0 && listed) {
      out += " (?, ...)";
      i = behind - 1;
      // Further rows of VALUES fold into the first.
      while (i + 2 < part.last && tokens[i + 1].op == Op::comma && tokens[i + 2].op == Op::lparen) {
        const uint32_t next = behind_value_list(tokens, i + 2, part.last);
        if (next == 0) break;
        i = next - 1;
      }
      before = Op::none;
      continue;
    }
    if (!glued) out += ' ';
    out += is_literal_token(token.kind) ? std::string_view("?") : tokens.text_of(i);
    before = token.op;
  }
  return out;
}

}  // namespace evenkeel::sql
