// How the answers of a plan's units become the one answer that the client gets.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/value.h"
#include "base/result.h"
#include "proxy/exec/lane.h"
#include "proxy/exec/port.h"
#include "proxy/exec/session_state.h"
#include "proxy/protocol/messages.h"
#include "router/plan/plan.h"

namespace evenkeel::exec {

// What units counted, and how the client is written to.
struct Tally {
  uint64_t affected_rows = 0;
  uint64_t insert_id = 0;  // the server's own
  uint64_t rows = 0;       // sent to the client
  uint32_t warnings = 0;
  uint16_t flags = 0;   // of the server's status: those that describe the statement, not the session
  std::string message;  // "Rows matched: 1  Changed: 1  Warnings: 0"
  bool returned_rows = false;
};

// The answer to one statement of the client. Sequence ids run on when one command has several answers.
struct AnswerFacts {
  protocol::Capabilities capabilities = 0;
  bool binary = false;
  bool more_results = false;  // another statement of the same packet follows
  uint8_t sequence = 1;       // of the next packet to the client
};

// One per statement. Never flushes; bytes go to port.client_out().
class Reply {
 public:
  Reply(const plan::Plan& plan, SessionState& state, Port& port, AnswerFacts facts)
      : plan_(plan), state_(state), port_(port), facts_(facts) {}
  virtual ~Reply() = default;

  virtual void on_part(Lane& lane, uint32_t unit, protocol::Part part, std::string_view payload) = 0;
  virtual void on_rows(Lane& lane, uint32_t unit, std::string_view frames) = 0;
  virtual void on_unit_done(Lane&, uint32_t /*unit*/) {}
  // A column definition of Plan::metadata_sql.
  virtual void on_metadata(Lane&, std::string_view /*definition*/) {}
  virtual void on_metadata_done() {}
  // The client can take more.
  virtual void on_drained() {}
  // Rows that the instances have sent wait here for a slow client: the answer may not end yet.
  virtual bool holds_rows() const { return false; }
  // An error ends the answer: rows that still come are dropped, but for the rest of one that the client has
  // the front of.
  void stop() { stopped_ = true; }
  // The client has the front of a row only: nothing else can be written to it.
  virtual bool cut() const { return false; }
  // Writes the end of the answer: `insert_id` and `warnings` as the session decided.
  virtual void complete(uint64_t insert_id, uint32_t warnings);
  void fail(const Error& error);

  // The answer's rows are ended already (a LIMIT was reached) though units still talk.
  const Tally& tally() const { return tally_; }
  // An error that arose here (a row limit, answers that do not agree); units still running are to be stopped.
  const std::optional<Error>& error() const { return error_; }
  uint8_t next_sequence() const { return facts_.sequence; }

 protected:
  uint16_t final_status() const;
  void set_error(Error error);

  const plan::Plan& plan_;
  SessionState& state_;
  Port& port_;
  AnswerFacts facts_;
  Tally tally_;
  bool rows_open_ = false;  // column definitions were sent and the rows' end was not
  bool stopped_ = false;
  std::optional<Error> error_;
};

// The Reply that fits a plan. `row_limit`: rows that a merge may hold.
std::unique_ptr<Reply> make_reply(const plan::Plan& plan, SessionState& state, Port& port, AnswerFacts facts,
                                  size_t row_limit);

// Makes a column definition what the client would see of one server of its own: logical names, and the
// collation of its session (a pooled connection that was SET to it reports the character set's default
// instead).
void restore_definition(protocol::ColumnDefinition& column, const std::vector<plan::NameRestore>& restore,
                        uint16_t results_collation);
// Whether a definition's collation has to be changed.
bool reports_other_collation(uint16_t reported, uint16_t results_collation);

}  // namespace evenkeel::exec
