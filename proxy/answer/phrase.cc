#include "proxy/answer/phrase.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "router/sql/lexer.h"
#include "router/sql/literal.h"

namespace evenkeel::answer {
namespace {

using Kind = Word::Kind;
using sql::TokenKind;

// Words longer than this are cut in messages.
constexpr size_t shown_word_max = 40;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

Error syntax_error(std::string message) {
  return make_error(ErrorKind::statement, mysql::er::parse_error, std::move(message));
}

// The name in @abc, @'abc', @`abc`.
std::string variable_name(std::string_view token, size_t signs, const sql::LexRules& rules) {
  token.remove_prefix(signs);
  if (token.empty()) return {};
  if (token.front() == '`') return sql::unquote_identifier(token, rules);
  if (token.front() == '\'' || token.front() == '"') return sql::unescape_string(token, rules);
  return std::string(token);
}

Result<Word> word_of(const sql::Token& token, std::string_view text, const sql::LexRules& rules) {
  Word word{Kind::bare, std::string(text), token.begin, token.end};
  switch (token.kind) {
    case TokenKind::identifier:
      break;
    case TokenKind::quoted_identifier:
      word.kind = Kind::quoted;
      word.text = sql::unquote_identifier(text, rules);
      break;
    case TokenKind::string:
    case TokenKind::national_string:
      word.kind = Kind::string;
      word.text = sql::unescape_string(text, rules);
      break;
    case TokenKind::integer:
      word.kind = Kind::integer;
      break;
    case TokenKind::decimal:
    case TokenKind::real:
      word.kind = Kind::number;
      break;
    case TokenKind::parameter:
      word.kind = Kind::parameter;
      break;
    case TokenKind::user_variable:
      word.kind = Kind::user_variable;
      word.text = variable_name(text, 1, rules);
      break;
    case TokenKind::system_variable:
      word.kind = Kind::system_variable;
      word.text = variable_name(text, 2, rules);
      break;
    case TokenKind::punctuation:
      word.kind = Kind::symbol;
      break;
    default:
      return fail(
          syntax_error(fmt::format("You have an error in your SQL syntax: hexadecimal and bit literals have "
                                   "no meaning here (near '{}')",
                                   text.substr(0, shown_word_max))));
  }
  return word;
}

void set_bound(Word& word, const mysql::Value& value) {
  using ValueKind = mysql::Value::Kind;
  // Drivers that know one kind of number only send whole ones as DOUBLE.
  constexpr double exact_max = 9007199254740992.0;  // 2^53
  switch (value.kind()) {
    case ValueKind::null:
      word.kind = Kind::bare;
      word.text = "NULL";
      return;
    case ValueKind::int64:
    case ValueKind::uint64:
      word.kind = Kind::integer;
      word.text = mysql::to_string(value);
      return;
    case ValueKind::real:
    case ValueKind::single_real: {
      const double real = value.as_real();
      const bool whole =
          real >= 0 && real < exact_max && real == static_cast<double>(static_cast<uint64_t>(real));
      word.kind = whole ? Kind::integer : Kind::number;
      word.text = whole ? fmt::format("{}", static_cast<uint64_t>(real)) : mysql::to_string(value);
      return;
    }
    case ValueKind::decimal:
      word.kind = value.text().find('.') == std::string::npos ? Kind::integer : Kind::number;
      word.text = value.text();
      return;
    default:
      word.kind = Kind::string;
      word.text = value.text();
  }
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char left, char right) { return lower(left) == lower(right); });
}

bool Word::is(std::string_view keyword) const { return kind == Kind::bare && same_word(text, keyword); }

