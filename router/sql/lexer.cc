#include "router/sql/lexer.h"

#include <algorithm>

#include "base/limits.h"
#include "base/mysql/error_codes.h"
#include "router/sql/characters.h"
#include "router/sql/keywords.h"
#include "router/sql/syntax_error.h"

namespace evenkeel::sql {
namespace {

constexpr Op single_operator(char c) {
  switch (c) {
    case ',':
      return Op::comma;
    case ';':
      return Op::semicolon;
    case '(':
      return Op::lparen;
    case ')':
      return Op::rparen;
    case '{':
      return Op::lbrace;
    case '}':
      return Op::rbrace;
    case '+':
      return Op::plus;
    case '%':
      return Op::percent;
    case '~':
      return Op::tilde;
    case '^':
      return Op::caret;
    case '=':
      return Op::eq;
    default:
      return Op::none;
  }
}

// One pass over one text. `MultiByte` is known at compile time so that the common sets pay nothing for it.
template <bool MultiByte>
class Scanner {
 public:
  Scanner(std::string_view text, const LexRules& rules, Tokens& out)
      : rules_(rules),
        out_(out),
        begin_(text.data()),
        at_(begin_),
        end_(begin_ + text.size()),
        next_(out.items.data()),
        full_(next_ + out.items.size()) {}

  Status run() {
    while (at_ < end_ && reason_ == nullptr) token();
    if (reason_ == nullptr && in_comment_) stop(end_, "unterminated comment");
    if (reason_ == nullptr) emit(end_, TokenKind::end);
    out_.items.resize(static_cast<size_t>(next_ - out_.items.data()));
    if (too_many_) {
      return fail(make_error(ErrorKind::limit, mysql::er::parse_error,
                             "The statement has more tokens than the limit sql_tokens_max"));
    }
    if (reason_ != nullptr) return fail(syntax_error(out_.text, offset_of(failed_at_), reason_));
    return {};
  }

 private:
  uint32_t offset_of(const char* place) const { return static_cast<uint32_t>(place - begin_); }
  char peek(size_t ahead) const { return ahead < static_cast<size_t>(end_ - at_) ? at_[ahead] : '\0'; }

  // A token from `from` to at_. Written through a pointer of our own: the vector's would be loaded and stored
  // for each token.
  void emit(const char* from, TokenKind kind, Op op = Op::none, Keyword keyword = Keyword::none) {
    if (next_ == full_ && !grow()) return;
    *next_++ = {offset_of(from), offset_of(at_), kind, op, keyword};
  }
  bool grow() {
    constexpr size_t tokens_at_first = 64;
    const auto count = static_cast<size_t>(next_ - out_.items.data());
    if (count > limits::sql_tokens_max) {
      too_many_ = true;
      stop(at_, "too many tokens");
      return false;
    }
    out_.items.resize(std::min(std::max(2 * count, tokens_at_first), limits::sql_tokens_max + 1));
    next_ = out_.items.data() + count;
    full_ = out_.items.data() + out_.items.size();
    return true;
  }
  void emit_operator(size_t bytes, Op op) {
    const char* from = at_;
    at_ += bytes;
    emit(from, TokenKind::punctuation, op);
  }
  void stop(const char* place, const char* reason) {
    reason_ = reason;
    failed_at_ = place;
  }

