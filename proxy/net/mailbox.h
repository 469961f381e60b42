// How event loops talk: closures put into a loop's box by any thread run on that loop's own.
#pragma once

#include <event2/event.h>
#include <functional>
#include <mutex>
#include <vector>

namespace evenkeel::net {

class Mailbox {
 public:
  using Letter = std::function<void()>;

  // Letters run on the thread of `base`.
  explicit Mailbox(event_base* base);
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Any thread. Letters of one sender run in their order.
  void post(Letter letter);

 private:
  static void on_event(evutil_socket_t, short, void* self);
  void run();

  int descriptor_;  // an eventfd
  event* event_;
  std::mutex mutex_;  // guards letters_
  std::vector<Letter> letters_;
};

}  // namespace evenkeel::net
