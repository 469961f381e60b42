#include "proxy/backend/pool.h"

#include <algorithm>

namespace evenkeel::backend {

using What = PoolAction::What;

namespace {

// A change of key costs a login: so many requests may be served before an older one of another key.
constexpr uint32_t passed_over_max = 8;

}  // namespace

void Pool::acquire(const PoolKey& key, Waiter waiter, Time now, Actions& actions) {
  Instance& instance = instances_[key.instance];
  const auto idle = instance.idle.find(key);
  if (idle != instance.idle.end() && !idle->second.empty()) {
    const Handle handle = idle->second.back();
    idle->second.pop_back();
    members_[handle].idle = false;
    actions.push_back({What::give, key, handle, waiter});
    return;
  }
  if (instance.waiting.size() >= limits_.waiters_per_instance) {
    actions.push_back({What::refuse, key, 0, waiter});
    return;
  }
  instance.waiting.push_back({key, waiter, now + limits_.wait});
  serve(instance, actions);
}

void Pool::serve(Instance& instance, Actions& actions) {
  std::map<PoolKey, size_t> wanted;
  for (const Request& request : instance.waiting) {
    size_t& count = wanted[request.key];
    ++count;
    if (count <= instance.opening[request.key]) continue;
    if (instance.connections >= limits_.connections_per_instance && !drop_one_idle(instance, actions)) return;
    ++instance.connections;
    ++instance.opening[request.key];
    actions.push_back({What::open, request.key, 0, 0});
  }
}

bool Pool::drop_one_idle(Instance& instance, Actions& actions) {
  for (auto& [key, handles] : instance.idle) {
    if (handles.empty()) continue;
    const Handle handle = handles.front();
    handles.erase(handles.begin());
    members_.erase(handle);
    --instance.connections;
    actions.push_back({What::close, key, handle, 0});
    return true;
  }
  return false;
}

void Pool::cancel(Waiter waiter) {
  for (auto& [id, instance] : instances_) {
    const auto found = std::find_if(instance.waiting.begin(), instance.waiting.end(),
                                    [&](const Request& request) { return request.waiter == waiter; });
    if (found == instance.waiting.end()) continue;
    instance.waiting.erase(found);
    return;
  }
}

void Pool::opened(const PoolKey& key, Handle handle, Time now, Actions& actions) {
  Instance& instance = instances_[key.instance];
  --instance.opening[key];
  members_[handle] = Member{key, now, now, false};
  released(handle, now, actions);
}

Waiter Pool::open_failed(const PoolKey& key, Actions& actions) {
  Instance& instance = instances_[key.instance];
  --instance.opening[key];
  --instance.connections;
  const auto found = std::find_if(instance.waiting.begin(), instance.waiting.end(),
                                  [&](const Request& request) { return request.key == key; });
  Waiter waiter = 0;
  if (found != instance.waiting.end()) {
    waiter = found->waiter;
    instance.waiting.erase(found);
  }
  serve(instance, actions);
  return waiter;
}

void Pool::released(Handle handle, Time now, Actions& actions) {
  const auto member = members_.find(handle);
  if (member == members_.end()) return;
  const PoolKey key = member->second.key;
  Instance& instance = instances_[key.instance];
  const bool too_old = limits_.lifetime.count() > 0 && now - member->second.born > limits_.lifetime;
  // Another key's waiter at the head gives way to those whom this connection fits as it is, but not for ever.
  const bool full = instance.connections >= limits_.connections_per_instance;
  const bool surplus = instance.connections > limits_.connections_per_instance;
  const bool starving = full && !instance.waiting.empty() && instance.waiting.front().key != key &&
                        instance.waiting.front().passed_over >= passed_over_max;
  const auto same = std::find_if(instance.waiting.begin(), instance.waiting.end(),
                                 [&](const Request& request) { return request.key == key; });
  if (too_old || surplus || starving ||
      (same == instance.waiting.end() && !instance.waiting.empty() && full)) {
    members_.erase(member);
    --instance.connections;
    actions.push_back({What::close, key, handle, 0});
    serve(instance, actions);
    return;
  }
  if (same != instance.waiting.end()) {
    actions.push_back({What::give, key, handle, same->waiter});
    if (same != instance.waiting.begin()) ++instance.waiting.front().passed_over;
    instance.waiting.erase(same);
    return;
  }
  member->second.idle = true;
  member->second.since = now;
  instance.idle[key].push_back(handle);
}

void Pool::remove_idle(Instance& instance, const PoolKey& key, Handle handle) {
  auto& handles = instance.idle[key];
  handles.erase(std::remove(handles.begin(), handles.end(), handle), handles.end());
}

void Pool::gone(Handle handle, Actions& actions) {
  const auto member = members_.find(handle);
  if (member == members_.end()) return;
  Instance& instance = instances_[member->second.key.instance];
  if (member->second.idle) remove_idle(instance, member->second.key, handle);
  members_.erase(member);
  --instance.connections;
  serve(instance, actions);
}

void Pool::sweep(Time now, Actions& actions) {
  for (auto& [id, instance] : instances_) {
    while (!instance.waiting.empty() && instance.waiting.front().deadline <= now) {
      actions.push_back({What::time_out, instance.waiting.front().key, 0, instance.waiting.front().waiter});
      instance.waiting.pop_front();
    }
    // The limit may be another than when these came.
    while (instance.connections > limits_.connections_per_instance && drop_one_idle(instance, actions)) {
    }
    serve(instance, actions);
  }
  std::vector<Handle> old;
  for (const auto& [handle, member] : members_) {
    if (!member.idle) continue;
    const bool idle_too_long = now - member.since >= limits_.idle;
    const bool too_old = limits_.lifetime.count() > 0 && now - member.born > limits_.lifetime;
    if (idle_too_long || too_old) old.push_back(handle);
  }
  for (const Handle handle : old) {
    actions.push_back({What::close, members_[handle].key, handle, 0});
    gone(handle, actions);
  }
}

void Pool::close_idle(Actions& actions) {
  for (auto& [id, instance] : instances_) {
    while (drop_one_idle(instance, actions)) {
    }
  }
}

Pool::Counts Pool::counts(uint16_t instance) const {
  Counts counts;
  const auto found = instances_.find(instance);
  if (found == instances_.end()) return counts;
  for (const auto& [key, handles] : found->second.idle) counts.idle += handles.size();
  for (const auto& [key, count] : found->second.opening) counts.opening += count;
  counts.waiting = found->second.waiting.size();
  counts.lent = found->second.connections - counts.idle - counts.opening;
  return counts;
}

}  // namespace evenkeel::backend
