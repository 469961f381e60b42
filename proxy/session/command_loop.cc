#include <fmt/format.h>
#include <utility>

#include "base/mysql/collation.h"
#include "base/mysql/error_codes.h"
#include "proxy/protocol/messages.h"
#include "proxy/session/session.h"

namespace evenkeel::session {

using protocol::Command;

namespace {

// Pipelined commands wait in memory up to this; beyond it the client is not read from.
constexpr size_t waiting_input_high = size_t{1} << 20;
constexpr std::chrono::microseconds kill_again = std::chrono::seconds(1);
// Buffers larger than this are given back between commands.
constexpr size_t kept_capacity = 512;

// For answers that nobody waits for.
class Nobody final : public exec::LaneEvents {
 public:
  void on_part(exec::Lane&, const exec::Step&, protocol::Part, std::string_view) override {}
  void on_rows(exec::Lane&, const exec::Step&, std::string_view) override {}
  void on_step_done(exec::Lane&, const exec::Step&, bool) override {}
};

}  // namespace

Session::Session(Environment& environment, SessionPort& port, const front::Login& login,
                 uint64_t connection_id, const User& user, std::string host)
    : environment_(environment),
      port_(port),
      connection_id_(connection_id),
      user_(&user),
      host_(std::move(host)),
      reader_(environment.settings->max_packet) {
  login_collation_ = login.collation;
  set_up(login);
}

Session::~Session() {
  // The client is gone: what runs for it is stopped, what is open is rolled back by closing its connections.
  // A COMMIT is let through: what was asked for is better than what nobody can tell.
  for (const auto& lane : state_.lanes.all()) {
    if (!lane->idle() && lane->current().purpose != exec::Purpose::commit)
      port_.kill_connection(&lane->connection());
  }
  state_.lanes.release_all(port_);
}

// The state in which a session begins: after login, COM_CHANGE_USER and COM_RESET_CONNECTION.
void Session::set_up(const front::Login& login) {
  state_.client_capabilities = login.capabilities;
  state_.capability.found_rows = protocol::has(login.capabilities, protocol::capability::found_rows);
  state_.capability.deprecate_eof = protocol::has(login.capabilities, protocol::capability::deprecate_eof);
  multi_statements_ = protocol::has(login.capabilities, protocol::capability::multi_statements);
  user_at_host_ = fmt::format("{}@{}", login.user, host_);
  state_.lex.flavour = environment_.server.flavour;
  state_.lex.version = environment_.server.version_id;
  const auto flavour = environment_.server.flavour;
  const mysql::Collation* collation = mysql::find_collation(login.collation, flavour);
  if (collation == nullptr) collation = mysql::find_collation(environment_.server.default_collation, flavour);
  state_.variables = std::make_shared<const exec::Variables>(
      std::vector<exec::Variables::Item>{{"character_set_client", fmt::format("'{}'", collation->charset)},
                                         {"character_set_results", fmt::format("'{}'", collation->charset)},
                                         {"collation_connection", fmt::format("'{}'", collation->name)}});
  state_.results_collation = collation->id;
  note_variables();
  use_database(login.database);
  if (login.database.empty()) {
    const auto& schemas = environment_.rules->schemas();
    state_.default_instance = schemas.empty() ? rule::InstanceId{0} : schemas.front().default_instance;
  }
}

void Session::check_database(std::function<void(std::optional<Error>)> then) {
  if (state_.database.empty() || environment_.rules->find_schema(state_.database) != nullptr) {
    return then(std::nullopt);
  }
  run(std::make_unique<exec::Errand>(exec::Errand::What::state_only, state_.default_instance, "", state_,
                                     port_),
      [this, then = std::move(then)] {
        const auto error = static_cast<const exec::Errand&>(*finished_.back()).error();
        state_.lanes.release_free(port_);
        then(error);
      });
}

uint16_t Session::status() const { return state_.status(); }

void Session::on_client_bytes(std::string_view bytes) {
  if (closing_) return;
  if (busy() || handling_ || !in_.empty()) {
    in_.append(bytes);
    if (busy() && in_.size() > waiting_input_high) port_.read_client(false);
    // A long packet is looked at again when it can be whole, not with every piece of it.
    if (!busy() && !handling_ && in_.size() >= input_wanted_) process_input();
    return;
  }
  // The usual case: one whole command, taken from the read buffer where it stands.
  handling_ = true;
  input_wanted_ = 0;
  take_commands(bytes);
  handling_ = false;
  finished_.clear();
  if (!closing_) in_.append(bytes);
}

// Runs commands off the front of `bytes` until one takes time. True: the packet at the front is not whole.
bool Session::take_commands(std::string_view& bytes) {
  while (!bytes.empty() && !busy() && !closing_) {
    reader_.expect_sequence(reader_.joining() ? reader_.next_sequence() : 0);
    auto read = reader_.read_packet(bytes);
    if (!read) {
      answer_error(read.error());
      closing_ = true;
      port_.close_client();
      return false;
    }
    bytes.remove_prefix(read->consumed);
    if (!read->complete) {
      input_wanted_ = bytes.size() + read->missing;
      return true;
    }
    sequence_ = static_cast<uint8_t>(read->last_sequence + 1);
    handle(read->payload);
  }
  return false;
}

void Session::process_input() {
  if (handling_ || closing_) return;
  handling_ = true;
  input_wanted_ = 0;
  while (!in_.empty() && !busy() && !closing_) {
    // Taken out of the member: a command may run long, and more input may arrive meanwhile.
    std::string input = std::exchange(in_, {});
    std::string_view bytes = input;
    const bool wants_more = take_commands(bytes);
    if (!bytes.empty()) in_.insert(0, bytes);
    if (wants_more) break;
  }
  handling_ = false;
  finished_.clear();
  if (!busy() && !closing_) {
    port_.read_client(true);
    if (in_.empty() && in_.capacity() > kept_capacity) std::string().swap(in_);
  }
}

void Session::handle(std::string_view payload) {
  const Command command = protocol::command_of(payload);
  rest_ = {};  // nothing of an earlier text follows this command
  binary_ = false;
  switch (command) {
    case Command::query: {
      auto query = protocol::Query::decode(payload, state_.client_capabilities);
      if (!query) return answer_error(query.error());
      return handle_query(query->sql);
    }
    case Command::ping:
      return answer_ok();
    case Command::quit:
      closing_ = true;
      port_.close_client();
      return;
    case Command::init_db:
      return handle_init_db(payload);
    case Command::field_list:
      return handle_field_list(payload);
    case Command::statistics:
      return handle_statistics();
    case Command::set_option:
      return handle_set_option(payload);
    case Command::reset_connection:
      return handle_reset();
    case Command::change_user:
      changing_user_ = true;
      state_.lanes.release_all(port_);
      port_.change_user(payload);
      return;
    case Command::process_kill: {
      auto kill = protocol::ProcessKill::decode(payload);
      if (!kill) return answer_error(kill.error());
      return handle_kill(kill->connection_id, false);
    }
    case Command::process_info:
      return handle_query("SHOW PROCESSLIST");
    case Command::stmt_prepare:
      return handle_prepare(payload);
    case Command::stmt_execute:
      return handle_execute(payload);
    case Command::stmt_send_long_data:
      return handle_long_data(payload);
    case Command::stmt_close:
      return handle_stmt_close(payload);
    case Command::stmt_reset:
      return handle_stmt_reset(payload);
    case Command::stmt_fetch:
      return handle_stmt_fetch(payload);
    default:
      return answer_error(make_error(ErrorKind::unsupported, mysql::er::unknown_com,
                                     fmt::format("Unknown command ({})", protocol::to_string(command))));
  }
}

front::ResultWriter Session::answer(front::RowFormat format) {
  return front::ResultWriter(port_.client_out(), sequence_, state_.client_capabilities, format);
}

void Session::answer_ok() {
  protocol::Ok ok;
  ok.status = status();
  answer().ok(ok);
  end_command();
}

void Session::answer_error(const Error& error) {
  count(environment_.counters->statement_errors);
  if (error.kind == ErrorKind::unsupported) count(environment_.counters->statements_refused);
  state_.warnings.assign(1, {"Error", error.code, error.message});
  state_.row_count = -1;
  answer().error(error);
  end_command();
}

// The answer is written: connections that nothing binds go back, the next command may begin.
void Session::begin_timing() {
  cached_ = {};  // one that fails before it is known counts as none of its kind
  if (environment_.timings != nullptr) begun_ = environment_.clock->steady();
}

// A slow statement is kept by its shape.
void Session::end_timing() {
  if (begun_.count() == 0) return;
  const auto took = environment_.clock->steady() - std::exchange(begun_, {});
  const auto kind = cached_.statement ? cached_.statement->kind : sql::StatementKind::opaque;
  StatementClass statement_class = StatementClass::other;
  if (kind == sql::StatementKind::select) statement_class = StatementClass::read;
  if (kind == sql::StatementKind::insert || kind == sql::StatementKind::update ||
      kind == sql::StatementKind::delete_) {
    statement_class = StatementClass::write;
  }
  environment_.timings->latency[static_cast<size_t>(statement_class)].add(took);
  const auto slow = environment_.settings->slow_query;
  if (slow.count() == 0 || took < slow || cached_.fingerprint == nullptr) return;
  environment_.timings->slow.note(*cached_.fingerprint, state_.database,
                                  std::chrono::duration_cast<std::chrono::microseconds>(took),
                                  environment_.clock->unix_millis());
}

void Session::end_command() {
  end_timing();
  state_.lanes.release_free(port_);
  if (!text_.empty()) std::string().swap(text_);
  if (tokens_.items.capacity() > kept_capacity) tokens_ = {};
  if (!handling_) process_input();
}

void Session::run(std::unique_ptr<exec::Task> task, Continuation then) {
  task_ = std::move(task);
  then_ = std::move(then);
  const bool outer = std::exchange(in_task_, true);
  task_->start();
  in_task_ = outer;
  advance();
}

void Session::advance() {
  if (in_task_) return;
  while (task_) {
    task_->advance();
    if (!task_->done()) return;
    finished_.push_back(std::move(task_));
    if (std::exchange(cancelling_, std::nullopt)) port_.set_timer(std::chrono::microseconds(0));
    drop_lost_lanes("while another statement ran");
    const Continuation then = std::move(then_);
    then_ = nullptr;
    then();
  }
  if (!handling_) finished_.clear();
}

void Session::on_client_drained() {
  if (!task_) return;
  task_->on_drained();
  advance();
}

void Session::on_lease(uint32_t ticket, Result<exec::Connection*> connection) {
  if (!task_) {
    if (connection) port_.release(*connection);
    return;
  }
  task_->on_lease(static_cast<rule::InstanceId>(ticket), std::move(connection));
  advance();
}

void Session::on_backend_bytes(exec::Connection* connection, std::string_view bytes) {
  exec::Lane* lane = state_.lanes.find(connection);
  if (lane == nullptr) return;
  Nobody nobody;
  exec::LaneEvents& events = task_ ? static_cast<exec::LaneEvents&>(*task_) : nobody;
  auto fed = lane->feed(bytes, events);
  if (!fed) {
    on_backend_lost(connection, fed.error().message);
    return;
  }
  advance();
}

void Session::on_backend_lost(exec::Connection* connection, const std::string& reason) {
  exec::Lane* lane = state_.lanes.find(connection);
  if (lane == nullptr) return;
  connection->lost = true;
  if (task_) {
    task_->on_lost(*lane, reason);
    advance();
    return;
  }
  drop_lost_lanes(reason);
}

// A lane whose connection died is of no more use, but what hung on it must be known.
void Session::drop_lost_lanes(const std::string& reason) {
  const auto& lanes = state_.lanes.all();
  for (size_t i = lanes.size(); i-- > 0;) {
    exec::Lane& lane = *lanes[i];
    if (!lane.connection().lost) continue;
    if (lane.begun && state_.transaction.open && state_.transaction.poisoned.empty()) {
      state_.transaction.poisoned = fmt::format("the connection to instance '{}' was lost in it ({})",
                                                environment_.instance_names[lane.instance()], reason);
    }
    if (lane.pinned) state_.pinned_lost = true;
    lane.begun = false;
    state_.lanes.release(lane, port_);
  }
}

void Session::on_timer() {
  if (waiting_for_key_) {
    waiting_for_key_ = false;
    draw_keys();
    return;
  }
  if (!task_) return;
  if (cancelling_) return cancel_task(*cancelling_);
  cancel_task(make_error(ErrorKind::limit, mysql::er::query_timeout,
                         fmt::format("Query execution was interrupted, maximum statement execution time "
                                     "exceeded (query_timeout {} ms)",
                                     timeout_.count())));
}

// A KILL travels on another connection and can arrive before what it is to stop: it is sent again until that
// has ended.
void Session::cancel_task(Error error) {
  cancelling_ = std::move(error);
  task_->cancel(*cancelling_);
  advance();
  if (task_ && cancelling_) port_.set_timer(kill_again);
}

bool Session::kill_query(Error error) {
  if (waiting_for_key_) {
    waiting_for_key_ = false;
    port_.set_timer(std::chrono::microseconds(0));
    answer_error(error);
    return true;
  }
  if (!task_) return false;
  cancel_task(std::move(error));
  return true;
}

void Session::handle_init_db(std::string_view payload) {
  auto command = protocol::InitDb::decode(payload);
  if (!command) return answer_error(command.error());
  use_checked(std::string(command->database));
}

void Session::handle_reset() {
  const auto reset = [this] {
    front::Login login;
    login.user = user_->name;
    login.database = state_.database;
    login.capabilities = state_.client_capabilities;
    login.collation = login_collation_;
    state_.lanes.release_all(port_);
    prepared_.clear();
    const auto database = state_.database;
    state_ = exec::SessionState{};
    set_up(login);
    answer_ok();
  };
  if (!state_.in_transaction()) return reset();
  end_transaction(exec::CommitFlow::What::rollback, [reset](std::optional<Error>) { reset(); });
}

void Session::on_user_changed(const front::Login& login, const User& user) {
  user_ = &user;
  login_collation_ = login.collation != 0 ? login.collation : login_collation_;
  prepared_.clear();
  front::Login fresh = login;
  fresh.capabilities = state_.client_capabilities;
  fresh.collation = login_collation_;
  state_ = exec::SessionState{};
  set_up(fresh);
}

void Session::user_changed() {
  changing_user_ = false;
  process_input();
}

void Session::handle_set_option(std::string_view payload) {
  auto option = protocol::SetOption::decode(payload);
  if (!option) return answer_error(option.error());
  if (option->option > protocol::SetOption::multi_statements_off) {
    return answer_error(make_error(ErrorKind::statement, mysql::er::unknown_com, "Unknown command"));
  }
  multi_statements_ = option->option == protocol::SetOption::multi_statements_on;
  answer().eof(status());
  end_command();
}

void Session::handle_statistics() {
  if (!environment_.total) return answer_error(unsupported("COM_STATISTICS"));
  std::string text;
#define EVENKEEL_LINE(name) \
  text += fmt::format("{}{}: {}", text.empty() ? "" : "  ", #name, environment_.total(&Counters::name));
  EVENKEEL_SESSION_COUNTERS(EVENKEEL_LINE)
#undef EVENKEEL_LINE
  answer().text(text);
  end_command();
}

void Session::handle_kill(uint64_t id, bool query_only) {
  if (!environment_.kill || !environment_.kill(id, query_only, user_->name)) {
    return answer_error(make_error(ErrorKind::statement, mysql::er::no_such_thread,
                                   fmt::format("Unknown thread id: {}", id)));
  }
  count(environment_.counters->kills);
  if (!closing_) answer_ok();
}

}  // namespace evenkeel::session
