#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/protocol/statement_messages.h"
#include "proxy/session/session.h"
#include "router/sql/keywords.h"
#include "router/sql/parser.h"

namespace evenkeel::session {

using sql::StatementKind;

namespace {

// ER_STMT_HAS_NO_OPEN_CURSOR
constexpr uint16_t stmt_has_no_open_cursor = 1421;

// MariaDB's clients name the statement of the PREPARE before, whose answer they have not seen, in this way.
constexpr uint32_t last_statement = UINT32_MAX;

Error unknown_statement(uint32_t id, std::string_view command) {
  return make_error(ErrorKind::statement, mysql::er::unknown_stmt_handler,
                    fmt::format("Unknown prepared statement handler ({}) given to {}", id, command));
}

// Whether the text means by the rules of `now` what it meant by those of `then`.
bool same_meaning(const sql::Tokens& then, const sql::LexRules& then_rules, const sql::Tokens& now,
                  const sql::LexRules& now_rules) {
  const bool pipes_differ = then_rules.pipes_as_concat != now_rules.pipes_as_concat;
  const bool not_differs = then_rules.high_not_precedence != now_rules.high_not_precedence;
  const auto same = [&](const sql::Token& a, const sql::Token& b) {
    if (a.begin != b.begin || a.end != b.end || a.kind != b.kind || a.op != b.op || a.keyword != b.keyword)
      return false;
    if (pipes_differ && a.op == sql::Op::pipe_pipe) return false;
    if (not_differs && a.keyword == sql::Keyword::not_) return false;
    const bool escapes = then_rules.no_backslash_escapes != now_rules.no_backslash_escapes &&
                         (a.kind == sql::TokenKind::string || a.kind == sql::TokenKind::national_string);
    return !escapes || then.text.substr(a.begin, a.end - a.begin).find('\\') == std::string_view::npos;
  };
  return std::equal(then.items.begin(), then.items.end(), now.items.begin(), now.items.end(), same);
}

// Statements without a plan that the servers let a client prepare; they run as text would. MySQL prepares no
// BEGIN and no savepoint.
bool is_preparable_command(const sql::Statement& statement, mysql::Flavour flavour) {
  if (statement.kind == StatementKind::transaction) {
    const auto kind = statement.transaction->kind;
    return flavour == mysql::Flavour::mariadb || kind == sql::TxKind::commit || kind == sql::TxKind::rollback;
  }
  return statement.kind == StatementKind::set || statement.kind == StatementKind::kill;
}

}  // namespace

void Session::handle_prepare(std::string_view payload) {
  count(environment_.counters->prepares);
  auto command = protocol::StmtPrepare::decode(payload);
  if (!command) return answer_error(command.error());
  uint32_t id = 0;
  last_prepared_ = 0;
  PreparedStatement* prepared = prepared_.add(environment_.settings->max_prepared_statements, id);
  if (prepared == nullptr) {
    return answer_error(make_error(ErrorKind::limit, mysql::er::max_prepared_stmt_count_reached,
                                   fmt::format("Can't create more than {} prepared statements in one session "
                                               "(max_prepared_statements)",
                                               environment_.settings->max_prepared_statements)));
  }
  prepared->sql = command->sql;
  const auto refuse = [&](Error error) {  // by value: what is removed may own the error
    prepared_.remove(id);
    answer_error(error);
  };
  auto bound = bind_prepared(*prepared);
  if (!bound) return refuse(bound.error());
  const CachedStatement& statement = prepared->statement;
  if (statement.refusal) {
    // What is told may come later: the statement goes, the copies stay.
    const CachedStatement refused = statement;
    text_ = prepared->sql;
    prepared_.remove(id);
    return refuse_statement(*refused.statement, *refused.refusal, text_);
  }
  if (statement.statement->parameters > UINT16_MAX) {
    return refuse(make_error(ErrorKind::limit, 1390, "Prepared statement contains too many placeholders"));
  }
  prepared->parameters = static_cast<uint16_t>(statement.statement->parameters);
  rest_ = {};
  binary_ = false;
  if (!statement.bound) {
    if (!is_preparable_command(*statement.statement, state_.lex.flavour) || prepared->parameters > 0) {
      return refuse(make_error(ErrorKind::unsupported, mysql::er::unsupported_ps,
                               "This command is not supported in the prepared statement protocol yet"));
    }
    return answer_prepared(id, {}, {});
  }
  const plan::Arguments arguments{prepared->tokens, {}, facts(), true};
  auto prototype = plan::prototype(*statement.bound, arguments);
  if (!prototype) return refuse(prototype.error());
  if (prototype->kind == plan::PlanKind::local) {
    std::vector<protocol::ColumnDefinition> columns;
    for (size_t i = 0; i < prototype->local_columns.size(); ++i) {
      columns.push_back(front::column_for(prototype->local_columns[i], prototype->local_row[i],
                                          state_.connection_collation));
    }
    return answer_prepared(id, columns, {});
  }
  auto restore = std::make_shared<std::vector<plan::NameRestore>>(std::move(prototype->restore));
  const auto& unit = prototype->units.front();
  run(std::make_unique<exec::Errand>(exec::Errand::What::prepare, unit.instance, unit.sql, state_, port_,
                                     unit.database),
      [this, id, restore] {
        const auto& errand = static_cast<const exec::Errand&>(*finished_.back());
        if (errand.error()) {
          prepared_.remove(id);
          return answer_error(*errand.error());
        }
        answer_prepared(id, errand.result().columns(), *restore);
      });
}

void Session::answer_prepared(uint32_t id, std::vector<protocol::ColumnDefinition> columns,
                              const std::vector<plan::NameRestore>& restore) {
  for (auto& column : columns) exec::restore_definition(column, restore, state_.results_collation);
  last_prepared_ = id;
  protocol::StmtPrepareOk head;
  head.statement_id = id;
  head.parameters = prepared_.find(id)->parameters;
  head.columns = static_cast<uint16_t>(columns.size());
  const std::vector<protocol::ColumnDefinition> parameters(head.parameters, front::parameter_definition());
  answer().prepared(head, parameters, columns, status());
  end_command();
}

// Lexes and binds the statement's text by the session's present rules.
Status Session::bind_prepared(PreparedStatement& prepared) {
  EVENKEEL_TRY(sql::lex(prepared.sql, state_.lex, prepared.tokens));
  const uint32_t next = sql::next_statement(prepared.tokens, 0);
  uint32_t last = static_cast<uint32_t>(prepared.tokens.size() - 1);
  if (next > 0 && prepared.tokens[next - 1].op == sql::Op::semicolon) {
    if (next < last) {
      return fail(make_error(ErrorKind::statement, mysql::er::parse_error,
                             "You have an error in your SQL syntax; a prepared statement is one statement"));
    }
    last = next - 1;
  }
  EVENKEEL_ASSIGN(prepared.statement, look_up(prepared.tokens, sql::Span{0, last}));
  prepared.lex = state_.lex;
  prepared.catalog_version = environment_.catalog()->version();
  prepared.database = state_.database;
  return {};
}

PreparedStatement* Session::find_prepared(uint32_t id) {
  return prepared_.find(id == last_statement ? last_prepared_ : id);
}

void Session::handle_execute(std::string_view payload) {
  count(environment_.counters->executes);
  count(environment_.counters->statements);
  begin_timing();
  auto id = protocol::StmtExecute::statement_id_of(payload);
  if (!id) return answer_error(id.error());
  PreparedStatement* prepared = find_prepared(*id);
  if (prepared == nullptr) return answer_error(unknown_statement(*id, "mysqld_stmt_execute"));
  if (prepared->long_data_error) {
    const Error error = *std::exchange(prepared->long_data_error, std::nullopt);
    return answer_error(error);
  }
  protocol::ExecuteFacts facts_of_statement;
  facts_of_statement.parameters = prepared->parameters;
  facts_of_statement.remembered = prepared->types;
  facts_of_statement.long_data = prepared->long_data;
  auto execute = protocol::StmtExecute::decode(payload, state_.client_capabilities, facts_of_statement);
  prepared->long_data.clear();
  prepared->long_data_bytes = 0;
  if (!execute) return answer_error(execute.error());
  if (execute->new_types) prepared->types = execute->types;
  if (prepared->lex != state_.lex) {
    sql::Tokens now;
    const auto lexed = sql::lex(prepared->sql, state_.lex, now);
    if (!lexed || !same_meaning(prepared->tokens, prepared->lex, now, state_.lex)) {
      return answer_error(
          make_error(ErrorKind::statement, mysql::er::need_reprepare,
                     "Prepared statement needs to be re-prepared: sql_mode or the character set "
                     "have changed, and with them what its text means"));
    }
  }
  if (prepared->lex != state_.lex || prepared->database != state_.database ||
      prepared->catalog_version != environment_.catalog()->version()) {
    if (auto bound = bind_prepared(*prepared); !bound) return answer_error(bound.error());
  }
  parameters_ = std::move(execute->values);
  binary_ = true;
  rest_ = {};
  statement_tokens_ = &prepared->tokens;
  cached_ = prepared->statement;
  dispatch(cached_);
}

void Session::handle_long_data(std::string_view payload) {
  // No answer is sent, whatever happens: an error is kept for the execute.
  auto command = protocol::StmtSendLongData::decode(payload);
  if (!command) return;
  PreparedStatement* prepared = find_prepared(command->statement_id);
  if (prepared == nullptr) return;
  if (command->parameter >= prepared->parameters) {
    prepared->long_data_error = make_error(ErrorKind::statement, mysql::er::wrong_arguments,
                                           "Incorrect arguments to mysqld_stmt_send_long_data");
    return;
  }
  prepared->long_data_bytes += command->bytes.size();
  if (prepared->long_data_bytes > environment_.settings->max_packet) {
    prepared->long_data_error =
        make_error(ErrorKind::limit, mysql::er::net_packet_too_large,
                   fmt::format("Parameters sent by pieces are larger than max_packet ({} bytes)",
                               environment_.settings->max_packet));
    prepared->long_data.clear();
    return;
  }
  prepared->long_data.resize(prepared->parameters);
  auto& value = prepared->long_data[command->parameter];
  if (!value) value.emplace();
  value->append(command->bytes);
}

void Session::handle_stmt_close(std::string_view payload) {
  auto command = protocol::StmtClose::decode(payload);
  if (command) prepared_.remove(command->statement_id);
}

void Session::handle_stmt_reset(std::string_view payload) {
  auto command = protocol::StmtReset::decode(payload);
  if (!command) return answer_error(command.error());
  PreparedStatement* prepared = find_prepared(command->statement_id);
  if (prepared == nullptr) return answer_error(unknown_statement(command->statement_id, "mysqld_stmt_reset"));
  prepared->long_data.clear();
  prepared->long_data_bytes = 0;
  prepared->long_data_error.reset();
  answer_ok();
}

// Results are never kept behind a cursor: they stream. A client learns that from the status flags of EXECUTE.
void Session::handle_stmt_fetch(std::string_view payload) {
  auto command = protocol::StmtFetch::decode(payload);
  if (!command) return answer_error(command.error());
  if (find_prepared(command->statement_id) == nullptr) {
    return answer_error(unknown_statement(command->statement_id, "mysqld_stmt_fetch"));
  }
  answer_error(make_error(ErrorKind::statement, stmt_has_no_open_cursor,
                          fmt::format("The statement ({}) has no open cursor.", command->statement_id)));
}

}  // namespace evenkeel::session
