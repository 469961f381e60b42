// A question of the session's own to one instance: evaluate an expression, check a SET or a USE, describe a
// statement for PREPARE.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/exec/capture.h"
#include "proxy/exec/port.h"
#include "proxy/exec/session_state.h"
#include "proxy/exec/task.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::exec {

class Errand final : public Task {
 public:
  enum class What : uint8_t {
    state_only,  // bring a connection to the session's state and see whether the server accepts it
    query,       // run `sql`, keep its rows
    prepare,     // PREPARE `sql`, keep the definitions, close it again
  };

  // `database`: as ExecutionUnit's.
  Errand(What what, rule::InstanceId instance, std::string sql, SessionState& state, Port& port,
         std::string database = {})
      : what_(what),
        instance_(instance),
        sql_(std::move(sql)),
        database_(std::move(database)),
        state_(state),
        port_(port) {}

  void start() override;
  void on_lease(rule::InstanceId instance, Result<Connection*> connection) override;
  void on_lost(Lane& lane, const std::string& reason) override;
  void cancel(Error error) override;
  void advance() override;
  bool done() const override { return done_; }

  void on_part(Lane& lane, const Step& step, protocol::Part part, std::string_view payload) override;
  void on_rows(Lane& lane, const Step& step, std::string_view frames) override;
  void on_step_done(Lane& lane, const Step& step, bool failed) override;

  const std::optional<Error>& error() const { return error_; }
  // query: the rows; prepare: the column definitions.
  const Capture& result() const { return result_; }
  uint16_t parameters() const { return parameters_; }

 private:
  void send();

  What what_;
  rule::InstanceId instance_;
  std::string sql_;
  std::string database_;
  SessionState& state_;
  Port& port_;
  bool leasing_ = false;
  bool sent_ = false;
  bool done_ = false;
  Capture result_;
  uint16_t parameters_ = 0;
  std::optional<Error> error_;
};

}  // namespace evenkeel::exec
