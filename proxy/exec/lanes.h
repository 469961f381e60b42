// The connections that a session holds, one per instance at most.
#pragma once

#include <memory>
#include <vector>

#include "proxy/exec/lane.h"
#include "proxy/exec/port.h"

namespace evenkeel::exec {

class Lanes {
 public:
  // Null when the session holds none there.
  Lane* find(rule::InstanceId instance);
  Lane* find(const Connection* connection);
  Lane& add(Connection* connection);
  // Gives one back.
  void release(Lane& lane, Port& port);
  // Gives back all that are neither in a transaction nor pinned.
  void release_free(Port& port);
  void release_all(Port& port);
  bool empty() const { return lanes_.empty(); }

  // By instance, ascending.
  const std::vector<std::unique_ptr<Lane>>& all() const { return lanes_; }

 private:
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace evenkeel::exec
