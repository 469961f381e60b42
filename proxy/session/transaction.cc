#include <algorithm>
#include <memory>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/exec/end_transaction.h"
#include "proxy/session/session.h"
#include "router/sql/literal.h"

namespace evenkeel::session {

using exec::CommitFlow;
using sql::TxKind;

namespace {

std::string begin_text(const sql::Transaction& transaction) {
  std::string text;
  if (transaction.consistent_snapshot) text = " WITH CONSISTENT SNAPSHOT";
  if (transaction.read_only) {
    text += text.empty() ? " " : ", ";
    text += *transaction.read_only ? "READ ONLY" : "READ WRITE";
  }
  return text.empty() ? "BEGIN" : "START TRANSACTION" + text;
}

}  // namespace

void Session::end_transaction(CommitFlow::What what, std::function<void(std::optional<Error>)> then) {
  const std::string poisoned = std::exchange(state_.transaction.poisoned, {});
  if (!poisoned.empty()) what = CommitFlow::What::rollback;
  auto& counters = *environment_.counters;
  count(what == CommitFlow::What::commit ? counters.transactions_committed
                                         : counters.transactions_rolled_back);
  const bool commits = what == CommitFlow::What::commit;
  run(std::make_unique<exec::EndTransaction>(what, state_, port_, environment_.instance_names),
      [this, then = std::move(then), poisoned, commits, rows = std::exchange(state_.transaction.rows, {})] {
        const auto& task = static_cast<const exec::EndTransaction&>(*finished_.back());
        if (commits) apply(rows, !task.error().has_value());
        if (task.partial()) count(environment_.counters->commits_partial);
        auto error = task.error();
        if (!poisoned.empty() && !error) {
          error = make_error(ErrorKind::backend, mysql::er::lock_deadlock,
                             "the transaction was rolled back, not committed: " + poisoned);
        }
        then(std::move(error));
      });
}

void Session::handle_transaction(const sql::Transaction& transaction) {
  keep_text();
  switch (transaction.kind) {
    case TxKind::begin: {
      const auto open = [this, text = begin_text(transaction)] {
        // SET TRANSACTION before BEGIN holds for the transaction that begins.
        const std::string one_shot = state_.transaction.one_shot;
        state_.transaction = exec::Transaction{};
        state_.transaction.one_shot = one_shot;
        state_.transaction.open = true;
        state_.transaction.begin_sql = text;
        answer_statement_ok();
      };
      if (!state_.in_transaction()) return open();
      return end_transaction(CommitFlow::What::commit, [this, open](std::optional<Error> error) {
        if (error) return answer_error(*error);
        open();
      });
    }
    case TxKind::commit:
    case TxKind::rollback: {
      const bool commit = transaction.kind == TxKind::commit;
      const bool chain = transaction.chain.value_or(false);
      const bool release = transaction.release.value_or(false);
      const std::string begin_sql = state_.transaction.begin_sql;
      const std::string one_shot = state_.transaction.one_shot;
      const auto what = commit ? CommitFlow::What::commit : CommitFlow::What::rollback;
      return end_transaction(what, [=, this](std::optional<Error> error) {
        // ROLLBACK of what is lost already has done its work. After a COMMIT that failed nothing is chained.
        if (error && commit) return answer_error(*error);
        if (chain) {
          state_.transaction.open = true;
          state_.transaction.begin_sql = begin_sql;
          state_.transaction.one_shot = one_shot;
        }
        if (release) closing_ = true;
        answer_statement_ok();
        if (release) port_.close_client();
      });
    }
    case TxKind::savepoint:
    case TxKind::rollback_to:
    case TxKind::release_savepoint:
      return handle_savepoint(transaction);
  }
}

// A branch that joins later makes the savepoints that exist, in their order, before its first statement: that
// is where it stands at each of them.
void Session::handle_savepoint(const sql::Transaction& transaction) {
  std::string name;
  sql::append_identifier(transaction.savepoint.text, name);
  auto& savepoints = state_.transaction.savepoints;
  const auto known = std::find(savepoints.begin(), savepoints.end(), name);
  const bool in_transaction = state_.transaction.open || !state_.autocommit;
  if (transaction.kind == TxKind::savepoint) {
    // Outside a transaction it means nothing, as in MySQL.
    if (!in_transaction) return answer_statement_ok();
    return branch_statement("SAVEPOINT " + name, [this, name](std::optional<Error> error) {
      if (error) return answer_error(*error);
      auto& made = state_.transaction.savepoints;
      auto& rows_at = state_.transaction.savepoint_rows;
      if (const auto old = std::find(made.begin(), made.end(), name); old != made.end()) {
        rows_at.erase(rows_at.begin() + (old - made.begin()));
        made.erase(old);
      }
      made.push_back(name);
      rows_at.push_back(state_.transaction.rows.size());
      state_.transaction.open = true;
      answer_statement_ok();
    });
  }
  if (known == savepoints.end()) {
    return answer_error(
        make_error(ErrorKind::statement, mysql::er::savepoint_does_not_exist,
                   "SAVEPOINT " + std::string(transaction.savepoint.text) + " does not exist"));
  }
  const auto position = known - savepoints.begin();
  const bool back = transaction.kind == TxKind::rollback_to;
  branch_statement((back ? "ROLLBACK TO SAVEPOINT " : "RELEASE SAVEPOINT ") + name,
                   [this, position, back](std::optional<Error> error) {
                     if (error) return answer_error(*error);
                     auto& made = state_.transaction.savepoints;
                     auto& rows_at = state_.transaction.savepoint_rows;
                     if (back) state_.transaction.rows.resize(rows_at[static_cast<size_t>(position)]);
                     made.erase(made.begin() + position + (back ? 1 : 0), made.end());
                     rows_at.resize(made.size());
                     answer_statement_ok();
                   });
}

void Session::branch_statement(std::string sql, std::function<void(std::optional<Error>)> then) {
  run(std::make_unique<exec::BranchStatement>(std::move(sql), state_, port_), [this, then = std::move(then)] {
    then(static_cast<const exec::BranchStatement&>(*finished_.back()).error());
  });
}

}  // namespace evenkeel::session
