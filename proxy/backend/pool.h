// Which connection serves which request: the policy of one event loop's pools, without sockets or clocks.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace evenkeel::backend {

// Connections with equal keys are interchangeable once their session state is set.
struct PoolKey {
  uint16_t instance = 0;
  uint32_t account = 0;  // index of the backend account
  uint8_t capability_class = 0;
  auto operator<=>(const PoolKey&) const = default;
};

using Handle = uint64_t;  // a connection, named by the driver; never 0
using Waiter = uint64_t;  // a request, named by the driver

struct PoolLimits {
  size_t connections_per_instance = 64;  // of this loop: idle, lent and being opened
  size_t waiters_per_instance = 100'000;
  std::chrono::nanoseconds wait{std::chrono::seconds(10)};
  std::chrono::nanoseconds idle{std::chrono::minutes(5)};
  std::chrono::nanoseconds lifetime{0};  // 0: none
};

// What the driver is to do now, in this order.
struct PoolAction {
  enum class What : uint8_t {
    give,      // `handle` to `waiter`
    open,      // a new connection for `key`; answer by opened() or open_failed()
    close,     // `handle`: idle, surplus or too old
    time_out,  // `waiter` has waited too long
    refuse,    // `waiter`: the queue is full
  } what;
  PoolKey key;
  Handle handle = 0;
  Waiter waiter = 0;
};

// One owner, one thread. `now` is steady time. First come, first served per instance and key; among keys, a
// request is passed over a bounded number of times.
class Pool {
 public:
  using Time = std::chrono::nanoseconds;
  using Actions = std::vector<PoolAction>;

  explicit Pool(PoolLimits limits) : limits_(limits) {}

  // From now on; connections above a lower limit go when they are idle or come back.
  void set_limits(PoolLimits limits) { limits_ = limits; }

  void acquire(const PoolKey& key, Waiter waiter, Time now, Actions& actions);
  // The waiter is gone; a connection being opened for it serves the next one.
  void cancel(Waiter waiter);
  void opened(const PoolKey& key, Handle handle, Time now, Actions& actions);
  // Returns the waiter that is to hear of the failure (the oldest one of that key), or 0.
  Waiter open_failed(const PoolKey& key, Actions& actions);
  // A lent connection comes back in good order …
  void released(Handle handle, Time now, Actions& actions);
  // … or is gone, lent or idle.
  void gone(Handle handle, Actions& actions);
  // Closes what was idle or alive too long and times waiters out. Call about once a second.
  void sweep(Time now, Actions& actions);
  // Closes all idle connections (shutdown).
  void close_idle(Actions& actions);

  struct Counts {
    size_t idle = 0;
    size_t lent = 0;
    size_t opening = 0;
    size_t waiting = 0;
  };
  Counts counts(uint16_t instance) const;

 private:
  struct Member {
    PoolKey key;
    Time since{0};  // idle since
    Time born{0};
    bool idle = false;
  };
  struct Request {
    PoolKey key;
    Waiter waiter = 0;
    Time deadline{0};
    uint32_t passed_over = 0;
  };
  struct Instance {
    std::map<PoolKey, std::vector<Handle>> idle;  // last in, first out
    std::map<PoolKey, size_t> opening;
    std::deque<Request> waiting;
    size_t connections = 0;  // idle, lent and opening
  };

  // Starts connections for waiters while there is room.
  void serve(Instance& instance, Actions& actions);
  bool drop_one_idle(Instance& instance, Actions& actions);
  void remove_idle(Instance& instance, const PoolKey& key, Handle handle);

  PoolLimits limits_;
  std::map<uint16_t, Instance> instances_;
  std::map<Handle, Member> members_;
};

}  // namespace evenkeel::backend