Result<Phrase> Phrase::read(std::string_view text) {
  Phrase phrase;
  phrase.text = text;
  const sql::LexRules rules;
  sql::Tokens tokens;
  EVENKEEL_TRY(sql::lex(phrase.text, rules, tokens));
  size_t count = tokens.size() - 1;
  while (count > 0 && tokens[count - 1].op == sql::Op::semicolon) --count;
  for (uint32_t i = 0; i < count; ++i) {
    if (tokens[i].op == sql::Op::semicolon) {
      return fail(
          syntax_error("You have an error in your SQL syntax: one statement at a time is answered here"));
    }
    EVENKEEL_ASSIGN(Word word, word_of(tokens[i], tokens.text_of(i), rules));
    // Adjacent strings are one, as in MySQL.
    if (word.kind == Kind::string && !phrase.words.empty() && phrase.words.back().kind == Kind::string) {
      phrase.words.back().text += word.text;
      phrase.words.back().end = word.end;
      continue;
    }
    phrase.parameters = static_cast<uint16_t>(phrase.parameters + (word.kind == Kind::parameter ? 1 : 0));
    phrase.words.push_back(std::move(word));
  }
  const auto end = static_cast<uint32_t>(phrase.text.size());
  phrase.words.push_back(Word{Kind::end, "", end, end});
  return phrase;
}

Result<Phrase> Phrase::bind(std::span<const mysql::Value> values) const {
  if (values.size() != parameters) return fail(internal_error("another number of values than parameters"));
  Phrase bound = *this;
  bound.parameters = 0;
  size_t used = 0;
  for (Word& word : bound.words) {
    if (word.kind != Kind::parameter) continue;
    set_bound(word, values[used++]);
  }
  return bound;
}

const Word& PhraseReader::peek(size_t ahead) const {
  return phrase_.words[std::min(at_ + ahead, phrase_.words.size() - 1)];
}

const Word& PhraseReader::next() {
  const Word& word = peek();
  at_ = std::min(at_ + 1, phrase_.words.size() - 1);
  return word;
}

bool PhraseReader::take(std::string_view keyword) {
  if (!peek().is(keyword)) return false;
  next();
  return true;
}

bool PhraseReader::take_words(std::initializer_list<std::string_view> keywords) {
  size_t ahead = 0;
  for (const std::string_view keyword : keywords) {
    if (!peek(ahead++).is(keyword)) return false;
  }
  at_ += keywords.size();
  return true;
}

bool PhraseReader::take_symbol(std::string_view symbol) {
  if (!peek().is_symbol(symbol)) return false;
  next();
  return true;
}

Error PhraseReader::unexpected(std::string_view allowed, size_t ahead) const {
  const Word& word = peek(ahead);
  if (word.kind == Kind::end) {
    return syntax_error(
        fmt::format("You have an error in your SQL syntax: the statement ends where something is missing; "
                    "allowed here: {}",
                    allowed));
  }
  const std::string_view shown = std::string_view(phrase_.text).substr(word.begin, word.end - word.begin);
  return syntax_error(fmt::format(
      "You have an error in your SQL syntax: '{}' at character {} was not expected; allowed here: {}",
      shown.substr(0, shown_word_max), word.begin + 1, allowed));
}

Status PhraseReader::expect(std::string_view keyword) {
  if (take(keyword)) return {};
  return fail(unexpected(keyword));
}

Status PhraseReader::expect_symbol(std::string_view symbol) {
  if (take_symbol(symbol)) return {};
  return fail(unexpected(symbol));
}

Status PhraseReader::expect_end() {
  if (at_end()) return {};
  return fail(unexpected("the end of the statement"));
}

Result<std::string> PhraseReader::expect_name(std::string_view what) {
  if (!peek().is_name()) return fail(unexpected(what));
  return next().text;
}

Result<uint64_t> PhraseReader::expect_integer(std::string_view what, uint64_t least, uint64_t most) {
  const Word& word = peek();
  uint64_t number = 0;
  const char* end = word.text.data() + word.text.size();
  const auto [stop, error] = std::from_chars(word.text.data(), end, number);
  // Programs that bind every parameter as text are many: a string of digits counts.
  const bool digits =
      (word.kind == Kind::integer || word.kind == Kind::string) && !word.text.empty() && stop == end;
  if (!digits || error != std::errc() || number < least || number > most) {
    return fail(unexpected(fmt::format("{}, a whole number from {} to {}", what, least, most)));
  }
  next();
  return number;
}

}  // namespace evenkeel::answer
