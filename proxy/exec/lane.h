// The conversation with one leased connection: commands go out (pipelined where the caller likes), answers
// are taken apart in the same order.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "base/mysql/value.h"
#include "base/result.h"
#include "proxy/exec/connection.h"
#include "proxy/protocol/response_tracker.h"

namespace evenkeel::exec {

// Why a command was sent.
enum class Purpose : uint8_t {
  state,      // SET of session variables, INIT_DB
  begin,      // BEGIN and what belongs to it (SET TRANSACTION, SAVEPOINTs made before this lane joined)
  savepoint,  // the savepoint around one logical statement
  undo,       // ROLLBACK TO that savepoint
  metadata,   // PREPARE of Plan::metadata_sql
  prepare,    // PREPARE of a unit
  unit,       // a unit itself
  capture,    // a query of the proxy's own whose rows it reads
  commit,
  rollback,
  user_savepoint,  // the client's SAVEPOINT, ROLLBACK TO, RELEASE
};

struct Step {
  Purpose purpose = Purpose::unit;
  uint32_t unit = 0;  // prepare, unit
  protocol::ResponseShape shape = protocol::ResponseShape::ok;
  uint8_t sequence = 1;  // of the answer's first frame: a command may fill several frames
};

class Lane;

// Called from within Lane::feed, in the order of the answer.
class LaneEvents {
 public:
  virtual ~LaneEvents() = default;
  // One packet that is no row; `payload` is whole and lives for the call.
  virtual void on_part(Lane& lane, const Step& step, protocol::Part part, std::string_view payload) = 0;
  // Frames of rows as they stand on the wire; a frame may be cut anywhere, the rest follows.
  virtual void on_rows(Lane& lane, const Step& step, std::string_view frames) = 0;
  // The answer is complete (an ERR packet completes it too: `failed`). The step is gone from the lane, whose
  // tracker() tells of the answer until another command is queued on an idle lane.
  virtual void on_step_done(Lane& lane, const Step& step, bool failed) = 0;
};

// Lent connection plus its queue of awaited answers. Owned by a session. Never flushes by itself.
class Lane {
 public:
  explicit Lane(Connection* connection) : connection_(connection) {}

  Connection& connection() { return *connection_; }
  rule::InstanceId instance() const { return connection_->instance; }

  void query(std::string_view sql, Purpose purpose, uint32_t unit = 0);
  void init_db(std::string_view database);
  void prepare(std::string_view sql, Purpose purpose, uint32_t unit = 0);
  void execute(uint32_t server_statement, std::span<const mysql::Value> values, uint32_t unit);
  void close_statement(uint32_t server_statement);  // no answer comes

  // Bytes from the instance. After an error (a broken answer) the connection is retired and nothing more is
  // fed. `events` may destroy nothing of this lane.
  Status feed(std::string_view bytes, LaneEvents& events);

  bool idle() const { return steps_.empty(); }
  // The step whose answer comes next.
  const Step& current() const { return steps_.front(); }
  const protocol::ResponseTracker& tracker() const { return relay_.tracker(); }
  uint8_t next_sequence() const { return relay_.next_sequence(); }
  // The connection is lost: every awaited step is taken away.
  std::deque<Step> abandon();

  // Facts kept by this lane's users.
  bool begun = false;    // BEGIN was sent: the connection belongs to the session's transaction
  bool written = false;  // a write was sent since
  bool pinned = false;   // state that only this connection has: it stays with the session
  bool paused = false;   // reading is stopped
  bool held = false;     // its units wait until what goes ahead of them is accepted

 private:
  void push(Purpose purpose, uint32_t unit, protocol::ResponseShape shape, uint8_t sequence);
  void arm();
  Result<size_t> take(std::string_view input, LaneEvents& events);

  Connection* connection_;
  std::deque<Step> steps_;
  protocol::ResponseRelay relay_;
  std::string partial_;  // bytes of an answer that cannot be taken yet
};

}  // namespace evenkeel::exec
