#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/session/session.h"
#include "proxy/session/statement_cache.h"
#include "router/sql/fingerprint.h"
#include "router/sql/parser.h"

namespace evenkeel::session {

using sql::StatementKind;

namespace {

// Half of what an instance accepts: rewriting and a UNION's branches make a text longer.
size_t statement_bytes_max(const ServerFacts& server) { return server.max_allowed_packet / 2; }

bool is_show_warnings(const sql::Statement& statement) {
  return statement.kind == StatementKind::show &&
         (statement.words == "show warnings" || statement.words == "show errors" ||
          statement.words.starts_with("show count"));
}

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == ';' || c == '\0' || c == ' ' || (c >= '\t' && c <= '\r'); });
}

// What a transaction that cannot go on still accepts.
// What is known of the tables' columns may be out of date.
bool columns_differ(uint16_t code) {
  return code == mysql::er::bad_field || code == mysql::er::wrong_value_count_on_row ||
         code == mysql::er::no_such_table || code == mysql::er::table_def_changed;
}

bool ends_transaction(const sql::Statement& statement) {
  if (statement.kind != StatementKind::transaction) return false;
  const auto kind = statement.transaction->kind;
  return kind == sql::TxKind::commit || kind == sql::TxKind::rollback || kind == sql::TxKind::begin;
}

}  // namespace

plan::SessionFacts Session::facts() const {
  plan::SessionFacts facts;
  facts.database = state_.database;
  facts.lex = state_.lex;
  facts.no_auto_value_on_zero = state_.no_auto_value_on_zero;
  facts.last_insert_id = state_.last_insert_id;
  facts.connection_id = connection_id_;
  facts.row_count = state_.row_count;
  facts.found_rows = state_.found_rows;
  facts.autocommit = state_.autocommit;
  facts.user = user_at_host_;
  facts.connection_collation = state_.connection_collation;
  facts.client_charset_is_connection = state_.client_charset_is_connection;
  facts.warning_count = static_cast<uint16_t>(state_.warnings.size());
  facts.error_count = static_cast<uint16_t>(std::count_if(
      state_.warnings.begin(), state_.warnings.end(), [](const auto& row) { return row.level == "Error"; }));
  facts.unix_micros = environment_.clock->unix_micros();
  facts.max_offset = environment_.settings->max_offset;
  facts.max_statement_bytes = statement_bytes_max(environment_.server);
  return facts;
}

void Session::handle_query(std::string_view sql) {
  rest_ = sql;
  binary_ = false;
  parameters_.clear();
  statement_tokens_ = &tokens_;
  next_statement();
}

// Makes the tokens independent of the packet: whatever is asked of an instance before planning takes time.
void Session::keep_text() {
  if (binary_ || !text_.empty()) return;
  const std::string_view statement = tokens_.text;
  const char* begin = statement.data();
  text_.assign(begin, static_cast<size_t>(rest_.data() + rest_.size() - begin));
  tokens_.text = std::string_view(text_).substr(0, statement.size());
  rest_ = std::string_view(text_).substr(text_.size() - rest_.size());
}

// Takes the next statement off a text; more than one needs the client's permission.
void Session::next_statement() {
  auto lexed = sql::lex(rest_, state_.lex, tokens_);
  if (!lexed) return answer_error(lexed.error());
  const uint32_t end = static_cast<uint32_t>(tokens_.size() - 1);
  uint32_t next = sql::next_statement(tokens_, 0);
  bool more = false;
  for (uint32_t i = next; i < end; ++i) more = more || tokens_[i].op != sql::Op::semicolon;
  if (!more) {
    rest_ = rest_.substr(rest_.size());
    return run_statement();
  }
  if (!multi_statements_) {
    return answer_error(
        make_error(ErrorKind::statement, mysql::er::parse_error,
                   fmt::format("You have an error in your SQL syntax; several statements in one text need "
                               "CLIENT_MULTI_STATEMENTS; near '{}'",
                               rest_.substr(tokens_[next].begin, 80))));
  }
  const size_t cut = tokens_[next].begin;
  const std::string_view whole = rest_;
  rest_ = whole.substr(cut);  // the semicolon stays with the statement before it
  lexed = sql::lex(whole.substr(0, cut), state_.lex, tokens_);
  if (!lexed) return answer_error(lexed.error());
  keep_text();
  run_statement();
}

