// An instance in memory: takes commands off a connection's output, answers as it was told to, and keeps the
// transaction state that a real server would keep, so that tests can ask what was committed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/value.h"
#include "proxy/exec/connection.h"
#include "proxy/protocol/commands.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::session::testing {

// What an instance says to one command.
struct Answer {
  enum class Kind : uint8_t { ok, err, rows, file, hold, lose };
  Kind kind = Kind::ok;
  uint64_t affected = 0;
  uint64_t insert_id = 0;
  uint16_t warnings = 0;
  uint16_t code = 0;
  std::string message;
  std::vector<protocol::ColumnDefinition> columns;
  std::vector<std::vector<mysql::Value>> rows;
};

// One command as it arrived: "BEGIN", "PREPARE SELECT …", "EXECUTE #1 (5, 'x')", "INIT_DB shop".
struct Received {
  protocol::Command command = protocol::Command::query;
  std::string text;
  std::string sql;       // of the query, or of the statement prepared or executed
  uint8_t sequence = 1;  // of the answer's first packet
};

// Something that goes wrong, told by a test that makes the n-th answer fail.
enum class Fault : uint8_t { none, err, deadlock, lost_before, lost_within, lost_after };
std::string_view to_string(Fault fault);

// One connection's server side. The writes of a transaction become `committed` when it ends well.
class FakeConnection {
 public:
  using Answerer = std::function<Answer(const Received&)>;

  FakeConnection(rule::InstanceId instance, exec::CapabilityClass kind, uint64_t thread);

  exec::Connection connection;

  // Takes all whole commands off connection.out, in order; `answer` is asked for each.
  std::vector<Received> take_commands();
  // Queues the bytes of an answer. `fault` bends it.
  void answer(const Received& command, const Answer& answer, Fault fault);
  // The connection ends: what it had open is rolled back.
  void end();

  std::string inbox;        // bytes under way to the proxy
  size_t taken = 0;         // of `inbox`, delivered
  bool lost_after = false;  // the connection breaks once the inbox is empty
  bool lent = false;
  bool paused = false;
  bool ended = false;
  std::vector<Received> held;  // commands whose answer is withheld

  bool in_transaction() const { return in_transaction_ || !autocommit_; }
  // SQL of writes that are durable, in the order of their becoming so.
  std::vector<std::string> committed;

 private:
  void apply(const Received& command, const Answer& answer);
  void write(const Received& command, const Answer& answer);
  uint16_t status() const;

  bool in_transaction_ = false;
  bool autocommit_ = true;
  std::vector<std::string> uncommitted_;
  std::vector<std::pair<std::string, size_t>> savepoints_;
  uint32_t last_statement_ = 0;
  std::map<uint32_t, std::pair<std::string, uint16_t>> prepared_;  // SQL, parameters
};

// What stands behind the instances when no rules tell their answers: storage of some kind.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Answer answer(const FakeConnection& connection, const Received& command) = 0;
  // The server's transaction of this connection is gone: a deadlock's victim, or the connection ended.
  virtual void roll_back(const FakeConnection& connection) = 0;
};

}  // namespace evenkeel::session::testing
