#include "proxy/session/set_statement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <strings.h>

#include "base/mysql/collation.h"
#include "base/mysql/error_codes.h"
#include "router/sql/literal.h"

namespace evenkeel::session {
namespace {

using sql::ExprKind;
using sql::SetItem;

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// A variable that a pooled connection must not be given, with the reason; the values that say what holds
// anyway are accepted and need no SET.
struct Guarded {
  std::string_view name;
  std::array<std::string_view, 3> harmless;  // in lower case
  std::string_view reason;
};
constexpr Guarded guarded[] = {
    {"auto_increment_increment",
     {"1", "", ""},
     "drivers compute the keys of a batch with it; it is always 1 here"},
    {"auto_increment_offset", {"1", "", ""}, "it is always 1 here"},
    {"insert_id", {"0", "", ""}, "ids are made by the key generator"},
    {"sql_select_limit", {"18446744073709551615", "", ""}, "it would cut each part of a scattered SELECT"},
    {"sql_auto_is_null", {"0", "off", ""}, "WHERE id IS NULL would mean the last insert id"},
    {"profiling", {"0", "off", ""}, "connections are shared"},
    {"pseudo_thread_id", {"", "", ""}, "connections are shared"},
    {"sql_log_bin", {"1", "on", ""}, "replicas would miss rows"},
    {"gtid_next", {"automatic", "'automatic'", ""}, "connections are shared"},
    {"session_track_gtids", {"off", "'off'", "0"}, "session tracking is used by the proxy itself"},
    {"pseudo_slave_mode", {"0", "off", ""}, "connections are shared"},
    {"rand_seed1", {"", "", ""}, "it has no default that the next user of a connection could be given"},
    {"rand_seed2", {"", "", ""}, "it has no default that the next user of a connection could be given"},
    {"completion_type",
     {"0", "no_chain", "'no_chain'"},
     "write COMMIT AND CHAIN or COMMIT RELEASE where it is meant"},
    {"max_allowed_packet", {"", "", ""}, "it is read-only in a session"},
};

// Values for which no question and no trial is needed, because this program knows what is valid.
bool is_known_switch(std::string_view name) {
  constexpr std::string_view names[] = {"foreign_key_checks", "unique_checks", "sql_safe_updates",
                                        "sql_notes",          "sql_warnings",  "sql_quote_show_create",
                                        "sql_big_selects",    "big_tables",    "sql_buffer_result"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string quoted(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '\'' && c != '\\' && c != '"';
  });
  if (plain) return fmt::format("'{}'", text);
  std::string out = "_utf8mb4 x'";
  for (const unsigned char c : text) out += fmt::format("{:02x}", c);
  return out + "'";
}

// A value as SQL text; not known when only the server can compute it.
struct Written {
  bool known = false;
  std::string text;
};

// The text of a literal, re-quoted so that it means the same under any sql_mode and character set.
Result<Written> literal_text(const sql::Expr& expr, const sql::Tokens& tokens, const sql::LexRules& rules) {
  if (expr.kind == ExprKind::null_) return Written{true, "NULL"};
  if (expr.kind == ExprKind::boolean) return Written{true, expr.truth ? "1" : "0"};
  if (!sql::is_literal(expr)) return Written{};
  EVENKEEL_ASSIGN(const auto value, sql::literal_value(expr, tokens, rules));
  switch (value.kind()) {
    case mysql::Value::Kind::string:
      return Written{true, quoted(value.text())};
    case mysql::Value::Kind::bytes: {
      std::string text;
      sql::append_literal(value, rules, text);
      return Written{true, text};
    }
    default:
      return Written{true, mysql::to_string(value)};
  }
}

bool is_word(const sql::Expr& expr) { return expr.kind == ExprKind::column && !expr.schema && !expr.table; }

std::optional<bool> truth_of(std::string_view text) {
  if (text == "1" || same(text, "on") || same(text, "'on'") || same(text, "true")) return true;
  if (text == "0" || same(text, "off") || same(text, "'off'") || same(text, "false")) return false;
  return std::nullopt;
}

Error wrong_value(std::string_view name, std::string_view value) {
  return make_error(ErrorKind::statement, mysql::er::wrong_value_for_var,
                    fmt::format("Variable '{}' can't be set to the value of '{}'", name, value));
}

class Interpreter {
 public:
  Interpreter(const sql::Tokens& tokens, const sql::LexRules& rules) : tokens_(tokens), rules_(rules) {}

