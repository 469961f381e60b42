#include "proxy/exec/connection.h"

#include <utility>

namespace evenkeel::exec {

PreparedCache::Entry* PreparedCache::find(std::string_view sql) {
  const auto found = index_.find(sql);
  if (found == index_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return &order_.front().entry;
}

bool PreparedCache::Entry::fits(const std::string& current_database, const VariablesPtr& current) const {
  if (database != current_database) return false;
  if (variables == current) return true;
  const auto same = [&](std::string_view name) { return variables->find(name) == current->find(name); };
  return same("sql_mode") && same("character_set_client") && same("collation_connection");
}

std::vector<uint32_t> PreparedCache::insert(std::string sql, Entry entry) {
  std::vector<uint32_t> evicted;
  if (const auto found = index_.find(sql); found != index_.end()) {
    evicted.push_back(found->second->entry.server_id);
    const auto node = found->second;
    index_.erase(found);
    order_.erase(node);
  }
  order_.push_front(Node{std::move(sql), std::move(entry)});
  index_[order_.front().sql] = order_.begin();
  while (index_.size() > limit_ && order_.size() > 1) {
    evicted.push_back(order_.back().entry.server_id);
    index_.erase(order_.back().sql);
    order_.pop_back();
  }
  return evicted;
}

void PreparedCache::clear() {
  index_.clear();
  order_.clear();
}

}  // namespace evenkeel::exec
