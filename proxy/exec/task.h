// One thing that a session is busy with: it is told events and works until it waits for the world again.
#pragma once

#include <string>

#include "base/result.h"
#include "proxy/exec/lane.h"
#include "router/rule/rule_set.h"

namespace evenkeel::exec {

// Owned by a session; one at a time. Tickets of leases are instance numbers.
class Task : public LaneEvents {
 public:
  virtual void start() = 0;
  virtual void on_lease(rule::InstanceId instance, Result<Connection*> connection) = 0;
  // The lane's connection is dead; the lane stays until the task is done.
  virtual void on_lost(Lane& lane, const std::string& reason) = 0;
  // Whatever runs is to end with this error (KILL, timeout).
  virtual void cancel(Error error) = 0;
  virtual void on_drained() {}
  // Does what the events since the last call allow.
  virtual void advance() = 0;
  virtual bool done() const = 0;
};

}  // namespace evenkeel::exec