  void token() {
    switch (characters.start[static_cast<unsigned char>(*at_)]) {
      case Start::blank:
        ++at_;
        return;
      case Start::n_word:
        if (peek(1) == '\'') return quoted_token(1, TokenKind::national_string);
        return word();
      case Start::x_word:
        if (peek(1) == '\'') return digits_in_quotes(TokenKind::hex);
        return word();
      case Start::b_word:
        if (peek(1) == '\'') return digits_in_quotes(TokenKind::bit);
        return word();
      case Start::word:
        return word();
      case Start::digit:
        return number_or_word();
      case Start::single_quote:
        return quoted_token(0, TokenKind::string);
      case Start::double_quote:
        if (rules_.ansi_quotes) return quoted_identifier();
        return quoted_token(0, TokenKind::string);
      case Start::backtick:
        return quoted_identifier();
      case Start::dot:
        return dot();
      case Start::at:
        return variable();
      case Start::line_comment:
        return line_comment();
      case Start::slash:
        return slash();
      case Start::minus:
        return minus();
      case Start::star:
        return star();
      case Start::single:
        return single();
      case Start::less:
        return less();
      case Start::greater:
        return greater();
      case Start::exclamation:
        return emit_operator(peek(1) == '=' ? 2 : 1, peek(1) == '=' ? Op::ne : Op::exclamation);
      case Start::ampersand:
        return emit_operator(peek(1) == '&' ? 2 : 1, peek(1) == '&' ? Op::and_and : Op::ampersand);
      case Start::pipe:
        return emit_operator(peek(1) == '|' ? 2 : 1, peek(1) == '|' ? Op::pipe_pipe : Op::pipe);
      case Start::colon:
        return emit_operator(peek(1) == '=' ? 2 : 1, peek(1) == '=' ? Op::assign : Op::colon);
      case Start::backslash:
        return backslash();
      case Start::other:
        if (*at_ == '\0' && nothing_behind()) {
          ++at_;
          return;
        }
        return emit_operator(1, Op::none);
    }
  }

  // Of a NUL at at_: the servers take one at the end, which C programs send along, for the end.
  bool nothing_behind() const {
    return std::all_of(at_ + 1, end_, [](char c) {
      return c == ';' || characters.start[static_cast<unsigned char>(c)] == Start::blank;
    });
  }

  // --- words ---

  void skip_word_bytes() {
    if constexpr (MultiByte) {
      while (at_ < end_ && is_word_byte(*at_)) at_ += character_length(rules_.step, at_, end_);
    } else {
      while (at_ < end_ && is_word_byte(*at_)) ++at_;
    }
  }

  void word() {
    const char* from = at_;
    skip_word_bytes();
    end_word(from);
  }

  // at_ stands behind an unquoted name. Directly before `.name` it is never a keyword, and neither is the
  // name behind the dot, which may begin with a digit.
  void end_word(const char* from) {
    if (!(peek(0) == '.' && is_word_byte(peek(1)))) {
      const std::string_view text(from, static_cast<size_t>(at_ - from));
      const Keyword keyword = find_keyword(text, static_cast<size_t>(end_ - from));
      const bool introducer = keyword == Keyword::none && text.front() == '_' && text.size() > 1 &&
                              mysql::default_collation_of(text.substr(1)) != nullptr;
      return emit(from, introducer ? TokenKind::introducer : TokenKind::identifier, Op::none, keyword);
    }
    emit(from, TokenKind::identifier);
    plain_names_behind_dots();
  }

  // at_ stands at a `.` with a name directly behind it: takes `.name` as often as it comes.
  void plain_names_behind_dots() {
    while (peek(0) == '.' && is_word_byte(peek(1))) {
      emit_operator(1, Op::dot);
      const char* from = at_;
      skip_word_bytes();
      emit(from, TokenKind::identifier);
    }
  }

  void dot() {
    if (is_digit(peek(1))) return real_part(at_, at_);
    if (is_word_byte(peek(1))) return plain_names_behind_dots();
    emit_operator(1, Op::dot);
  }

  // --- numbers ---

  void number_or_word() {
    const char* from = at_;
    if (*at_ == '0' && (peek(1) == 'x' || peek(1) == 'b')) {
      const bool hex = at_[1] == 'x';
      at_ += 2;
      while (at_ < end_ && (hex ? is_hex_digit(*at_) : *at_ == '0' || *at_ == '1')) ++at_;
      if (at_ - from > 2 && !is_word_byte(peek(0))) return emit(from, hex ? TokenKind::hex : TokenKind::bit);
      skip_word_bytes();
      return end_word(from);
    }
    while (at_ < end_ && is_digit(*at_)) ++at_;
    const char next = peek(0);
    if (!is_word_byte(next)) {
      if (next == '.') return real_part(from, at_);
      return emit(from, TokenKind::integer);
    }
    if ((next == 'e' || next == 'E') && exponent()) return emit(from, TokenKind::real);
    skip_word_bytes();
    end_word(from);
  }

