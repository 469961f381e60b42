#include "router/sql/literal.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "base/mysql/collation.h"
#include "router/sql/characters.h"

namespace evenkeel::sql {
namespace {

using mysql::Value;

// Steps over one character of `text` at `at` in the rules' character set.
size_t step(std::string_view text, size_t at, const LexRules& rules) {
  return character_length(rules.step, text.data() + at, text.data() + text.size());
}

char unescaped(char c) {
  switch (c) {
    case '0':
      return '\0';
    case 'b':
      return '\b';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'Z':
      return '\x1a';
    default:
      return c;
  }
}

Value integer_value(std::string_view digits) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{}) {
    return Value::decimal(
        std::string(digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1))));
  }
  return value <= INT64_MAX ? Value::int64(static_cast<int64_t>(value)) : Value::uint64(value);
}

// .5 is 0.5 and 5. is 5, as the server shows them.
Value decimal_value(std::string_view text) {
  std::string digits(text);
  if (digits.front() == '.') digits.insert(digits.begin(), '0');
  if (digits.back() == '.') digits.pop_back();
  return Value::decimal(std::move(digits));
}

Result<Value> real_value(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Overflow is the server's to refuse, underflow is zero.
  if (error == std::errc::result_out_of_range)
    return fail(unsupported("a number beyond the range of DOUBLE"));
  return Value::real(value);
}

int hex_digit(char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

std::string hex_bytes(std::string_view token) {
  std::string_view digits = token.substr(2);
  if (!digits.empty() && digits.back() == '\'') digits.remove_suffix(1);
  std::string bytes;
  size_t i = 0;
  if (digits.size() % 2 != 0) bytes += static_cast<char>(hex_digit(digits[i++]));
  for (; i < digits.size(); i += 2)
    bytes += static_cast<char>(hex_digit(digits[i]) * 16 + hex_digit(digits[i + 1]));
  return bytes;
}

std::string bit_bytes(std::string_view token) {
  std::string_view digits = token.substr(2);
  if (!digits.empty() && digits.back() == '\'') digits.remove_suffix(1);
  std::string bytes((digits.size() + 7) / 8, '\0');
  for (size_t i = 0; i < digits.size(); ++i) {
    const size_t place = digits.size() - 1 - i;  // of the bit, from the right
    if (digits[i] == '1') bytes[bytes.size() - 1 - place / 8] |= static_cast<char>(1 << (place % 8));
  }
  return bytes;
}

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

// `text` was written with an introducer: it has the introducer's character set, not the connection's.
Result<Value> introduced(std::string_view introducer, std::string text) {
  const mysql::Collation* collation = mysql::default_collation_of(introducer.substr(1));
  if (collation != nullptr && collation->id == mysql::collation_binary) return Value::bytes(std::move(text));
  const bool wide = mysql::step_of(introducer.substr(1)) == mysql::CharsetStep::not_allowed;
  if (wide || !is_ascii(text)) {
    return fail(unsupported(fmt::format(
        "a literal with the introducer {} and characters beyond ASCII is not evaluated", introducer)));
  }
  return Value::string(std::move(text));
}

Result<Value> text_or_bytes(const Expr& expr, const Tokens& tokens, const LexRules& rules) {
  uint32_t at = expr.span.first;
  std::string_view introducer;
  if (tokens[at].kind == TokenKind::introducer) introducer = tokens.text_of(at++);
  std::string text;
  bool bytes = false;
  for (; at < expr.span.last; ++at) {
    const std::string_view token = tokens.text_of(at);
    switch (tokens[at].kind) {
      case TokenKind::string:
      case TokenKind::national_string:
        text += unescape_string(token, rules);
        break;
      case TokenKind::hex:
        text += hex_bytes(token), bytes = true;
        break;
      case TokenKind::bit:
        text += bit_bytes(token), bytes = true;
        break;
      default:
        return fail(internal_error("a literal with a token that is none"));
    }
  }
  if (!introducer.empty()) return introduced(introducer, std::move(text));
  return bytes ? Value::bytes(std::move(text)) : Value::string(std::move(text));
}

// Whether `text` has the form, in which 9 stands for a digit; a fraction may follow where the form has a
// time.
bool has_form(std::string_view text, std::string_view form, bool fraction) {
  if (text.size() < form.size()) return false;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '9' ? !is_digit(text[i]) : text[i] != form[i]) return false;
  }
  std::string_view rest = text.substr(form.size());
  if (rest.empty()) return true;
  if (!fraction || rest.front() != '.' || rest.size() > 7) return false;
  rest.remove_prefix(1);
  for (const char c : rest) {
    if (!is_digit(c)) return false;
  }
  return !rest.empty();
}

// DATE '…', {d '…'} and their like, in MySQL's own form only; the server reads others too.
Result<Value> temporal_value(const Expr& expr, const Tokens& tokens, const LexRules& rules) {
  for (uint32_t i = expr.span.first; i < expr.span.last; ++i) {
    if (tokens[i].kind != TokenKind::string) continue;
    std::string text = unescape_string(tokens.text_of(i), rules);
    if (expr.name == "date" && has_form(text, "9999-99-99", false)) {
      return Value::temporal(Value::Kind::date, std::move(text));
    }
    if (expr.name == "timestamp" && has_form(text, "9999-99-99 99:99:99", true)) {
      return Value::temporal(Value::Kind::datetime, std::move(text));
    }
    const std::string_view unsigned_text = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
    if (expr.name == "time" &&
        (has_form(unsigned_text, "99:99:99", true) || has_form(unsigned_text, "999:99:99", true))) {
      return Value::temporal(Value::Kind::time, std::move(text));
    }
  }
  return fail(unsupported(
      "a temporal literal in a form other than 'YYYY-MM-DD', 'HH:MM:SS' or both is not evaluated"));
}

