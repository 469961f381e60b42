// The client's COMMIT, ROLLBACK and savepoints, as tasks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/exec/commit.h"
#include "proxy/exec/task.h"

namespace evenkeel::exec {

// COMMIT or ROLLBACK over all lanes that have begun. Afterwards the transaction is over whatever happened.
class EndTransaction final : public Task {
 public:
  EndTransaction(CommitFlow::What what, SessionState& state, Port& port,
                 const std::vector<std::string>& instance_names)
      : state_(state), flow_(what, state, port, instance_names) {}

  void start() override { flow_.start(); }
  void on_lease(rule::InstanceId, Result<Connection*>) override {}
  void on_lost(Lane& lane, const std::string& reason) override;
  void cancel(Error) override {}  // a commit that was sent cannot be taken back
  void advance() override;
  bool done() const override { return done_; }

  void on_part(Lane& lane, const Step& step, protocol::Part part, std::string_view payload) override;
  void on_rows(Lane&, const Step&, std::string_view) override {}
  void on_step_done(Lane& lane, const Step& step, bool failed) override;

  const std::optional<Error>& error() const { return flow_.error(); }
  bool partial() const { return flow_.partial(); }

 private:
  SessionState& state_;
  CommitFlow flow_;
  bool done_ = false;
};

// One statement (SAVEPOINT, ROLLBACK TO, RELEASE) to every lane that has begun; the first error counts.
class BranchStatement final : public Task {
 public:
  BranchStatement(std::string sql, SessionState& state, Port& port)
      : sql_(std::move(sql)), state_(state), port_(port) {}

  void start() override;
  void on_lease(rule::InstanceId, Result<Connection*>) override {}
  void on_lost(Lane& lane, const std::string& reason) override;
  void cancel(Error) override {}
  void advance() override;
  bool done() const override { return done_; }

  void on_part(Lane& lane, const Step& step, protocol::Part part, std::string_view payload) override;
  void on_rows(Lane&, const Step&, std::string_view) override {}
  void on_step_done(Lane&, const Step&, bool) override {}

  const std::optional<Error>& error() const { return error_; }

 private:
  std::string sql_;
  SessionState& state_;
  Port& port_;
  std::optional<Error> error_;
  bool done_ = false;
};

}  // namespace evenkeel::exec
