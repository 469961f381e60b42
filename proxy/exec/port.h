// What the machines of proxy/exec and proxy/session ask of the world. proxy/net implements it over sockets;
// tests and the simulation implement it from a script. The machines never see a socket, a clock or a thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "proxy/exec/connection.h"
#include "router/rule/rule_set.h"

namespace evenkeel::exec {

class Port {
 public:
  virtual ~Port() = default;

  // Where bytes for the client are appended; they are sent at the latest when the current event has been
  // handled.
  virtual std::string& client_out() = 0;
  // More than the high mark is waiting for a slow client. The driver calls on_client_drained later.
  virtual bool client_is_slow() const = 0;

  // Asks for a connection to an instance; on_lease(ticket, connection or error) answers, possibly from within
  // this call. An unanswered ticket may be cancelled.
  virtual void lease(rule::InstanceId instance, CapabilityClass capability, uint32_t ticket) = 0;
  virtual void cancel_lease(uint32_t ticket) = 0;
  // Gives a connection back. It is closed instead of kept when it is lost, to be retired, or has answers
  // outstanding. The pointer is dead afterwards.
  virtual void release(Connection* connection) = 0;
  // Sends connection->out.
  virtual void flush(Connection* connection) = 0;
  // Back-pressure: stops and resumes reading from an instance.
  virtual void pause(Connection* connection) = 0;
  virtual void resume(Connection* connection) = 0;
  // Asks the instance, over another connection, to stop what this one runs (KILL QUERY).
  virtual void kill_query(Connection* connection) = 0;
  // The same for the whole connection (KILL), which is given back next: what was sent on it stops, and what
  // has not arrived yet never runs.
  virtual void kill_connection(Connection* connection) = 0;

  // One timer; on_timer follows unless it is set again or cancelled. Zero cancels.
  virtual void set_timer(std::chrono::microseconds delay) = 0;
};

}  // namespace evenkeel::exec