Result<CachedStatement> Session::look_up(const sql::Tokens& tokens, sql::Span part) {
  const auto session_facts = facts();
  const auto catalog = environment_.catalog();
  auto& cache = *environment_.statements;
  if (const auto* found = cache.find(tokens, part, session_facts, catalog->version())) {
    count(environment_.counters->cache_hits);
    return *found;
  }
  count(environment_.counters->cache_misses);
  CachedStatement made;
  EVENKEEL_ASSIGN(made.statement, sql::parse(tokens, session_facts.lex, part));
  switch (made.statement->kind) {
    case StatementKind::empty:
    case StatementKind::set:
    case StatementKind::use:
    case StatementKind::transaction:
    case StatementKind::kill:
    case StatementKind::explain_route:
      break;
    default: {
      if (is_show_warnings(*made.statement)) break;
      auto bound = plan::bind(made.statement, tokens, catalog, environment_.rules, session_facts);
      if (bound) {
        made.bound = std::move(*bound);
      } else {
        made.refusal = bound.error();
      }
    }
  }
  made.fingerprint = std::make_shared<const std::string>(
      cut_text(sql::fingerprint_text(tokens, part), SlowLog::fingerprint_max));
  cache.insert(tokens, made);
  return made;
}

void Session::run_statement() {
  count(environment_.counters->statements);
  end_timing();  // of the statement before it in one text
  begin_timing();
  const uint32_t end = sql::next_statement(tokens_, 0);
  // next_statement gives the index after the `;`, or that of the end token.
  const uint32_t last = end > 0 && tokens_[end - 1].op == sql::Op::semicolon &&
                                tokens_[end - 1].kind == sql::TokenKind::punctuation
                            ? end - 1
                            : end;
  auto found = look_up(tokens_, sql::Span{0, last});
  if (!found) return answer_error(found.error());
  cached_ = std::move(*found);
  dispatch(cached_);
}

void Session::dispatch(const CachedStatement& cached) {
  const sql::Statement& statement = *cached.statement;
  if (!state_.transaction.poisoned.empty() && !ends_transaction(statement) && !is_show_warnings(statement)) {
    return answer_error(make_error(
        ErrorKind::backend, mysql::er::lock_deadlock,
        fmt::format("the transaction cannot go on: {}; send ROLLBACK", state_.transaction.poisoned)));
  }
  if (state_.pinned_lost && !ends_transaction(statement)) {
    state_.pinned_lost = false;
    return answer_error(
        make_error(ErrorKind::backend, mysql::er::query_on_foreign_data_source,
                   "the connection that held this session's temporary tables or locks is lost"));
  }
  if (cached.refusal) return refuse_statement(statement, *cached.refusal, statement_tokens_->text);
  switch (statement.kind) {
    case StatementKind::empty:
      // A comment alone is a statement that does nothing, and no text is an error.
      if (!is_blank(statement_tokens_->text)) return answer_statement_ok();
      return answer_error(make_error(ErrorKind::statement, mysql::er::empty_query, "Query was empty"));
    case StatementKind::set:
      return handle_set(*statement.set);
    case StatementKind::use:
      return use_checked(std::string(statement.use_schema.text));
    case StatementKind::transaction:
      return handle_transaction(*statement.transaction);
    case StatementKind::kill:
      return handle_kill_statement(*statement.kill);
    case StatementKind::explain_route:
      return answer_route(statement);
    default:
      break;
  }
  if (is_show_warnings(statement)) return answer_warnings(statement);
  if (statement.implicit_commit && state_.in_transaction()) {
    keep_text();
    return end_transaction(exec::CommitFlow::What::commit, [this](std::optional<Error> error) {
      if (error) return answer_error(*error);
      draw_first_keys();
    });
  }
  draw_first_keys();
}

