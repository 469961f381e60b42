// Carries out one plan: leases, state, transaction, units, follow-ups, the end of the transaction, the
// answer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mysql/value.h"
#include "proxy/exec/capture.h"
#include "proxy/exec/commit.h"
#include "proxy/exec/reply.h"
#include "proxy/exec/task.h"
#include "router/plan/plan.h"

namespace evenkeel::exec {

// What the session wants beside the plan.
struct ExecutionOptions {
  AnswerFacts answer;
  std::vector<mysql::Value> parameters;  // of the client's EXECUTE
  uint32_t statement_parameters = 0;     // how many ? the client's statement has
  bool calc_found_rows = false;          // ask for FOUND_ROWS() before the connection goes
  bool changes_rows = false;             // INSERT, UPDATE, DELETE …: ROW_COUNT() is the affected rows
  bool fetch_insert_id = false;          // forwarded INSERT: its insert id may be a generated one
  // INSERT IGNORE or ON DUPLICATE KEY UPDATE of so many rows: the generated key may not have been stored.
  uint32_t burnable_rows = 0;
  bool single_instance = false;  // transactions: single_instance
  size_t max_rows_held = 1'000'000;
};

// How a statement ended, for the session's functions and for metrics.
struct Outcome {
  std::optional<Error> error;  // as the client was told
  uint64_t rows = 0;
  uint64_t affected_rows = 0;
  // By unit, of a write of several units that changes how many rows there are; otherwise empty.
  std::vector<uint64_t> unit_rows;
  bool returned_rows = false;
  uint8_t next_sequence = 1;
  bool partial_commit = false;
  // The client has the front of a row whose rest is lost: no error can be told in its place, only the
  // connection's end.
  bool cut = false;
};

// A machine: tell it events, then call advance(); it works until it waits for the world again. Owned by the
// session; the plan lives inside. Answers of lanes are passed on by the session.
class Execution final : public Task {
 public:
  Execution(plan::Plan plan, ExecutionOptions options, SessionState& state, Port& port,
            const std::vector<std::string>& instance_names);

  void start() override;
  void on_lease(rule::InstanceId instance, Result<Connection*> connection) override;
  void on_drained() override { reply_->on_drained(); }
  void on_lost(Lane& lane, const std::string& reason) override;
  void cancel(Error error) override;
  void advance() override;
  bool done() const override { return stage_ == Stage::done; }

  const Outcome& outcome() const { return outcome_; }
  const plan::Plan& plan() const { return plan_; }

  void on_part(Lane& lane, const Step& step, protocol::Part part, std::string_view payload) override;
  void on_rows(Lane& lane, const Step& step, std::string_view frames) override;
  void on_step_done(Lane& lane, const Step& step, bool failed) override;

 private:
  enum class Stage : uint8_t {
    leasing,       // connections are being lent
    running,       // units are with the instances
    undoing,       // a statement of several units failed: back to where it began
    following_up,  // insert id, warnings, FOUND_ROWS are asked for
    committing,    // the transaction that only this statement made ends
    done,
  };

  enum class Question : uint8_t { insert_id, found_rows, warnings };
  // A query of our own behind a unit, on the unit's lane.
  struct FollowUp {
    Lane* lane;
    Question question;
    Capture capture;
  };

  bool uses(rule::InstanceId instance) const;
  FollowUp* asked_on(const Lane& lane);
  void begin_units();
  void queue_units(Lane& lane);
  void queue_next(Lane& lane);
  void go_on(Lane& lane);
  // Binary: the id that EXECUTE names comes with PREPARE's answer.
  bool one_by_one() const { return options_.answer.binary || plan_.atomic; }
  bool may_run_ahead() const;
  bool server_decides() const;
  std::vector<mysql::Value> unit_values(const plan::ExecutionUnit& unit) const;
  bool units_idle() const;
  void after_units();
  void note_insert_id();
  bool key_was_burnt() const;
  void undo();
  void follow_up();
  void after_follow_up();
  void finish();
  void fail_with(Error error);
  void note_error(uint32_t unit, Error error);
  void stop_reading_units();
  void ask(Lane& lane, Question question, std::string_view sql);
  void take_captured(Lane& lane, bool failed);
  void take_warnings(const Capture& capture);
  void follow_transaction(Lane& lane);
  void poison(const std::string& why);
  const std::string& name(rule::InstanceId instance) const { return names_[instance]; }

  plan::Plan plan_;
  ExecutionOptions options_;
  SessionState& state_;
  Port& port_;
  const std::vector<std::string>& names_;
  std::unique_ptr<Reply> reply_;
  Stage stage_ = Stage::leasing;
  std::vector<rule::InstanceId> leasing_;  // tickets not answered
  std::vector<uint32_t> next_unit_;        // one by one: by instance, the next unit to run
  bool own_transaction_ = false;           // BEGIN … COMMIT around this statement alone
  bool savepoint_ = false;                 // inside the client's transaction
  std::optional<Error> cancelled_;         // what a KILL or a timeout wants told
  uint32_t error_unit_ = UINT32_MAX;
  std::optional<Error> error_;
  std::optional<CommitFlow> commit_;
  std::vector<FollowUp> asked_;  // in the order of their sending
  uint64_t insert_id_ = 0;
  uint32_t warnings_ = 0;
  uint32_t repeated_warnings_ = 0;  // those that one server would have given once for all units
  Outcome outcome_;
};

}  // namespace evenkeel::exec