  // The part of a number from its point on.
  void real_part(const char* from, const char* point) {
    at_ = point + 1;
    while (at_ < end_ && is_digit(*at_)) ++at_;
    if (peek(0) != 'e' && peek(0) != 'E') return emit(from, TokenKind::decimal);
    // MySQL drops the bytes of `1.e` and goes on behind them; MariaDB calls it an error. Nobody means it.
    if (!exponent()) return stop(from, "a number with an exponent without digits");
    emit(from, TokenKind::real);
  }

  // At e or E: takes the exponent if it is one.
  bool exponent() {
    const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if (!is_digit(peek(1 + sign))) return false;
    at_ += 1 + sign;
    while (at_ < end_ && is_digit(*at_)) ++at_;
    return true;
  }

  static bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

  // x'0a', b'01'
  void digits_in_quotes(TokenKind kind) {
    const char* from = at_;
    at_ += 2;
    while (at_ < end_ && (kind == TokenKind::hex ? is_hex_digit(*at_) : *at_ == '0' || *at_ == '1')) ++at_;
    if (peek(0) != '\'') return stop(from, "an unterminated hexadecimal or bit literal");
    if (kind == TokenKind::hex && (at_ - from) % 2 != 0)
      return stop(from, "an odd number of hexadecimal digits");
    ++at_;
    emit(from, kind);
  }

  // --- strings and quoted names ---

  // From the opening quote to behind the closing one; false when the text ends first.
  bool skip_string() {
    const char quote = *at_++;
    while (at_ < end_) {
      if constexpr (MultiByte) {
        const size_t length = character_length(rules_.step, at_, end_);
        if (length > 1) {
          at_ += length;
          continue;
        }
      }
      const char c = *at_++;
      if (c == '\\' && !rules_.no_backslash_escapes) {
        // The byte behind it counts alone, even where it could lead a character.
        if (at_ == end_) return false;
        ++at_;
      } else if (c == quote) {
        if (at_ == end_ || *at_ != quote) return true;
        ++at_;
      }
    }
    return false;
  }

  void quoted_token(size_t prefix, TokenKind kind) {
    const char* from = at_;
    at_ += prefix;
    if (!skip_string()) return stop(from, "an unterminated string");
    emit(from, kind);
  }

  bool skip_quoted_name() {
    const char quote = *at_++;
    while (at_ < end_ && *at_ != '\0') {
      if constexpr (MultiByte) {
        const size_t length = character_length(rules_.step, at_, end_);
        if (length > 1) {
          at_ += length;
          continue;
        }
      }
      if (*at_++ != quote) continue;
      if (at_ == end_ || *at_ != quote) return true;
      ++at_;
    }
    return false;
  }

  void quoted_identifier() {
    const char* from = at_;
    if (!skip_quoted_name()) return stop(from, "an unterminated quoted identifier");
    emit(from, TokenKind::quoted_identifier);
  }

  // --- variables ---

  void variable() {
    const char* from = at_++;
    const char next = peek(0);
    if (next == '@') {
      ++at_;
      if (peek(0) == '`') {
        if (!skip_quoted_name()) return stop(from, "an unterminated quoted identifier");
        return emit(from, TokenKind::system_variable);
      }
      skip_word_bytes();
      emit(from, TokenKind::system_variable);
      return plain_names_behind_dots();
    }
    if (next == '`' || (next == '"' && rules_.ansi_quotes)) {
      if (!skip_quoted_name()) return stop(from, "an unterminated quoted identifier");
    } else if (next == '\'' || next == '"') {
      if (!skip_string()) return stop(from, "an unterminated string");
    } else {
      // A variable, or the host of user@host: dots belong to it.
      while (at_ < end_ && (is_word_byte(*at_) || *at_ == '.')) ++at_;
    }
    emit(from, TokenKind::user_variable);
  }

