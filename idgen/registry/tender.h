// A thread that does a small piece of blocking work again and again, and that can be left behind.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace evenkeel::idgen {

// For renewals: the work waits for a store that may not answer. Whoever owns the tender never waits for it
// longer than it says. Made and stopped by one thread.
class Tender {
 public:
  struct Work {
    // Called every `period`, first after one period.
    std::function<void()> step;
    std::chrono::milliseconds period{1'000};
    // Called once, after the last step, when the tender is stopped.
    std::function<void()> finish = [] {};
  };

  // What the functions hold is kept alive until the thread ends, also after the tender is gone: let them own
  // what they use, or refer to what lives as long as the process.
  explicit Tender(Work work);
  // Stops without waiting.
  ~Tender();
  Tender(const Tender&) = delete;
  Tender& operator=(const Tender&) = delete;

  // Asks the thread to finish, without waiting: several can finish at the same time.
  void ask_to_stop();
  // Waits until it has finished, at most `patience`. False: it hangs in its work and is left behind.
  bool stop(std::chrono::milliseconds patience);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace evenkeel::idgen
