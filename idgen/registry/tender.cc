#include "idgen/registry/tender.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace evenkeel::idgen {

struct Tender::Shared {
  explicit Shared(Work given) : work(std::move(given)) {}

  Work work;
  std::mutex mutex;  // guards the flags; never held while working
  std::condition_variable changed;
  bool stopping = false;
  bool finished = false;
};

Tender::Tender(Work work) : shared_(std::make_shared<Shared>(std::move(work))) {
  // Detached: it owns what it needs, and stop() waits for its last word rather than for its end.
  std::thread([shared = shared_] {
    std::unique_lock lock(shared->mutex);
    while (!shared->changed.wait_for(lock, shared->work.period, [&] { return shared->stopping; })) {
      lock.unlock();
      shared->work.step();
      lock.lock();
    }
    lock.unlock();
    shared->work.finish();
    // What the work owns goes before anyone believes that it is over.
    shared->work = {};
    lock.lock();
    shared->finished = true;
    shared->changed.notify_all();
  }).detach();
}

Tender::~Tender() { ask_to_stop(); }

void Tender::ask_to_stop() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
}

bool Tender::stop(std::chrono::milliseconds patience) {
  ask_to_stop();
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, patience, [this] { return shared_->finished; });
}

}  // namespace evenkeel::idgen
