#include "proxy/answer/client_questions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::answer {
namespace {

using mysql::ResultTable;
using mysql::Value;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

mysql::ResultColumn column_of(std::string name, const Value& value) {
  return {std::move(name), value.is_null() ? Value::Kind::string : value.kind()};
}

// LIKE with % and _, letter case aside; no escapes: names of variables need none.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '%') {
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  }
  if (pattern.front() == '\\' && pattern.size() > 1)
    pattern.remove_prefix(1);
  else if (pattern.front() == '_')
    return !text.empty() && matches(pattern.substr(1), text.substr(1));
  return !text.empty() && same_word(pattern.substr(0, 1), text.substr(0, 1)) &&
         matches(pattern.substr(1), text.substr(1));
}

Value number_of(const Word& word) {
  uint64_t number = 0;
  const char* end = word.text.data() + word.text.size();
  const auto [stop, error] = std::from_chars(word.text.data(), end, number);
  if (error == std::errc() && stop == end) {
    return number <= INT64_MAX ? Value::int64(static_cast<int64_t>(number)) : Value::uint64(number);
  }
  return Value::decimal(word.text);
}

Error unknown_variable(const std::string& name) {
  return make_error(ErrorKind::statement, mysql::er::unknown_system_variable,
                    fmt::format("Unknown system variable '{}'", name));
}

// `@@name`, `@@session.name` and the like; the reader stands behind the word with the signs.
Result<std::string> variable_name(const Word& first, PhraseReader& reader) {
  if (!reader.take_symbol(".")) return first.text;
  return reader.expect_name("a variable's name");
}

// DATABASE(), VERSION() … : functions of a session. The reader stands at the name.
std::optional<Value> session_function(PhraseReader& reader, const Caller& caller, const ClientState& state) {
  const auto call = [&](std::string_view name, bool parentheses_optional = false) {
    if (!reader.peek().is(name)) return false;
    const bool called = reader.peek(1).is_symbol("(") && reader.peek(2).is_symbol(")");
    if (!called && !parentheses_optional) return false;
    for (int i = 0; i < (called ? 3 : 1); ++i) reader.next();
    return true;
  };
  if (call("DATABASE") || call("SCHEMA"))
    return state.database.empty() ? Value() : Value::string(state.database);
  if (call("VERSION")) return *state.variables.find("version");
  if (call("CONNECTION_ID")) return Value::uint64(caller.connection_id);
  if (call("USER") || call("CURRENT_USER", true) || call("SESSION_USER") || call("SYSTEM_USER")) {
    return Value::string(fmt::format("{}@{}", caller.user, caller.host));
  }
  return std::nullopt;
}

// One expression of a SELECT that a session can answer; nullopt: it is something else.
Result<std::optional<Value>> session_value(PhraseReader& reader, const Caller& caller,
                                           const ClientState& state) {
  const Word& word = reader.peek();
  switch (word.kind) {
    case Word::Kind::system_variable: {
      reader.next();
      EVENKEEL_ASSIGN(const std::string name, variable_name(word, reader));
      const Value* value = state.variables.find(name);
      if (value == nullptr) return fail(unknown_variable(name));
      return *value;
    }
    case Word::Kind::user_variable: {
      reader.next();
      const Value* value = state.variables.find_user_variable(word.text);
      return value == nullptr ? Value() : *value;
    }
    case Word::Kind::integer:
    case Word::Kind::number:
      return number_of(reader.next());
    case Word::Kind::string:
      return Value::string(reader.next().text);
    case Word::Kind::parameter:
      reader.next();
      return Value();
    case Word::Kind::bare:
      if (reader.take("NULL")) return Value();
      return session_function(reader, caller, state);
    default:
      return std::nullopt;
  }
}

