#include "proxy/session/prepared.h"

namespace evenkeel::session {

PreparedStatement* PreparedStatements::add(size_t limit, uint32_t& id) {
  if (statements_.size() >= limit) return nullptr;
  id = ++last_id_;
  return (statements_[id] = std::make_unique<PreparedStatement>()).get();
}

PreparedStatement* PreparedStatements::find(uint32_t id) {
  const auto found = statements_.find(id);
  return found == statements_.end() ? nullptr : found->second.get();
}

}  // namespace evenkeel::session
