// COMMIT and ROLLBACK over the lanes of a transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/exec/lanes.h"
#include "proxy/exec/port.h"
#include "proxy/exec/session_state.h"

namespace evenkeel::exec {

// Best effort: with several written instances they are committed one after the other, in the order of their
// numbers, so that a failure leaves a known set committed; those that only read follow together. With one
// written instance all go at once: nothing can be half done.
//
//   CommitFlow flow(state, port, names); flow.start();
//   feed its lanes' events to it until done(); then error() says what happened.
// Afterwards no lane is `begun`.
class CommitFlow {
 public:
  enum class What : uint8_t { commit, rollback };

  CommitFlow(What what, SessionState& state, Port& port, const std::vector<std::string>& instance_names)
      : what_(what), state_(state), port_(port), names_(instance_names) {}

  void start();
  void on_error(Lane& lane, const Error& error);
  // A commit or rollback was answered (an error was told before, by on_error).
  void on_step_done(Lane& lane, const Step& step, bool failed);
  // `awaited`: an answer was to come.
  void on_lost(Lane& lane, const std::string& reason, bool awaited);

  bool done() const { return done_; }
  // What the client is told. Rolling back has no error: a branch whose rollback is not confirmed is closed,
  // and the instance rolls it back.
  const std::optional<Error>& error() const { return error_; }
  // Some instances committed and some did not.
  bool partial() const { return partial_; }

 private:
  void send(Lane& lane, bool commit);
  void next();
  void finish();
  std::string name(rule::InstanceId instance) const { return names_[instance]; }

  What what_;
  SessionState& state_;
  Port& port_;
  const std::vector<std::string>& names_;
  std::vector<rule::InstanceId> writers_;  // still to be committed, in order
  size_t next_writer_ = 0;
  size_t awaited_ = 0;
  std::vector<rule::InstanceId> committed_;
  std::optional<Error> first_error_;
  std::optional<rule::InstanceId> failed_at_;
  bool outcome_unknown_ = false;
  std::optional<Error> error_;
  bool partial_ = false;
  bool done_ = false;
};

}  // namespace evenkeel::exec
