// A session with everything above the sockets real, and the world below it in memory: instances that answer
// as a script says, leases, timers and a client that may be slow. The same script runs as a readable
// specification (golden text) and, failing at each step in turn, as a search for hangs and leaks.
//
// A script is lines:
//   option NAME [VALUE]            before the first command: deprecate_eof, multi_statements, found_rows,
//                                  single_instance, timeout MS, database NAME, no_database, lease_later
//   answer [once] WHERE PREFIX => ANSWER
//                                  WHERE: * or an instance; PREFIX: of the SQL; the last fitting line wins.
//                                  ANSWER: OK [affected=] [insert_id=] [warnings=] [message=…to the end]
//                                        | ERR code message | ROWS name:type … | value, value | …
//                                        | MANY count size name:type … (bigint from 1, then text) | HOLD |
//                                        LOSE
//   > SQL                          the client sends QUERY and the world runs until it is quiet
//   + SQL                          sends QUERY without letting the world run (pipelining)
//   !command …                     see Script::run_command; kill_query and timer have forms late_kill and
//   late_timer
//                                  whose KILL misses the statement
// The trace repeats each line and says under it what happened: `ds0 < …` a command that an instance got,
// `= …` an answer that the client got, and leases, timers, pauses by name.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "idgen/generator.h"
#include "proxy/session/session.h"
#include "proxy/session/statement_cache.h"
#include "proxy/session/tests/fake_instance.h"
#include "router/plan/tests/planning.h"

namespace evenkeel::session::testing {

// How a run differs from the plain one.
struct Weather {
  size_t piece = 0;  // bytes of an answer delivered at a time; 0: all there is
  bool last_instance_first = false;
  size_t fault_at = SIZE_MAX;  // number of the answer that goes wrong
  Fault fault = Fault::none;
  size_t refuse_lease = SIZE_MAX;  // number of the lease that is refused
  size_t vanish_at = SIZE_MAX;     // number of the answer after which the client is gone
  // Decides instead of the numbers above: pieces, whose turn it is, and which answers go wrong, one in
  // `fault_every`.
  Random* luck = nullptr;
  uint64_t fault_every = UINT64_MAX;
};

// What every session must keep whatever happens; empty: all is well.
struct Verdict {
  std::vector<std::string> complaints;
  size_t answers = 0;  // of instances
  size_t leases = 0;
  std::string trace;
  std::vector<std::string> client_answers;
};

// Runs one script from its first line to its end.
Verdict run_script(std::string_view text, const Weather& weather);

class Script final : public SessionPort {
 public:
  explicit Script(const Weather& weather);
  ~Script() override;

  void run(std::string_view text);
  // After the script: ends what is open, checks that the session still works and that nothing is held.
  void settle();
  Verdict verdict();

  // From now on `engine` answers what instances are asked. It must outlive the last command.
  void use(Engine& engine) { engine_ = &engine; }
  const rule::RuleSet& rules() const { return *world_.rules; }
  const std::vector<std::string>& client_answers() const { return client_answers_; }
  bool client_closed() const { return client_closed_; }
  const std::vector<std::string>& complaints() const { return complaints_; }

  // SessionPort
  std::string& client_out() override { return client_out_; }
  bool client_is_slow() const override;
  void lease(rule::InstanceId instance, exec::CapabilityClass capability, uint32_t ticket) override;
  void cancel_lease(uint32_t ticket) override;
  void release(exec::Connection* connection) override;
  void flush(exec::Connection* connection) override;
  void pause(exec::Connection* connection) override;
  void resume(exec::Connection* connection) override;
  void kill_query(exec::Connection* connection) override;
  void kill_connection(exec::Connection* connection) override;
  void set_timer(std::chrono::microseconds delay) override;
  void read_client(bool on) override { client_read_ = on; }
  void close_client() override;
  void change_user(std::string_view payload) override;

 private:
  struct Rule {
    std::string where;
    std::string prefix;
    Answer answer;
    bool once = false;
    bool used = false;
  };
  struct Command {
    protocol::Command command;
    protocol::ResponseTracker tracker;
    std::string text;  // of the answer so far
    std::vector<protocol::WireType> types;
    std::vector<uint8_t> decimals;
    bool binary = false;
    bool is_write = false;
    uint8_t sequence = 1;
  };
  struct Asked {
    rule::InstanceId instance;
    exec::CapabilityClass capability;
    uint32_t ticket;
  };

  void make_generators();
  void begin();
  void option(std::string_view line);
  void add_rule(std::string_view line);
  void run_command(std::string_view line);
  void send(protocol::Command command, std::string_view body, bool binary = false);
  void execute(std::string_view line);
  void change_catalog();
  Answer answer_for(const FakeConnection& instance, const Received& command);

  void settle_world();
  bool step();
  void deliver(FakeConnection& connection);
  void lose(FakeConnection& connection, const std::string& reason);
  void grant(const Asked& asked);
  void serve(FakeConnection& connection);
  void serve_from_engine(FakeConnection& connection, const Received& command);
  void read_answers();
  void on_packet(Command& command, std::string_view payload);
  void check_nothing_stayed(const Command& command);
  void vanish();
  void say(std::string line);
  void complain(std::string what);
  FakeConnection& of(exec::Connection* c) { return *static_cast<FakeConnection*>(c->owner); }
  const std::string& name(rule::InstanceId instance) const { return environment_.instance_names[instance]; }
  std::optional<rule::InstanceId> instance_of(std::string_view word) const;

  Fault next_fault();
  size_t next_piece(size_t available);

  Weather weather_;
  Engine* engine_ = nullptr;
  plan::testing::World world_;
  ManualClock clock_{1'790'000'000'000'000};
  std::vector<std::unique_ptr<idgen::KeyGenerator>> generators_;
  uint64_t keys_after_ = 0;  // ticks from now
  StatementCache statements_{64};
  Counters counters_;
  Settings settings_;
  User user_;
  front::Login login_;
  Environment environment_;
  std::unique_ptr<Session> session_;

  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<FakeConnection>> connections_;
  std::deque<Asked> asked_;  // leases not yet granted
  bool lease_later_ = false;
  std::optional<std::chrono::microseconds> timer_;

  std::string client_out_;
  size_t window_bytes_ = 0;  // 0: the client reads everything at once
  bool client_reads_ = true;
  bool client_read_ = true;
  bool client_closed_ = false;
  std::deque<Command> commands_;  // of the client, not yet answered in full
  std::string answer_bytes_;      // read by the client, not yet understood

  size_t answers_ = 0;
  size_t leases_ = 0;
  size_t committed_ = 0;  // writes that were durable when the last answer was complete
  std::string trace_;
  std::vector<std::string> client_answers_;
  std::vector<std::string> complaints_;
  bool kills_arrive_ = true;  // while the statement that they mean runs
  bool quiet_ = false;        // the trace is not written
};

}  // namespace evenkeel::session::testing