// A statement that was not understood may simply be wrong: the server's own syntax error is worth more to the
// client than a refusal. PREPARE runs nothing.
void Session::refuse_statement(const sql::Statement& statement, const Error& refusal, std::string_view text) {
  // The columns known here may have changed since.
  if (columns_differ(refusal.code) && environment_.refresh_catalog)
    environment_.refresh_catalog(fmt::format("error {} of a statement", refusal.code));
  const bool not_understood = statement.has_opaque || statement.kind == StatementKind::opaque;
  if (!not_understood) return answer_error(refusal);
  const std::string sql(text);
  keep_text();
  run(std::make_unique<exec::Errand>(exec::Errand::What::prepare, state_.default_instance, sql, state_,
                                     port_),
      [this, refusal] {
        const auto& errand = static_cast<const exec::Errand&>(*finished_.back());
        const bool syntax = errand.error() && errand.error()->code == mysql::er::parse_error;
        answer_error(syntax ? *errand.error() : refusal);
      });
}

void Session::draw_first_keys() {
  const plan::Arguments arguments{*statement_tokens_, parameters_, facts(), binary_};
  auto demand = plan::key_demand(*cached_.bound, arguments);
  if (!demand) return answer_error(demand.error());
  demand_ = std::move(*demand);
  keys_.assign(demand_.rows.size(), 0);
  keys_drawn_ = 0;
  draw_keys();
}

void Session::wait_for_key(const idgen::KeyWait& wait) {
  keep_text();
  waiting_for_key_ = true;
  count(environment_.counters->key_waits);
  port_.set_timer(std::chrono::microseconds(std::max<int64_t>(1, wait.micros)));
}

// Ids of the client's own that its generator might come to later. False: the statement waits or was answered.
bool Session::admit_explicit_ids(idgen::KeyGenerator& generator) {
  if (!generator.counts_up()) return true;
  if (demand_.explicit_unknown) {
    answer_error(unsupported(fmt::format(
        "an expression as value of column '{}', whose ids are counted: it must be a whole number or "
        "a parameter, so that no id is given twice",
        demand_.table->generated_column)));
    return false;
  }
  if (demand_.explicit_ids.empty()) return true;
  const auto admitted = generator.admit_explicit(demand_.explicit_ids);
  if (!admitted) {
    answer_error(admitted.error());
    return false;
  }
  if (admitted->micros > 0) {
    wait_for_key(*admitted);
    return false;
  }
  demand_.explicit_ids.clear();
  return true;
}

// A draw never blocks: what cannot be had yet is asked for again by a timer.
void Session::draw_keys() {
  if (demand_.table != nullptr) {
    const auto generator = environment_.generators.find(demand_.table);
    if (generator == environment_.generators.end()) {
      return answer_error(
          internal_error(fmt::format("no key generator for table '{}'", demand_.table->name)));
    }
    if (!admit_explicit_ids(*generator->second)) return;
    if (keys_.empty()) return plan_and_execute();
    const bool bound_to_slots = demand_.rows.front().slot.has_value();
    std::vector<uint32_t> row_slots;
    if (bound_to_slots) {
      for (size_t i = keys_drawn_; i < keys_.size(); ++i) row_slots.push_back(*demand_.rows[i].slot);
    }
    idgen::KeyDemand wanted;
    wanted.rows = static_cast<uint32_t>(keys_.size() - keys_drawn_);
    wanted.row_slots = row_slots;
    if (wanted.rows > 1 && !bound_to_slots) {
      if (const auto traffic = environment_.traffic.find(demand_.table);
          traffic != environment_.traffic.end()) {
        wanted.slot_deficits = traffic->second->worth_now();
        if (!wanted.slot_deficits.empty()) wanted.slot_instances = traffic->second->slot_instances();
      }
    }
    auto drawn = generator->second->draw(wanted, std::span(keys_).subspan(keys_drawn_));
    if (!drawn) return answer_error(drawn.error());
    keys_drawn_ += drawn->drawn;
    count(environment_.counters->keys_generated, drawn->drawn);
    if (!drawn->complete()) return wait_for_key(drawn->wait);
  }
  plan_and_execute();
}

void Session::plan_and_execute() {
  const plan::Arguments arguments{*statement_tokens_, parameters_, facts(), binary_};
  auto planned = plan::plan(*cached_.bound, arguments, keys_);
  if (!planned) return answer_error(planned.error());
  if (planned->kind == plan::PlanKind::local) return answer_locally(*planned);
  start_execution(std::move(*planned));
}

