#include "proxy/exec/lanes.h"

#include <algorithm>

namespace evenkeel::exec {

Lane* Lanes::find(rule::InstanceId instance) {
  for (const auto& lane : lanes_) {
    if (lane->instance() == instance) return lane.get();
  }
  return nullptr;
}

Lane* Lanes::find(const Connection* connection) {
  for (const auto& lane : lanes_) {
    if (&lane->connection() == connection) return lane.get();
  }
  return nullptr;
}

Lane& Lanes::add(Connection* connection) {
  auto lane = std::make_unique<Lane>(connection);
  const auto place = std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& other) {
    return other->instance() > connection->instance;
  });
  return **lanes_.insert(place, std::move(lane));
}

void Lanes::release(Lane& lane, Port& port) {
  const auto found =
      std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& other) { return other.get() == &lane; });
  if (found == lanes_.end()) return;
  Connection* connection = &lane.connection();
  // An open transaction, a temporary table or a lock must not reach the next user.
  if (lane.begun || lane.pinned || connection->in_transaction || !connection->autocommit)
    connection->retire = true;
  lanes_.erase(found);
  port.release(connection);
}

void Lanes::release_free(Port& port) {
  for (size_t i = lanes_.size(); i-- > 0;) {
    Lane& lane = *lanes_[i];
    if (!lane.begun && !lane.pinned) release(lane, port);
  }
}

void Lanes::release_all(Port& port) {
  while (!lanes_.empty()) release(*lanes_.back(), port);
}

}  // namespace evenkeel::exec