  Status item(const SetItem& item);
  SetEffects effects;

 private:
  Status names(const SetItem& item);
  Status variable(const SetItem& item);
  void note_results_charset(std::string charset);
  Status user_variable(const SetItem& item);
  void change(std::string name, std::string value) {
    effects.changes.emplace_back(std::move(name), std::move(value));
  }
  void ask(std::string name, const sql::Expr& expr) {
    effects.questions.push_back({effects.changes.size(), std::string(tokens_.text_of(expr.span))});
    change(std::move(name), "NULL");
  }
  // A literal's or word's text; nothing when the server has to compute it.
  Result<Written> known(const sql::Expr& expr) {
    if (is_word(expr)) return Written{true, std::string(expr.column.text)};
    return literal_text(expr, tokens_, rules_);
  }

  const sql::Tokens& tokens_;
  const sql::LexRules& rules_;
  mysql::Flavour flavour_ = rules_.flavour;
};

Status Interpreter::item(const SetItem& item) {
  switch (item.what) {
    case SetItem::What::names:
    case SetItem::What::character_set:
      return names(item);
    case SetItem::What::password:
      return fail(unsupported("SET PASSWORD: accounts are managed on the instances"));
    case SetItem::What::role:
      return fail(unsupported("SET ROLE"));
    case SetItem::What::opaque:
      return fail(unsupported(fmt::format("SET {}", tokens_.text_of(item.span).substr(0, 60))));
    case SetItem::What::transaction:
      return {};
    case SetItem::What::variable:
      break;
  }
  if (item.scope == sql::SetScope::user_variable) return user_variable(item);
  if (item.scope != sql::SetScope::session) {
    return fail(unsupported(
        fmt::format("SET GLOBAL {}: it would change one instance only; set it on each instance", item.name)));
  }
  return variable(item);
}

Status Interpreter::names(const SetItem& item) {
  std::string charset;
  if (item.value != nullptr) {
    EVENKEEL_ASSIGN(const auto text, known(*item.value));
    if (!text.known) return fail(unsupported("SET NAMES with an expression"));
    charset = text.text;
    if (charset.size() >= 2 && charset.front() == '\'') charset = charset.substr(1, charset.size() - 2);
  }
  if (charset.empty() || same(charset, "default")) {
    for (const char* name : {"character_set_client", "character_set_results", "collation_connection"}) {
      change(name, "");
    }
    return {};
  }
  const auto* collation = mysql::default_collation_of(charset, flavour_);
  if (collation == nullptr) {
    return fail(make_error(ErrorKind::statement, mysql::er::unknown_character_set,
                           fmt::format("Unknown character set: '{}'", charset)));
  }
  if (mysql::step_of(collation->charset) == mysql::CharsetStep::not_allowed) {
    return fail(wrong_value("character_set_client", charset));
  }
  change("character_set_client", quoted(charset));
  change("character_set_results", quoted(charset));
  effects.results_collation = collation->id;
  if (item.what == SetItem::What::character_set) {
    change("collation_connection", "@@collation_database");
  } else if (!item.collation.empty()) {
    change("collation_connection", quoted(item.collation));
    if (const auto* named = mysql::find_collation(item.collation, flavour_)) {
      effects.results_collation = named->id;
    }
    effects.must_be_tried = true;
  } else {
    change("collation_connection", quoted(collation->name));
  }
  return {};
}

void Interpreter::note_results_charset(std::string charset) {
  if (charset.size() >= 2 && charset.front() == '\'') charset = charset.substr(1, charset.size() - 2);
  const auto* collation = mysql::default_collation_of(charset, flavour_);
  effects.results_collation = collation == nullptr ? uint16_t{0} : collation->id;
}

Status Interpreter::user_variable(const SetItem& item) {
  std::string name = fmt::format("@`{}`", item.name);
  if (item.value == nullptr) return fail(unsupported("SET @variable = DEFAULT"));
  EVENKEEL_ASSIGN(const auto text, literal_text(*item.value, tokens_, rules_));
  if (text.known) {
    change(std::move(name), same(text.text, "NULL") ? std::string() : text.text);
  } else {
    ask(std::move(name), *item.value);
  }
  return {};
}

Status Interpreter::variable(const SetItem& item) {
  std::string name(item.name);
  if (name == "tx_isolation") name = "transaction_isolation";
  if (name == "tx_read_only") name = "transaction_read_only";
  std::string text;
  bool is_known = false;
  if (item.value != nullptr) {
    EVENKEEL_ASSIGN(const auto written, known(*item.value));
    is_known = written.known;
    text = written.text;
  }
  const bool to_default = item.value == nullptr || (is_known && same(text, "default"));
  if (name == "autocommit") {
    if (to_default) {
      effects.autocommit = true;
      return {};
    }
    if (!is_known) return fail(unsupported("SET autocommit with an expression"));
    effects.autocommit = truth_of(text);
    if (!effects.autocommit) return fail(wrong_value(name, text));
    return {};
  }
  if (name == "last_insert_id" || name == "identity") {
    uint64_t id = 0;
    const char* end = text.data() + text.size();
    if (text.empty() || std::from_chars(text.data(), end, id) != std::from_chars_result{end, {}}) {
      return fail(wrong_value(name, text));
    }
    effects.last_insert_id = id;
    return {};
  }
  for (const auto& guard : guarded) {
    if (guard.name != name) continue;
    const bool harmless =
        to_default || (is_known && std::any_of(guard.harmless.begin(), guard.harmless.end(),
                                               [&](auto value) { return same(value, text); }));
    if (harmless) return {};
    return fail(unsupported(fmt::format("SET {}: {}", name, guard.reason)));
  }
  if (name == "character_set_connection" || name == "character_set_client" ||
      name == "collation_connection" || name == "character_set_results") {
    effects.must_be_tried = true;
  }
  if (name == "character_set_results") note_results_charset(text);
  if (to_default) {
    change(std::move(name), "");
    return {};
  }
  if (!is_known) {
    effects.must_be_tried = true;
    ask(std::move(name), *item.value);
    return {};
  }
  if (!(is_known_switch(name) && truth_of(text))) effects.must_be_tried = true;
  change(std::move(name), text);
  return {};
}

std::string transaction_text(const sql::Set& set) {
  std::string text;
  if (!set.isolation.empty()) {
    text = fmt::format("ISOLATION LEVEL {}", set.isolation);
  }
  if (set.read_only) {
    if (!text.empty()) text += ", ";
    text += *set.read_only ? "READ ONLY" : "READ WRITE";
  }
  return text;
}

std::string isolation_value(std::string_view level) {
  std::string value(level);
  std::replace(value.begin(), value.end(), ' ', '-');
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format("'{}'", value);
}

}  // namespace

Result<SetEffects> interpret_set(const sql::Set& set, const sql::Tokens& tokens, const sql::LexRules& rules) {
  Interpreter interpreter(tokens, rules);
  if (set.transaction) {
    if (!set.items.empty() && set.items.front().scope == sql::SetScope::global) {
      return fail(unsupported("SET GLOBAL TRANSACTION: it would change one instance only"));
    }
    if (set.one_shot) {
      interpreter.effects.one_shot = "SET TRANSACTION " + transaction_text(set);
    } else {
      auto& changes = interpreter.effects.changes;
      if (!set.isolation.empty())
        changes.emplace_back("transaction_isolation", isolation_value(set.isolation));
      if (set.read_only) changes.emplace_back("transaction_read_only", *set.read_only ? "1" : "0");
    }
    return std::move(interpreter.effects);
  }
  for (const auto& item : set.items) EVENKEEL_TRY(interpreter.item(item));
  return std::move(interpreter.effects);
}

std::string value_text(const std::optional<std::string>& cell, bool is_number) {
  if (!cell) return "NULL";
  return is_number ? *cell : quoted(*cell);
}

SqlMode parse_sql_mode(std::string_view text) {
  SqlMode mode;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const bool combination = same(word, "ANSI") || same(word, "DB2") || same(word, "MAXDB") ||
                             same(word, "MSSQL") || same(word, "ORACLE") || same(word, "POSTGRESQL");
    if (combination || same(word, "ANSI_QUOTES")) mode.ansi_quotes = true;
    if (combination || same(word, "PIPES_AS_CONCAT")) mode.pipes_as_concat = true;
    if (combination || same(word, "IGNORE_SPACE")) mode.ignore_space = true;
    if (same(word, "NO_BACKSLASH_ESCAPES")) mode.no_backslash_escapes = true;
    if (same(word, "HIGH_NOT_PRECEDENCE")) mode.high_not_precedence = true;
    if (same(word, "NO_AUTO_VALUE_ON_ZERO")) mode.no_auto_value_on_zero = true;
  }
  return mode;
}

}  // namespace evenkeel::session