void Session::start_execution(plan::Plan planned) {
  auto& counters = *environment_.counters;
  switch (planned.kind) {
    case plan::PlanKind::forward:
      count(counters.statements_forwarded);
      break;
    case plan::PlanKind::scatter:
      count(counters.statements_scattered);
      break;
    case plan::PlanKind::write:
      count(counters.statements_split_writes);
      break;
    default:
      count(counters.statements_one_slot);
      break;
  }
  const sql::Statement& statement = *cached_.statement;
  exec::ExecutionOptions options;
  options.answer.capabilities = state_.client_capabilities;
  options.answer.binary = binary_;
  options.answer.more_results = !rest_.empty();
  options.answer.sequence = sequence_;
  if (binary_) options.parameters = parameters_;
  options.statement_parameters = static_cast<uint32_t>(parameters_.size());
  options.calc_found_rows = statement.query != nullptr && statement.query->block != nullptr &&
                            statement.query->block->calc_found_rows;
  options.fetch_insert_id =
      planned.kind == plan::PlanKind::forward &&
      (statement.kind == StatementKind::insert || statement.kind == StatementKind::load_data);
  if (statement.insert != nullptr && (statement.insert->ignore || !statement.insert->on_duplicate.empty())) {
    options.burnable_rows = std::max<uint32_t>(1, static_cast<uint32_t>(statement.insert->rows.size()));
  }
  options.single_instance = environment_.settings->transactions == Transactions::single_instance;
  options.max_rows_held = environment_.settings->max_rows_held;
  timeout_ = environment_.settings->query_timeout;
  if (timeout_.count() > 0) port_.set_timer(timeout_);
  run(std::make_unique<exec::Execution>(std::move(planned), std::move(options), state_, port_,
                                        environment_.instance_names),
      [this] { finish_execution(); });
}

void Session::finish_execution() {
  const auto& execution = static_cast<const exec::Execution&>(*finished_.back());
  const exec::Outcome& outcome = execution.outcome();
  if (std::exchange(timeout_, {}).count() > 0) port_.set_timer(std::chrono::microseconds(0));
  count(environment_.counters->rows_sent, outcome.rows);
  if (outcome.partial_commit) count(environment_.counters->commits_partial);
  if (execution.plan().row_change != plan::RowChange::none) count_rows(execution);
  sequence_ = outcome.next_sequence;
  if (outcome.cut) {
    closing_ = true;
    port_.close_client();
  }
  if (execution.plan().changes_catalog && environment_.refresh_catalog) {
    environment_.refresh_catalog("DDL through the proxy");
  }
  if (outcome.error) {
    count(environment_.counters->statement_errors);
    const uint16_t code = outcome.error->code;
    if (columns_differ(code) && execution.plan().kind != plan::PlanKind::forward &&
        environment_.refresh_catalog) {
      environment_.refresh_catalog(fmt::format("error {} from an instance", code));
    }
  }
  finish_statement(outcome.error.has_value());
}

// The statement's answer is written: another one of the same text may follow.
void Session::finish_statement(bool failed) {
  if (failed || rest_.empty()) {
    rest_ = {};
    return end_command();
  }
  state_.lanes.release_free(port_);
  next_statement();
}

void Session::answer_statement_ok() {
  protocol::Ok ok;
  ok.status = status();
  if (!rest_.empty()) ok.status |= mysql::server_status::more_results;
  auto writer = answer();
  writer.ok(ok);
  sequence_ = writer.next_sequence();
  state_.row_count = 0;
  finish_statement(false);
}

void Session::answer_locally(const plan::Plan& planned) {
  count(environment_.counters->statements_local);
  if (planned.set_last_insert_id) state_.last_insert_id = *planned.set_last_insert_id;
  if (planned.local_columns.empty()) return answer_statement_ok();
  answer_rows(planned.local_columns, {planned.local_row});
}

void Session::answer_rows(const std::vector<std::string>& names,
                          const std::vector<std::vector<mysql::Value>>& rows) {
  auto writer = answer(binary_ ? front::RowFormat::binary : front::RowFormat::text);
  std::vector<protocol::ColumnDefinition> columns;
  for (size_t i = 0; i < names.size(); ++i) {
    columns.push_back(front::column_for(names[i], rows.empty() ? mysql::Value::string("") : rows.front()[i],
                                        state_.connection_collation));
  }
  uint16_t flags = status();
  if (!rest_.empty()) flags |= mysql::server_status::more_results;
  writer.columns(columns, flags);
  for (const auto& row : rows) writer.row(row);
  writer.end(flags);
  sequence_ = writer.next_sequence();
  state_.row_count = -1;
  state_.found_rows = rows.size();
  finish_statement(false);
}

