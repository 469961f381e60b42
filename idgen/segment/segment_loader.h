// Fetches segments for the generators of one configured name, on a thread of its own: the only one that waits
// for the stores.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "idgen/segment/segment_generator.h"
#include "idgen/segment/segment_store.h"

namespace evenkeel::idgen {

// The slowest of the last calls to the stores: what stands for the 99th percentile.
class LatencyRecord {
 public:
  void add(std::chrono::nanoseconds latency) { last_[next_++ % last_.size()] = latency; }
  std::chrono::nanoseconds slowest() const;

 private:
  std::array<std::chrono::nanoseconds, 64> last_{};
  size_t next_ = 0;
};

// How long a segment should be, after the pace at which the last ones were needed: twice as long when one did
// not last the target, half as long when it lasted more than twice that.
class StepControl {
 public:
  explicit StepControl(const SegmentSettings& settings) : settings_(settings), step_(settings.step) {}

  // Goes on from the step that the row remembers.
  void resume(uint64_t step);
  // For the segment that is fetched now, and has room for a batch of `at_least` twice.
  uint32_t next(std::chrono::nanoseconds now, uint32_t at_least);
  uint32_t step() const { return step_; }

 private:
  const SegmentSettings& settings_;
  uint32_t step_;
  std::optional<std::chrono::nanoseconds> last_fetch_;
};

class SegmentLoader {
 public:
  // One store for each allocator of `settings`, in the same order. `clock` must outlive it.
  SegmentLoader(const GeneratorSettings& settings, std::vector<std::unique_ptr<SegmentStore>> stores,
                const Clock& clock);
  ~SegmentLoader();

  // Without a thread, serve() is to be called instead: tests do.
  void start_thread();
  // Ends the thread after the call it is in.
  void stop_thread();

  // Before a generator is added. `tag` names its rows.
  void add(SegmentGenerator& generator, std::string tag);
  // Blocks until the generator has its first segment, or a store has refused it. Needs the thread.
  Status await_first(const SegmentGenerator& generator);

  // Any thread, any time; returns at once.
  void wake();
  // One round: does what the generators want. Returns how long to wait before the next one if nobody calls
  // wake() (the stores that failed are asked again then); nothing: no need.
  std::optional<std::chrono::nanoseconds> serve();
  // After stop_thread() and the close() of the generators: gives back what they have not used, where no one
  // else has gone on from it.
  Status give_back();

  // The stores' failures since the last call, for the log.
  std::vector<std::string> take_complaints();

 private:
  struct Row {
    SegmentRow seen;
    bool open = false;
    uint64_t last_granted = 0;
    bool went_back = false;  // nothing is taken until an operator has raised the epoch
  };
  struct Client {
    SegmentGenerator* generator = nullptr;
    std::string tag;
    StepControl step;
    std::vector<Row> rows;  // by allocator
    bool served = false;
    std::optional<Error> first_error;
  };
  struct Allocator {
    std::unique_ptr<SegmentStore> store;
    uint64_t prefix = 0;
    uint32_t failures = 0;
    std::chrono::nanoseconds asked_again_at{0};
  };

  void run();
  bool serve_client(Client& client);
  bool tell_explicit(Client& client, const SegmentWish& wish);
  bool load(Client& client, const SegmentWish& wish);
  Status advance(Client& client, uint32_t allocator, uint32_t step, uint64_t above);
  Status protect(Client& client, uint32_t allocator, uint64_t number);
  Result<Row*> open_row(Client& client, uint32_t allocator);
  Status adopt_new_epoch(Client& client, uint32_t allocator);
  Error went_back(const Client& client, uint32_t allocator) const;
  bool may_ask(uint32_t allocator) const;
  template <typename Call>
  Status ask(Client& client, uint32_t allocator, Call call);
  void complain(std::string text);

  const GeneratorSettings settings_;
  const int number_bits_;
  const uint64_t number_max_;
  const Clock& clock_;
  std::vector<Allocator> allocators_;
  LatencyRecord latency_;

  std::mutex clients_mutex_;  // guards `clients_` and what is in it; held during a round
  std::vector<std::unique_ptr<Client>> clients_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
  uint64_t rounds_ = 0;
  std::vector<std::string> complaints_;
  std::thread thread_;
};

}  // namespace evenkeel::idgen
