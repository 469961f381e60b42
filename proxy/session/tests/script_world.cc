// The world of a script: instances, leases, timers, and the order in which things happen.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/front/result_writer.h"
#include "proxy/protocol/messages.h"
#include "proxy/session/tests/script.h"

namespace evenkeel::session::testing {

bool Script::client_is_slow() const { return window_bytes_ > 0 && client_out_.size() > window_bytes_; }

void Script::lease(rule::InstanceId instance, exec::CapabilityClass capability, uint32_t ticket) {
  const Asked asked{instance, capability, ticket};
  if (lease_later_) {
    say(name(instance) + " lease asked");
    asked_.push_back(asked);
    return;
  }
  grant(asked);
}

void Script::grant(const Asked& asked) {
  if (leases_++ == weather_.refuse_lease) {
    say(name(asked.instance) + " lease refused");
    session_->on_lease(asked.ticket,
                       fail(make_error(ErrorKind::limit, mysql::er::con_count, "all are busy")));
    return;
  }
  const auto free = std::find_if(connections_.begin(), connections_.end(), [&](const auto& connection) {
    return !connection->ended && !connection->lent && connection->connection.instance == asked.instance &&
           connection->connection.capability == asked.capability;
  });
  FakeConnection* lent = nullptr;
  if (free != connections_.end()) {
    lent = free->get();
  } else {
    connections_.push_back(
        std::make_unique<FakeConnection>(asked.instance, asked.capability, 900 + connections_.size()));
    lent = connections_.back().get();
  }
  lent->lent = true;
  say(fmt::format("{} lease{}", name(asked.instance), free == connections_.end() ? " (new)" : ""));
  session_->on_lease(asked.ticket, &lent->connection);
}

void Script::cancel_lease(uint32_t ticket) {
  const auto found =
      std::find_if(asked_.begin(), asked_.end(), [&](const Asked& asked) { return asked.ticket == ticket; });
  if (found == asked_.end()) return complain("a lease that was not asked for is cancelled");
  say(name(found->instance) + " lease cancelled");
  asked_.erase(found);
}

void Script::release(exec::Connection* connection) {
  FakeConnection& fake = of(connection);
  if (!fake.lent) complain("a connection is given back twice");
  fake.lent = false;
  if (connection->lost || connection->retire || connection->awaited > 0) {
    say(name(connection->instance) + " closed");
    if (engine_ != nullptr) engine_->roll_back(fake);
    fake.end();
    return;
  }
  say(name(connection->instance) + " released");
  if (fake.in_transaction()) complain("a connection goes back with an open transaction");
  if (!fake.inbox.empty() || !fake.held.empty()) complain("a connection goes back with answers under way");
  if (!connection->out.empty()) complain("a connection goes back with commands not sent");
  fake.paused = false;
}

void Script::pause(exec::Connection* connection) {
  say(name(connection->instance) + " paused");
  of(connection).paused = true;
}

void Script::resume(exec::Connection* connection) {
  if (of(connection).paused) say(name(connection->instance) + " resumed");
  of(connection).paused = false;
}

void Script::kill_query(exec::Connection* connection) {
  say(name(connection->instance) + (kills_arrive_ ? " KILL QUERY" : " KILL QUERY, too early or too late"));
  connection->retire = true;
  if (!kills_arrive_) return;
  FakeConnection& fake = of(connection);
  Answer killed;
  killed.kind = Answer::Kind::err;
  killed.code = mysql::er::query_interrupted;
  killed.message = "Query execution was interrupted";
  for (const auto& command : std::exchange(fake.held, {})) fake.answer(command, killed, Fault::none);
}

void Script::kill_connection(exec::Connection* connection) {
  say(name(connection->instance) + " KILL");
  connection->retire = true;
  of(connection).held.clear();
}

void Script::set_timer(std::chrono::microseconds delay) {
  if (delay.count() == 0) {
    if (timer_) say("timer off");
    timer_.reset();
    return;
  }
  say(fmt::format("timer {} us", delay.count()));
  timer_ = delay;
}

void Script::close_client() {
  client_closed_ = true;
  say("client closed");
}

void Script::change_user(std::string_view payload) {
  const auto command = protocol::ChangeUser::decode(payload, login_.capabilities);
  front::Login login = login_;
  if (command) login.database = command->database;
  login.collation = command ? command->collation : 0;
  session_->on_user_changed(login, user_);
  session_->check_database([this](std::optional<Error> error) {
    front::ResultWriter answer(client_out_, 1, login_.capabilities);
    if (error) {
      answer.error(*error);
      close_client();
      return;
    }
    answer.ok({});
    session_->user_changed();
  });
}

// Commands are seen at once, answers are queued; nothing of the session is called from here.
void Script::flush(exec::Connection* connection) { serve(of(connection)); }

void Script::serve(FakeConnection& fake) {
  if (fake.ended || fake.connection.lost) {
    if (!fake.connection.out.empty())
      complain("a command is sent on a lost connection: it is never answered");
    fake.connection.out.clear();
    return;
  }
  for (const Received& command : fake.take_commands()) {
    say(fmt::format("{} < {}", name(fake.connection.instance), command.text));
    if (protocol::has_no_answer(command.command)) continue;
    if (engine_ != nullptr) {
      serve_from_engine(fake, command);
      continue;
    }
    const Answer answer = answer_for(fake, command);
    if (answer.kind == Answer::Kind::hold || !fake.held.empty()) {
      fake.held.push_back(command);
      continue;
    }
    const Fault fault = next_fault();
    ++answers_;
    fake.answer(command, answer, fault);
  }
}

// What goes wrong before the command is carried out is not asked of the engine.
void Script::serve_from_engine(FakeConnection& fake, const Received& command) {
  if (fake.lost_after) return;
  const Fault fault = next_fault();
  ++answers_;
  if (fault != Fault::none)
    say(fmt::format("{} goes wrong: {}", name(fake.connection.instance), to_string(fault)));
  if (fault == Fault::deadlock) engine_->roll_back(fake);
  const bool carried_out = fault != Fault::err && fault != Fault::deadlock && fault != Fault::lost_before;
  fake.answer(command, carried_out ? engine_->answer(fake, command) : Answer{}, fault);
}

Fault Script::next_fault() {
  if (weather_.luck == nullptr) return answers_ == weather_.fault_at ? weather_.fault : Fault::none;
  if (weather_.fault_every == UINT64_MAX || weather_.luck->below(weather_.fault_every) != 0)
    return Fault::none;
  constexpr Fault faults[] = {Fault::err, Fault::deadlock, Fault::lost_before, Fault::lost_within,
                              Fault::lost_after};
  return faults[weather_.luck->below(std::size(faults))];
}

size_t Script::next_piece(size_t available) {
  if (weather_.luck != nullptr)
    return weather_.luck->below(3) == 0 ? available : 1 + weather_.luck->below(40);
  return weather_.piece == 0 ? available : weather_.piece;
}

void Script::lose(FakeConnection& fake, const std::string& reason) {
  say(name(fake.connection.instance) + " lost");
  if (engine_ != nullptr) engine_->roll_back(fake);
  fake.end();
  fake.connection.lost = true;
  if (fake.lent && session_) session_->on_backend_lost(&fake.connection, reason);
}

void Script::deliver(FakeConnection& fake) {
  const std::string bytes = fake.inbox.substr(fake.taken, next_piece(fake.inbox.size()));
  fake.taken += bytes.size();
  if (fake.taken == fake.inbox.size()) {
    fake.inbox.clear();
    fake.taken = 0;
  }
  session_->on_backend_bytes(&fake.connection, bytes);
}

// One event, if there is any to happen.
bool Script::step() {
  if (!session_) return false;
  std::vector<FakeConnection*> order;
  for (const auto& connection : connections_) order.push_back(connection.get());
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->connection.instance < b->connection.instance; });
  if (weather_.last_instance_first) std::reverse(order.begin(), order.end());
  if (weather_.luck != nullptr)
    for (size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[weather_.luck->below(left)]);
  for (FakeConnection* connection : order) {
    if (connection->ended || !connection->lent) continue;
    if (!connection->inbox.empty() && !connection->paused) {
      deliver(*connection);
      return true;
    }
    if (connection->inbox.empty() && connection->lost_after) {
      connection->lost_after = false;
      lose(*connection, "connection reset");
      return true;
    }
  }
  if (client_reads_ && !client_out_.empty()) {
    const bool was_slow = client_is_slow();
    read_answers();
    if (was_slow && session_) session_->on_client_drained();
    return true;
  }
  return false;
}

void Script::settle_world() {
  for (size_t steps = 0; step(); ++steps) {
    if (weather_.vanish_at <= answers_ && session_) vanish();
    if (steps > 2'000'000) {
      complain("the world does not come to rest");
      return;
    }
  }
}

void Script::vanish() {
  if (!session_) return;
  say("client vanishes");
  client_out_.clear();
  answer_bytes_.clear();
  asked_.clear();
  session_.reset();
  client_closed_ = true;
  commands_.clear();
}

}  // namespace evenkeel::session::testing
