#include "proxy/exec/connection.h"

#include <utility>

namespace evenkeel::exec {

PreparedCache::Entry* PreparedCache::find(std::string_view sql) {
  const auto found = index_.find(sql);
  if (found == index_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return &order_.front().entry;
}

std::vector<uint32_t> PreparedCache::insert(std::string sql, Entry entry) {
  order_.push_front(Node{std::move(sql), entry});
  index_[order_.front().sql] = order_.begin();
  std::vector<uint32_t> evicted;
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
