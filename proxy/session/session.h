// A client's conversation after its login: commands in, answers out. A machine without sockets or clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/exec/errand.h"
#include "proxy/exec/execution.h"
#include "proxy/exec/port.h"
#include "proxy/exec/session_state.h"
#include "proxy/front/handshake.h"
#include "proxy/front/result_writer.h"
#include "proxy/protocol/command_messages.h"
#include "proxy/protocol/frame.h"
#include "proxy/session/environment.h"
#include "proxy/session/prepared.h"
#include "proxy/session/set_statement.h"

namespace evenkeel::session {

// Beside exec::Port, what only the command loop asks for.
class SessionPort : public exec::Port {
 public:
  // Whether to read from the client: not while enough pipelined commands wait.
  virtual void read_client(bool on) = 0;
  // After what is in client_out() has been sent.
  virtual void close_client() = 0;
  // The client asked for COM_CHANGE_USER: the driver logs it in anew and calls on_user_changed, or closes.
  virtual void change_user(std::string_view payload) = 0;
};

// One thread. Commands are answered in order; those that arrive while one runs wait.
class Session {
 public:
  // `user` must outlive the session; `host` is the client's address, for USER().
  Session(Environment& environment, SessionPort& port, const front::Login& login, uint64_t connection_id,
          const User& user, std::string host);
  ~Session();

  // Once after the login or a change of user: whether the schema that the client named exists.
  void check_database(std::function<void(std::optional<Error>)> then);
  void on_client_bytes(std::string_view bytes);
  void on_client_drained();
  void on_lease(uint32_t ticket, Result<exec::Connection*> connection);
  void on_backend_bytes(exec::Connection* connection, std::string_view bytes);
  // The connection is lost or was closed by the instance.
  void on_backend_lost(exec::Connection* connection, const std::string& reason);
  void on_timer();
  // The new user's session begins; check_database and then user_changed follow.
  void on_user_changed(const front::Login& login, const User& user);
  void user_changed();

  // KILL from another session. False: nothing is running.
  bool kill_query(Error error);
  // Between two commands and outside a transaction: may be closed by a drain.
  bool at_rest() const { return !busy() && !state_.in_transaction() && in_.empty(); }
  bool busy() const { return task_ != nullptr || waiting_for_key_ || changing_user_; }
  bool in_transaction() const { return state_.in_transaction(); }
  const std::string& database() const { return state_.database; }
  const std::string& user() const { return user_->name; }
  protocol::Capabilities client_capabilities() const { return state_.client_capabilities; }
  uint64_t connection_id() const { return connection_id_; }

 private:
  using Continuation = std::function<void()>;

  // command_loop.cc
  void set_up(const front::Login& login);
  void process_input();
  bool take_commands(std::string_view& bytes);
  void handle(std::string_view payload);
  void handle_init_db(std::string_view payload);
  void handle_reset();
  void handle_set_option(std::string_view payload);
  void handle_field_list(std::string_view payload);
  void handle_statistics();
  void handle_kill(uint64_t id, bool query_only);
  void answer_ok();
  void answer_error(const Error& error);
  front::ResultWriter answer(front::RowFormat format = front::RowFormat::text);
  void end_command();
  void begin_timing();
  void end_timing();
  void run(std::unique_ptr<exec::Task> task, Continuation then);
  void advance();
  void cancel_task(Error error);
  void drop_lost_lanes(const std::string& reason);
  uint16_t status() const;

  // query.cc
  void handle_query(std::string_view sql);
  void next_statement();
  void run_statement();
  Result<CachedStatement> look_up(const sql::Tokens& tokens, sql::Span part);
  void dispatch(const CachedStatement& cached);
  // `text`: the client's, when the statement is none of those below.
  void refuse_statement(const sql::Statement& statement, const Error& refusal, std::string_view text);
  void keep_text();
  void draw_first_keys();
  void wait_for_key(const idgen::KeyWait& wait);
  bool admit_explicit_ids(idgen::KeyGenerator& generator);
  void draw_keys();
  void plan_and_execute();
  void start_execution(plan::Plan planned);
  void finish_execution();
  void answer_statement_ok();
  void answer_locally(const plan::Plan& planned);
  void answer_rows(const std::vector<std::string>& names, const std::vector<std::vector<mysql::Value>>& rows);
  void answer_route(const sql::Statement& statement);
  void answer_warnings(const sql::Statement& statement);
  void handle_kill_statement(const sql::Kill& kill);
  void finish_statement(bool failed);
  plan::SessionFacts facts() const;

  // row_counts.cc
  void count_rows(const exec::Execution& execution);
  void apply(std::span<const exec::RowCount> rows, bool certain);

  // set.cc
  void handle_set(const sql::Set& set);
  void ask_values(std::shared_ptr<SetEffects> effects);
  void apply_set(std::shared_ptr<SetEffects> effects);
  void try_set(std::shared_ptr<SetEffects> effects);
  void note_variables();
  void use_database(std::string database);
  void use_checked(std::string database);

  // transaction.cc
  void handle_transaction(const sql::Transaction& transaction);
  void end_transaction(exec::CommitFlow::What what, std::function<void(std::optional<Error>)> then);
  void handle_savepoint(const sql::Transaction& transaction);
  void branch_statement(std::string sql, std::function<void(std::optional<Error>)> then);

  // statements.cc
  void handle_prepare(std::string_view payload);
  void answer_prepared(uint32_t id, std::vector<protocol::ColumnDefinition> columns,
                       const std::vector<plan::NameRestore>& restore);
  Status bind_prepared(PreparedStatement& prepared);
  PreparedStatement* find_prepared(uint32_t id);
  void handle_execute(std::string_view payload);
  void handle_long_data(std::string_view payload);
  void handle_stmt_close(std::string_view payload);
  void handle_stmt_reset(std::string_view payload);
  void handle_stmt_fetch(std::string_view payload);

  Environment& environment_;
  SessionPort& port_;
  uint64_t connection_id_;
  const User* user_;
  std::string host_;
  std::string user_at_host_;
  exec::SessionState state_;
  protocol::FrameReader reader_;
  std::string in_;           // bytes of commands that wait
  size_t input_wanted_ = 0;  // bytes of `in_` with which its first packet may be whole
  bool handling_ = false;
  bool closing_ = false;
  bool changing_user_ = false;
  bool multi_statements_ = false;
  uint16_t login_collation_ = 0;

  // The running command.
  std::unique_ptr<exec::Task> task_;
  Continuation then_;
  std::vector<std::unique_ptr<exec::Task>> finished_;  // destroyed when no call of theirs is on the stack
  uint8_t sequence_ = 1;                               // of the next packet to the client
  std::optional<Error> cancelling_;                    // what the task is to end with
  bool in_task_ = false;                               // a task's start() is on the stack

  // What the running execution may take; 0: no timer is set for it.
  std::chrono::milliseconds timeout_{0};
  // When the statement that is timed began; 0: none is.
  std::chrono::nanoseconds begun_{0};

  // The running statement.
  std::string text_;       // its text, when it must outlive the packet
  std::string_view rest_;  // of a multi-statement text, what follows the statement
  sql::Tokens tokens_;
  CachedStatement cached_;
  bool binary_ = false;
  const sql::Tokens* statement_tokens_ = nullptr;
  std::vector<mysql::Value> parameters_;
  plan::KeyDemand demand_;
  std::vector<uint64_t> keys_;
  size_t keys_drawn_ = 0;
  bool waiting_for_key_ = false;

  PreparedStatements prepared_;
  uint32_t last_prepared_ = 0;  // by the last PREPARE; 0: it failed
};

}  // namespace evenkeel::session