// SELECT of such expressions alone, with aliases and LIMIT; nullopt when anything else stands in it.
std::optional<Result<Answer>> answer_select(const Phrase& phrase, PhraseReader reader, const Caller& caller,
                                            const ClientState& state) {
  ResultTable table;
  std::vector<Value> row;
  do {
    const uint32_t begin = reader.peek().begin;
    auto value = session_value(reader, caller, state);
    if (!value) return fail(value.error());
    if (!*value) return std::nullopt;
    const Word& behind = reader.peek();
    // An unnamed column has the text of its expression.
    size_t end = behind.begin;
    while (end > begin && phrase.text[end - 1] == ' ') --end;
    std::string name = phrase.text.substr(begin, end - begin);
    if (reader.take("AS") || (behind.is_name() && !behind.is("LIMIT") && !behind.is("FROM"))) {
      if (!reader.peek().is_name() && reader.peek().kind != Word::Kind::string)
        return fail(reader.unexpected("an alias"));
      name = reader.next().text;
    }
    table.columns.push_back(column_of(std::move(name), **value));
    row.push_back(std::move(**value));
  } while (reader.take_symbol(","));
  if (reader.take("FROM") && !reader.take("DUAL")) return std::nullopt;
  if (reader.take("LIMIT")) {
    auto rows = reader.expect_integer("a number of rows", 0, UINT64_MAX);
    if (!rows) return fail(rows.error());
    if (*rows == 0) row.clear();
  }
  if (!reader.at_end()) return std::nullopt;
  if (!row.empty()) table.rows.push_back(std::move(row));
  return Answer{std::move(table)};
}

// WHERE Variable_name = 'a' OR Variable_name LIKE 'b%' OR Variable_name IN ('c', 'd').
Result<std::vector<std::string>> variable_patterns(PhraseReader& reader) {
  std::vector<std::string> patterns;
  do {
    const bool bracketed = reader.take_symbol("(");
    EVENKEEL_TRY(reader.expect("Variable_name"));
    const bool list = reader.take("IN");
    if (list) EVENKEEL_TRY(reader.expect_symbol("("));
    if (!list && !reader.take_symbol("=") && !reader.take("LIKE"))
      return fail(reader.unexpected("=, LIKE, IN"));
    do {
      if (reader.peek().kind != Word::Kind::string) return fail(reader.unexpected("a string"));
      patterns.push_back(reader.next().text);
    } while (list && reader.take_symbol(","));
    if (list) EVENKEEL_TRY(reader.expect_symbol(")"));
    if (bracketed) EVENKEEL_TRY(reader.expect_symbol(")"));
  } while (reader.take("OR"));
  return patterns;
}

std::string text_of(const Value& value) {
  return value.text().empty() && value.is_integer() ? mysql::to_string(value) : value.text();
}

Result<Answer> answer_variables(PhraseReader reader, const ClientState& state) {
  std::vector<std::string> patterns{"%"};
  if (reader.take("LIKE")) {
    if (reader.peek().kind != Word::Kind::string) return fail(reader.unexpected("a string"));
    patterns = {reader.next().text};
  } else if (reader.take("WHERE")) {
    EVENKEEL_ASSIGN(patterns, variable_patterns(reader));
  }
  EVENKEEL_TRY(reader.expect_end());
  ResultTable table{{{"Variable_name"}, {"Value"}}, {}};
  for (const auto& [name, value] : state.variables.all()) {
    const bool wanted =
        std::any_of(patterns.begin(), patterns.end(),
                    [&asked = name](const std::string& pattern) { return matches(pattern, asked); });
    if (wanted) table.rows.push_back({Value::string(name), Value::string(text_of(value))});
  }
  return Answer{std::move(table)};
}

// What tools show of the last statement; nothing is kept here.
std::optional<Result<Answer>> answer_show(PhraseReader reader, const ClientState& state) {
  const bool scoped = reader.take("SESSION") || reader.take("GLOBAL") || reader.take("LOCAL");
  if (reader.take("VARIABLES")) return answer_variables(reader, state);
  if (scoped) return std::nullopt;
  if (reader.take("WARNINGS") || reader.take("ERRORS")) {
    return Answer{ResultTable{{{"Level"}, {"Code", Value::Kind::int64}, {"Message"}}, {}}};
  }
  if (reader.take("DATABASES") || reader.take("SCHEMAS")) return Answer{ResultTable{{{"Database"}}, {}}};
  if (reader.take_words({"FULL", "TABLES"}) || reader.take("TABLES"))
    return Answer{ResultTable{{{"Tables"}}, {}}};
  if (reader.take("COLLATION")) {
    return Answer{ResultTable{{{"Collation"},
                               {"Charset"},
                               {"Id", Value::Kind::int64},
                               {"Default"},
                               {"Compiled"},
                               {"Sortlen", Value::Kind::int64}},
                              {}}};
  }
  return std::nullopt;
}