  // --- comments ---

  void line_comment() {
    while (at_ < end_ && *at_ != '\n' && *at_ != '\0') ++at_;
  }

  void minus() {
    if (peek(1) == '-') {
      const bool comment =
          at_ + 2 >= end_ || is_blank(at_[2]) || static_cast<unsigned char>(at_[2]) < 0x20 || at_[2] == 0x7f;
      if (comment) return line_comment();
    }
    if (peek(1) == '>' && rules_.flavour == mysql::Flavour::mysql) {
      const bool text = peek(2) == '>';
      return emit_operator(text ? 3 : 2, text ? Op::arrow_text : Op::arrow);
    }
    emit_operator(1, Op::minus);
  }

  // Behind `/*`: to behind the closing `*/`. A versioned comment that is skipped may hold plain comments, one
  // level of them.
  bool skip_comment(bool nested) {
    while (at_ < end_) {
      const char c = *at_++;
      if (nested && c == '/' && peek(0) == '*') {
        ++at_;
        if (!skip_comment(false)) return false;
      } else if (c == '*' && peek(0) == '/') {
        ++at_;
        return true;
      }
    }
    return false;
  }

  void slash() {
    if (peek(1) != '*') return emit_operator(1, Op::slash);
    const char* from = at_;
    at_ += 2;
    const bool maria_only = rules_.flavour == mysql::Flavour::mariadb && peek(0) == 'M' && peek(1) == '!';
    if (maria_only || peek(0) == '!') return executable_comment(from, maria_only);
    const bool hint = peek(0) == '+' && rules_.flavour == mysql::Flavour::mysql;
    if (!skip_comment(false)) return stop(from, "an unterminated comment");
    if (hint && quote_open_in(std::string_view(from + 3, static_cast<size_t>(at_ - from) - 5))) {
      stop(from, "an optimizer hint with a quote that is not closed before */");
    }
  }

  // The server's hint parser reads quoted names inside a hint, so it could see another `*/` as the end.
  static bool quote_open_in(std::string_view hint) {
    char open = '\0';
    for (const char c : hint) {
      if (open == '\0' && (c == '`' || c == '"' || c == '\'')) {
        open = c;
      } else if (c == open) {
        open = '\0';
      }
    }
    return open != '\0';
  }

  // at_ stands at `!` or `M!`.
  void executable_comment(const char* from, bool maria_only) {
    at_ += maria_only ? 2 : 1;
    // MySQL takes a sixth digit from 8.1 on; before, it is the first byte of the content.
    const size_t digits_max = rules_.flavour == mysql::Flavour::mysql && rules_.version < 80100 ? 5 : 6;
    size_t digits = 0;
    uint32_t version = 0;
    while (digits < digits_max && is_digit(peek(digits)))
      version = version * 10 + static_cast<uint32_t>(at_[digits++] - '0');
    if (digits >= 5 && !runs_version(version, maria_only)) {
      if (!skip_comment(true)) stop(from, "an unterminated comment");
      return;
    }
    if (digits >= 5) at_ += digits;
    out_.markers.push_back({offset_of(from), offset_of(at_)});
    in_comment_ = true;
  }

  bool runs_version(uint32_t version, bool maria_only) const {
    if (version > rules_.version) return false;
    // MariaDB leaves out what is meant for MySQL 5.7 and later.
    return rules_.flavour == mysql::Flavour::mysql || maria_only || version < 50700 || version > 99999;
  }

  void star() {
    if (!in_comment_ || peek(1) != '/') return emit_operator(1, Op::star);
    out_.markers.push_back({offset_of(at_), offset_of(at_ + 2)});
    at_ += 2;
    in_comment_ = false;  // however many were opened: the server keeps no count
  }

  // --- operators ---

  void single() {
    if (*at_ == '?') {
      const char* from = at_++;
      // The server takes no placeholder directly before a name.
      if (is_word_byte(peek(0))) return emit(from, TokenKind::punctuation);
      return emit(from, TokenKind::parameter);
    }
    emit_operator(1, single_operator(*at_));
  }