void Session::answer_route(const sql::Statement& statement) {
  const auto session_facts = facts();
  auto bound = plan::bind(std::shared_ptr<const sql::Statement>(cached_.statement, statement.inner), tokens_,
                          environment_.catalog(), environment_.rules, session_facts);
  if (!bound) return answer_error(bound.error());
  const plan::Arguments arguments{tokens_, parameters_, session_facts, false};
  auto demand = plan::key_demand(**bound, arguments);
  if (!demand) return answer_error(demand.error());
  // No id is spent on a question: the rows are shown with the ids 1, 2, …
  std::vector<uint64_t> keys(demand->rows.size());
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i + 1;
  auto planned = plan::plan(**bound, arguments, keys);
  if (!planned) return answer_error(planned.error());
  std::vector<std::vector<mysql::Value>> rows;
  const std::string text = plan::to_text(*planned, *environment_.rules);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    rows.push_back({mysql::Value::string(text.substr(begin, end - begin))});
    begin = end + 1;
  }
  answer_rows({"route"}, rows);
}

void Session::answer_warnings(const sql::Statement& statement) {
  const bool errors_only = statement.words == "show errors" || statement.words.ends_with("errors");
  std::vector<std::vector<mysql::Value>> rows;
  for (const auto& row : state_.warnings) {
    if (errors_only && row.level != "Error") continue;
    rows.push_back(
        {mysql::Value::string(row.level), mysql::Value::uint64(row.code), mysql::Value::string(row.message)});
  }
  if (statement.words.starts_with("show count")) {
    const uint64_t total = rows.size();
    return answer_rows({errors_only ? "@@session.error_count" : "@@session.warning_count"},
                       {{mysql::Value::uint64(total)}});
  }
  answer_rows({"Level", "Code", "Message"}, rows);
}

void Session::handle_kill_statement(const sql::Kill& kill) {
  const sql::Expr* id = kill.id;
  if (id == nullptr || id->kind != sql::ExprKind::literal) {
    return answer_error(unsupported("KILL of anything but a connection id"));
  }
  const std::string text(tokens_.text_of(id->span));
  uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || number > UINT32_MAX) return answer_error(unsupported("KILL " + text));
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  handle_kill(number, kill.query);
}

void Session::handle_field_list(std::string_view payload) {
  auto command = protocol::FieldList::decode(payload);
  if (!command) return answer_error(command.error());
  std::string sql = "SELECT * FROM `";
  for (const char c : command->table) {
    if (c == '`') sql += '`';
    sql += c;
  }
  sql += "` LIMIT 0";
  rest_ = {};
  binary_ = false;
  parameters_.clear();
  text_ = std::move(sql);
  statement_tokens_ = &tokens_;
  auto lexed = sql::lex(text_, state_.lex, tokens_);
  if (!lexed) return answer_error(lexed.error());
  auto found = look_up(tokens_, sql::Span{0, static_cast<uint32_t>(tokens_.size() - 1)});
  if (!found) return answer_error(found.error());
  if (found->refusal) return answer_error(*found->refusal);
  cached_ = std::move(*found);
  const plan::Arguments arguments{tokens_, parameters_, facts(), false};
  auto planned = plan::prototype(*cached_.bound, arguments);
  if (!planned) return answer_error(planned.error());
  auto restore = std::make_shared<std::vector<plan::NameRestore>>(std::move(planned->restore));
  const auto& unit = planned->units.front();
  run(std::make_unique<exec::Errand>(exec::Errand::What::prepare, unit.instance, unit.sql, state_, port_),
      [this, restore] {
        const auto& errand = static_cast<const exec::Errand&>(*finished_.back());
        if (errand.error()) return answer_error(*errand.error());
        auto columns = errand.result().columns();
        for (auto& column : columns) exec::restore_definition(column, *restore, state_.results_collation);
        answer().field_list(columns, status());
        end_command();
      });
}

}  // namespace evenkeel::session