// One value of a SET: a literal, a bare word such as ON, or DEFAULT.
Result<Value> value_to_set(PhraseReader& reader, const ClientState& state) {
  const Word& word = reader.next();
  switch (word.kind) {
    case Word::Kind::integer:
    case Word::Kind::number:
      return number_of(word);
    case Word::Kind::string:
    case Word::Kind::quoted:
      return Value::string(word.text);
    case Word::Kind::bare:
      if (word.is("ON") || word.is("TRUE")) return Value::int64(1);
      if (word.is("OFF") || word.is("FALSE")) return Value::int64(0);
      if (word.is("NULL")) return Value();
      return Value::string(word.text);
    case Word::Kind::system_variable: {
      EVENKEEL_ASSIGN(const std::string name, variable_name(word, reader));
      const Value* value = state.variables.find(name);
      if (value == nullptr) return fail(unknown_variable(name));
      return *value;
    }
    case Word::Kind::user_variable: {
      const Value* value = state.variables.find_user_variable(word.text);
      return value == nullptr ? Value() : *value;
    }
    default:
      return fail(
          unsupported(fmt::format("SET to an expression is not answered here (near '{}')", word.text)));
  }
}

Status set_names(PhraseReader& reader, ClientState& state) {
  EVENKEEL_ASSIGN(Value charset, value_to_set(reader, state));
  for (const char* name : {"character_set_client", "character_set_connection", "character_set_results"}) {
    state.variables.set(name, charset);
  }
  if (!reader.take("COLLATE")) return {};
  EVENKEEL_ASSIGN(Value collation, value_to_set(reader, state));
  state.variables.set("collation_connection", std::move(collation));
  return {};
}

Status set_one(PhraseReader& reader, ClientState& state) {
  if (reader.take("NAMES")) return set_names(reader, state);
  const bool charset = reader.take_words({"CHARACTER", "SET"}) || reader.take("CHARSET");
  if (charset) return set_names(reader, state);
  const Word first = reader.next();
  std::string name = first.text;
  const bool of_user = first.kind == Word::Kind::user_variable;
  if (first.kind == Word::Kind::system_variable) {
    EVENKEEL_ASSIGN(name, variable_name(first, reader));
  } else if (first.is("SESSION") || first.is("LOCAL") || first.is("GLOBAL")) {
    EVENKEEL_ASSIGN(name, reader.expect_name("a variable's name"));
  } else if (!first.is_name() && !of_user) {
    return fail(reader.unexpected("a variable, NAMES"));
  }
  if (!reader.take_symbol("=") && !reader.take_symbol(":=")) return fail(reader.unexpected("="));
  EVENKEEL_ASSIGN(Value value, value_to_set(reader, state));
  // An expression begins with a value too.
  if (!reader.at_end() && !reader.peek().is_symbol(",")) {
    return fail(unsupported(fmt::format("SET {} to an expression is not answered here", name)));
  }
  if (of_user) {
    state.variables.set_user_variable(name, std::move(value));
  } else if (!state.variables.set(name, std::move(value))) {
    return fail(unknown_variable(name));
  }
  return {};
}

Result<Answer> answer_set(PhraseReader reader, ClientState& state) {
  // SET [SESSION] TRANSACTION …: there is nothing that it could change.
  for (size_t i = 0; i < 2; ++i) {
    if (reader.peek(i).is("TRANSACTION")) return Answer{Done{}};
  }
  do {
    EVENKEEL_TRY(set_one(reader, state));
  } while (reader.take_symbol(","));
  EVENKEEL_TRY(reader.expect_end());
  return Answer{Done{}};
}