  void less() {
    switch (peek(1)) {
      case '=':
        return emit_operator(peek(2) == '>' ? 3 : 2, peek(2) == '>' ? Op::null_safe_eq : Op::le);
      case '>':
        return emit_operator(2, Op::ne);
      case '<':
        return emit_operator(2, Op::shift_left);
      default:
        return emit_operator(1, Op::lt);
    }
  }

  void greater() {
    switch (peek(1)) {
      case '=':
        return emit_operator(2, Op::ge);
      case '>':
        return emit_operator(2, Op::shift_right);
      default:
        return emit_operator(1, Op::gt);
    }
  }

  // \N was NULL until MySQL 8.0.
  void backslash() {
    const bool null = peek(1) == 'N' && (rules_.flavour == mysql::Flavour::mariadb || rules_.version < 80000);
    if (!null) return emit_operator(1, Op::none);
    const char* from = at_;
    at_ += 2;
    emit(from, TokenKind::identifier, Op::none, Keyword::null);
  }

  const LexRules& rules_;
  Tokens& out_;
  const char* begin_;
  const char* at_;
  const char* end_;
  Token* next_;  // where the next token goes, in out_.items
  Token* full_;
  bool too_many_ = false;
  bool in_comment_ = false;  // inside an executable comment: `*/` ends it
  const char* reason_ = nullptr;
  const char* failed_at_ = nullptr;
};

// Words by which a statement with a body of statements begins, seen from its first token.
bool has_body(const Tokens& tokens, uint32_t from) {
  const auto keyword = [&](uint32_t i) { return i < tokens.size() ? tokens[i].keyword : Keyword::none; };
  if (keyword(from) == Keyword::begin) return keyword(from + 1) == Keyword::not_;
  if (keyword(from) != Keyword::create && keyword(from) != Keyword::alter) return false;
  // OR REPLACE DEFINER = `user`@`host` AGGREGATE … stand in between.
  constexpr uint32_t words_between_max = 12;
  for (uint32_t i = from + 1; i < tokens.size() && i <= from + words_between_max; ++i) {
    switch (keyword(i)) {
      case Keyword::procedure:
      case Keyword::function:
      case Keyword::trigger:
      case Keyword::event:
      case Keyword::package:
        return true;
      case Keyword::table:
      case Keyword::view:
      case Keyword::index:
      case Keyword::database:
      case Keyword::schema:
      case Keyword::user:
        return false;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

std::string_view Tokens::text_of(Span span) const {
  if (span.empty()) return {};
  return text.substr(items[span.first].begin, items[span.last - 1].end - items[span.first].begin);
}

Status lex(std::string_view text, const LexRules& rules, Tokens& tokens) {
  tokens.text = text;
  tokens.markers.clear();
  if (rules.step == mysql::CharsetStep::not_allowed || text.size() > UINT32_MAX - 1) tokens.items.clear();
  if (rules.step == mysql::CharsetStep::not_allowed) {
    return fail(
        make_error(ErrorKind::statement, mysql::er::wrong_value_for_var,
                   "Variable 'character_set_client' can't be set to a character set of wide characters"));
  }
  if (text.size() > UINT32_MAX - 1) {
    return fail(
        make_error(ErrorKind::limit, mysql::er::net_packet_too_large, "The statement is longer than 4 GiB"));
  }
  if (rules.step == mysql::CharsetStep::bytewise) return Scanner<false>(text, rules, tokens).run();
  return Scanner<true>(text, rules, tokens).run();
}

uint32_t next_statement(const Tokens& tokens, uint32_t from) {
  const auto last = static_cast<uint32_t>(tokens.size() - 1);
  if (has_body(tokens, from)) return last;
  for (uint32_t i = from; i < last; ++i) {
    if (tokens[i].op == Op::semicolon) return i + 1;
  }
  return last;
}

}  // namespace evenkeel::sql
