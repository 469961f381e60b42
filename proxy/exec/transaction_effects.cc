// What a statement does to the transaction that it runs in, when it fails or when it hides what it does.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/exec/execution.h"
#include "proxy/exec/prelude.h"

namespace evenkeel::exec {

// What a procedure or a prepared text did to the transaction and to autocommit, the status flags tell: the
// session goes with its server.
void Execution::follow_transaction(Lane& lane) {
  const Connection& connection = lane.connection();
  if (!connection.autocommit) state_.autocommit = false;
  if (connection.in_transaction == lane.begun) return;
  lane.begun = connection.in_transaction;
  lane.written = lane.begun;
  if (lane.begun) {
    state_.transaction.open = true;
    return;
  }
  if (std::any_of(state_.lanes.all().begin(), state_.lanes.all().end(),
                  [](const auto& other) { return other->begun; })) {
    poison(fmt::format("a procedure or prepared statement ended it on instance '{}'", name(lane.instance())));
    return;
  }
  // Whether it was committed is not told.
  auto rows = std::move(state_.transaction.rows);
  for (RowCount& row : rows) row.known = false;
  state_.transaction = Transaction{};
  state_.transaction.rows = std::move(rows);
}

void Execution::poison(const std::string& why) {
  if (state_.transaction.open && state_.transaction.poisoned.empty()) state_.transaction.poisoned = why;
}

// A statement of several units that failed leaves nothing behind.
void Execution::undo() {
  if (own_transaction_) {
    stage_ = Stage::committing;
    commit_.emplace(CommitFlow::What::rollback, state_, port_, names_);
    commit_->start();
    return;
  }
  // An instance that chose the transaction as a deadlock's victim has rolled its branch back: the others
  // follow.
  if (state_.transaction.open && error_->code == mysql::er::lock_deadlock) {
    size_t begun = 0;
    for (const auto& lane : state_.lanes.all()) begun += lane->begun ? 1 : 0;
    state_.transaction = Transaction{};
    if (begun > 0) {
      stage_ = Stage::committing;
      commit_.emplace(CommitFlow::What::rollback, state_, port_, names_);
      commit_->start();
      return;
    }
  }
  stage_ = Stage::undoing;
  if (!savepoint_) return;
  for (const auto& lane : state_.lanes.all()) {
    if (!uses(lane->instance()) || lane->connection().lost) continue;
    lane->query(std::string("ROLLBACK TO SAVEPOINT ") + statement_savepoint, Purpose::undo);
    port_.flush(&lane->connection());
  }
}

}  // namespace evenkeel::exec