bool is_transaction(const PhraseReader& reader) {
  return reader.peek().is("BEGIN") || reader.peek().is("COMMIT") || reader.peek().is("ROLLBACK") ||
         (reader.peek().is("START") && reader.peek(1).is("TRANSACTION"));
}

}  // namespace

ClientVariables::ClientVariables(std::string server_version, std::string version_comment, size_t max_packet) {
  const auto text = [this](const char* name, std::string value) {
    values_[name] = Value::string(std::move(value));
  };
  const auto number = [this](const char* name, int64_t value) { values_[name] = Value::int64(value); };
  text("version", std::move(server_version));
  text("version_comment", std::move(version_comment));
  for (const char* name : {"character_set_client", "character_set_connection", "character_set_results",
                           "character_set_server", "character_set_database", "character_set_system"}) {
    text(name, "utf8mb4");
  }
  for (const char* name : {"collation_connection", "collation_server", "collation_database"})
    text(name, "utf8mb4_general_ci");
  text("init_connect", "");
  text("license", "Apache-2.0");
  text("sql_mode", "STRICT_TRANS_TABLES");
  text("system_time_zone", "UTC");
  text("time_zone", "SYSTEM");
  text("transaction_isolation", "REPEATABLE-READ");
  text("tx_isolation", "REPEATABLE-READ");
  text("performance_schema", "OFF");
  text("version_compile_os", "Linux");
  text("version_compile_machine", "x86_64");
  number("auto_increment_increment", 1);
  number("auto_increment_offset", 1);
  number("autocommit", 1);
  number("interactive_timeout", 28'800);
  number("lower_case_table_names", 0);
  number("max_allowed_packet", static_cast<int64_t>(max_packet));
  number("net_buffer_length", 16'384);
  number("net_read_timeout", 30);
  number("net_write_timeout", 60);
  number("query_cache_size", 0);
  number("query_cache_type", 0);
  number("session_track_schema", 0);
  text("session_track_system_variables", "");
  number("session_track_transaction_info", 0);
  number("sql_auto_is_null", 0);
  number("sql_notes", 1);
  number("sql_quote_show_create", 1);
  number("sql_safe_updates", 0);
  number("sql_select_limit", INT64_MAX);
  number("foreign_key_checks", 1);
  number("unique_checks", 1);
  number("max_execution_time", 0);
  number("max_statement_time", 0);
  number("transaction_read_only", 0);
  number("tx_read_only", 0);
  number("wait_timeout", 28'800);
}

const Value* ClientVariables::find(const std::string& name) const {
  const auto found = values_.find(lower(name));
  return found == values_.end() ? nullptr : &found->second;
}

bool ClientVariables::set(const std::string& name, Value value) {
  const auto found = values_.find(lower(name));
  if (found == values_.end()) return false;
  found->second = std::move(value);
  return true;
}

void ClientVariables::set_user_variable(const std::string& name, Value value) {
  constexpr size_t user_variables_max = 100;
  if (user_values_.size() < user_variables_max || user_values_.contains(lower(name))) {
    user_values_[lower(name)] = std::move(value);
  }
}

const Value* ClientVariables::find_user_variable(const std::string& name) const {
  const auto found = user_values_.find(lower(name));
  return found == user_values_.end() ? nullptr : &found->second;
}

std::optional<Result<Answer>> answer_client_question(const Phrase& phrase, const Caller& caller,
                                                     ClientState& state) {
  PhraseReader reader(phrase);
  if (reader.take("SELECT")) return answer_select(phrase, reader, caller, state);
  if (reader.take("SHOW")) return answer_show(reader, state);
  if (reader.take("SET")) return answer_set(reader, state);
  if (reader.take("USE")) {
    auto name = reader.expect_name("a schema's name");
    if (!name) return fail(name.error());
    state.database = *name;
    return Answer{Done{}};
  }
  if (is_transaction(reader)) return Answer{Done{}};
  return std::nullopt;
}

}  // namespace evenkeel::answer
