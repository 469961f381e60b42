// A place of its own for each thread that uses an object: what a thread needs at each call (counters, a copy
// of the current map) is then shared with nobody.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace evenkeel::idgen {

// Thread-safe. Seats live as long as this, also those of threads that have ended. `Seat` is made by its
// default constructor.
template <typename Seat>
class ThreadSeats {
 public:
  ThreadSeats() : identity_(next_identity()) {}

  // The calling thread's; found in a small cache of the thread, made at its first call.
  Seat& mine() {
    thread_local std::array<Cached, cache_size> cache;
    Cached& cached = cache[identity_ % cache_size];
    if (cached.owner != identity_) [[unlikely]]
      cached = {identity_, &find_or_make()};
    return *cached.seat;
  }

  template <typename Visit>
  void for_each(Visit visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [thread, seat] : seats_) visit(*seat);
  }

 private:
  struct Cached {
    uint64_t owner = 0;
    Seat* seat = nullptr;
  };
  static constexpr size_t cache_size = 256;

  // Never used twice in a process, so that a cache entry cannot be taken for that of a later object.
  static uint64_t next_identity() {
    static std::atomic<uint64_t> last{0};
    return ++last;
  }
  static uint64_t ordinal_of_thread() {
    static std::atomic<uint64_t> last{0};
    thread_local const uint64_t ordinal = ++last;
    return ordinal;
  }

  Seat& find_or_make() {
    const uint64_t thread = ordinal_of_thread();
    const std::lock_guard lock(mutex_);
    for (const auto& [owner, seat] : seats_)
      if (owner == thread) return *seat;
    seats_.emplace_back(thread, std::make_unique<Seat>());
    return *seats_.back().second;
  }

  const uint64_t identity_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::pair<uint64_t, std::unique_ptr<Seat>>> seats_;
};

}  // namespace evenkeel::idgen