Value negated(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::int64:
      return Value::int64(-value.as_int64());
    case Value::Kind::uint64:
      if (value.as_uint64() == uint64_t{1} << 63) return Value::int64(INT64_MIN);
      return Value::decimal(fmt::format("-{}", value.as_uint64()));
    case Value::Kind::decimal:
      return Value::decimal("-" + value.text());
    default:
      return Value::real(-value.as_real());
  }
}

bool is_number(const Expr& expr, const Tokens& tokens) {
  if (expr.kind != ExprKind::literal) return false;
  const TokenKind kind = tokens[expr.span.first].kind;
  return kind == TokenKind::integer || kind == TokenKind::decimal || kind == TokenKind::real;
}

// Digits that read back as the same value, and as a real: without an exponent they would be a decimal.
void append_real(std::string digits, std::string& out) {
  if (digits.find_first_of("ni") != std::string::npos) digits = "NULL";  // nan and inf: no SQL value
  out += digits;
  if (digits != "NULL" && digits.find('e') == std::string::npos) out += "e0";
}

void append_quoted(std::string_view text, const LexRules& rules, std::string& out) {
  out += '\'';
  for (size_t i = 0; i < text.size();) {
    const size_t length = step(text, i, rules);
    // Quotes are doubled, never preceded by a backslash: behind a stray lead byte a backslash would be taken
    // for the second half of a character.
    if (length == 1 && (text[i] == '\'' || (text[i] == '\\' && !rules.no_backslash_escapes))) out += text[i];
    out += text.substr(i, length);
    i += length;
  }
  out += '\'';
}

}  // namespace

std::string unescape_string(std::string_view token, const LexRules& rules) {
  if (!token.empty() && (token.front() == 'N' || token.front() == 'n')) token.remove_prefix(1);
  std::string out;
  if (token.size() < 2) return out;
  const char quote = token.front();
  const std::string_view body = token.substr(1, token.size() - 2);
  out.reserve(body.size());
  for (size_t i = 0; i < body.size();) {
    const size_t length = step(body, i, rules);
    if (length > 1) {
      out += body.substr(i, length);
      i += length;
    } else if (body[i] == '\\' && !rules.no_backslash_escapes && i + 1 < body.size()) {
      const char c = body[i + 1];
      if (c == '%' || c == '_') out += '\\';  // kept for LIKE
      out += unescaped(c);
      i += 2;
    } else {
      out += body[i];
      i += body[i] == quote ? 2 : 1;
    }
  }
  return out;
}

std::string unquote_identifier(std::string_view token, const LexRules& rules) {
  std::string out;
  if (token.size() < 2) return out;
  const char quote = token.front();
  const std::string_view body = token.substr(1, token.size() - 2);
  for (size_t i = 0; i < body.size();) {
    const size_t length = step(body, i, rules);
    out += body.substr(i, length);
    i += length == 1 && body[i] == quote ? 2 : length;
  }
  return out;
}

Result<Value> literal_value(const Expr& expr, const Tokens& tokens, const LexRules& rules) {
  switch (expr.kind) {
    case ExprKind::null_:
      return Value::null();
    case ExprKind::boolean:
      return Value::int64(expr.truth ? 1 : 0);
    case ExprKind::temporal:
      return temporal_value(expr, tokens, rules);
    case ExprKind::literal: {
      const std::string_view text = tokens.text_of(expr.span.first);
      switch (tokens[expr.span.first].kind) {
        case TokenKind::integer:
          return integer_value(text);
        case TokenKind::decimal:
          return decimal_value(text);
        case TokenKind::real:
          return real_value(text);
        default:
          return text_or_bytes(expr, tokens, rules);
      }
    }
    case ExprKind::unary:
      if ((expr.op == Op::minus || expr.op == Op::plus) && is_number(*expr.args[0], tokens)) {
        EVENKEEL_ASSIGN(const Value value, literal_value(*expr.args[0], tokens, rules));
        return expr.op == Op::minus ? negated(value) : value;
      }
      break;
    default:
      break;
  }
  return fail(unsupported("an expression that is not a literal is not evaluated"));
}

bool is_literal(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::literal:
    case ExprKind::null_:
    case ExprKind::boolean:
    case ExprKind::temporal:
      return true;
    case ExprKind::unary:
      return (expr.op == Op::minus || expr.op == Op::plus) && expr.args[0]->kind == ExprKind::literal;
    default:
      return false;
  }
}

void append_literal(const Value& value, const LexRules& rules, std::string& out) {
  switch (value.kind()) {
    case Value::Kind::null:
      out += "NULL";
      return;
    case Value::Kind::int64:
      fmt::format_to(std::back_inserter(out), "{}", value.as_int64());
      return;
    case Value::Kind::uint64:
      fmt::format_to(std::back_inserter(out), "{}", value.as_uint64());
      return;
    case Value::Kind::decimal:
      out += value.text();
      return;
    case Value::Kind::real:
      append_real(fmt::format("{:.17g}", value.as_real()), out);
      return;
    case Value::Kind::single_real:
      append_real(fmt::format("{:.9g}", value.as_single_real()), out);
      return;
    case Value::Kind::bytes:
      out += "x'";
      for (const char c : value.text()) {
        fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned char>(c));
      }
      out += '\'';
      return;
    case Value::Kind::string:
    case Value::Kind::date:
    case Value::Kind::datetime:
    case Value::Kind::time:
      append_quoted(value.text(), rules, out);
      return;
  }
}

void append_identifier(std::string_view name, std::string& out) {
  out += '`';
  for (const char c : name) {
    if (c == '`') out += '`';
    out += c;
  }
  out += '`';
}

}  // namespace evenkeel::sql
