#include <fmt/format.h>
#include <utility>

#include "base/mysql/collation.h"
#include "base/mysql/error_codes.h"
#include "proxy/session/session.h"

namespace evenkeel::session {

namespace {

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

}  // namespace

// Brings what this program itself must know of the variables up to date.
void Session::note_variables() {
  const exec::Variables& variables = *state_.variables;
  const std::string client = unquoted(variables.find("character_set_client"));
  state_.lex.step = mysql::step_of(client);
  const std::string_view mode_text = variables.find("sql_mode");
  const SqlMode mode = parse_sql_mode(mode_text.empty() ? environment_.server.sql_mode : unquoted(mode_text));
  state_.lex.ansi_quotes = mode.ansi_quotes;
  state_.lex.no_backslash_escapes = mode.no_backslash_escapes;
  state_.lex.ignore_space = mode.ignore_space;
  state_.lex.pipes_as_concat = mode.pipes_as_concat;
  state_.lex.high_not_precedence = mode.high_not_precedence;
  state_.no_auto_value_on_zero = mode.no_auto_value_on_zero;
  const auto flavour = environment_.server.flavour;
  const std::string name = unquoted(variables.find("collation_connection"));
  const mysql::Collation* collation = name.empty() ? nullptr : mysql::find_collation(name, flavour);
  state_.connection_collation = collation != nullptr ? collation->id : environment_.server.default_collation;
  state_.client_charset_is_connection = collation != nullptr && collation->charset == client;
}

void Session::handle_set(const sql::Set& set) {
  auto interpreted = interpret_set(set, *statement_tokens_, state_.lex);
  if (!interpreted) return answer_error(interpreted.error());
  if (!interpreted->one_shot.empty() && state_.in_transaction()) {
    return answer_error(make_error(ErrorKind::statement, mysql::er::cant_change_tx_characteristics,
                                   "Transaction characteristics can't be changed while a transaction is in "
                                   "progress"));
  }
  auto effects = std::make_shared<SetEffects>(std::move(*interpreted));
  if (effects->questions.empty()) return try_set(effects);
  keep_text();
  ask_values(effects);
}

// Expressions are computed by the server, once; what is replayed on other connections is their value.
void Session::ask_values(std::shared_ptr<SetEffects> effects) {
  std::string sql = "SELECT ";
  for (const auto& question : effects->questions) {
    if (sql.size() > 7) sql += ", ";
    sql += question.expression;
  }
  run(std::make_unique<exec::Errand>(exec::Errand::What::query, state_.default_instance, sql, state_, port_),
      [this, effects] {
        const auto& errand = static_cast<const exec::Errand&>(*finished_.back());
        if (errand.error()) return answer_error(*errand.error());
        const auto& rows = errand.result().rows();
        const auto& columns = errand.result().columns();
        if (rows.size() != 1 || rows[0].size() != effects->questions.size()) {
          return answer_error(unsupported("SET with an expression that gives no single value"));
        }
        for (size_t i = 0; i < rows[0].size(); ++i) {
          const auto type = columns[i].type;
          const bool number = mysql::is_integer(type) || mysql::is_decimal(type) || mysql::is_floating(type);
          auto& change = effects->changes[effects->questions[i].change];
          change.second = value_text(rows[0][i], number);
          if (change.first.front() == '@' && change.second == "NULL") change.second.clear();
        }
        try_set(effects);
      });
}

// A value that the server refuses must be the SET's own error, not that of a later statement.
void Session::try_set(std::shared_ptr<SetEffects> effects) {
  if (!effects->must_be_tried) return apply_set(effects);
  const auto before = state_.variables;
  state_.variables = exec::with(before, effects->changes);
  run(std::make_unique<exec::Errand>(exec::Errand::What::state_only, state_.default_instance, "", state_,
                                     port_),
      [this, effects, before] {
        const auto& errand = static_cast<const exec::Errand&>(*finished_.back());
        state_.variables = before;
        if (errand.error()) return answer_error(*errand.error());
        apply_set(effects);
      });
}

void Session::apply_set(std::shared_ptr<SetEffects> effects) {
  if (!effects->changes.empty()) {
    auto changed = exec::with(state_.variables, effects->changes);
    if (*changed != *state_.variables) state_.variables = std::move(changed);
    note_variables();
  }
  if (effects->results_collation) state_.results_collation = *effects->results_collation;
  if (effects->last_insert_id) state_.last_insert_id = *effects->last_insert_id;
  if (!effects->one_shot.empty()) state_.transaction.one_shot = effects->one_shot;
  const bool switched_on = effects->autocommit.value_or(false) && !state_.autocommit;
  if (effects->autocommit) state_.autocommit = *effects->autocommit;
  if (switched_on && state_.in_transaction()) {
    return end_transaction(exec::CommitFlow::What::commit, [this](std::optional<Error> error) {
      if (error) return answer_error(*error);
      answer_statement_ok();
    });
  }
  answer_statement_ok();
}

// A schema that the rules know is taken as it is; another one has to exist on the default instance.
void Session::use_database(std::string database) {
  const auto* schema = environment_.rules->find_schema(database);
  if (schema != nullptr) state_.default_instance = schema->default_instance;
  state_.database = std::move(database);
  state_.capability.no_database = state_.database.empty();
}

void Session::use_checked(std::string database) {
  if (environment_.rules->find_schema(database) != nullptr) {
    use_database(std::move(database));
    return answer_statement_ok();
  }
  const auto before = state_.database;
  state_.database = std::move(database);
  state_.capability.no_database = false;
  if (text_.empty()) keep_text();
  run(std::make_unique<exec::Errand>(exec::Errand::What::state_only, state_.default_instance, "", state_,
                                     port_),
      [this, before] {
        const auto& errand = static_cast<const exec::Errand&>(*finished_.back());
        if (errand.error()) {
          state_.database = before;
          state_.capability.no_database = before.empty();
          return answer_error(*errand.error());
        }
        answer_statement_ok();
      });
}

}  // namespace evenkeel::session
