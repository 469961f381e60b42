#include "proxy/net/mailbox.h"

#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace evenkeel::net {

Mailbox::Mailbox(event_base* base) : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  event_ = event_new(base, descriptor_, EV_READ | EV_PERSIST, &Mailbox::on_event, this);
  event_add(event_, nullptr);
}

Mailbox::~Mailbox() {
  event_free(event_);
  close(descriptor_);
}

void Mailbox::post(Letter letter) {
  {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(descriptor_, &one, sizeof(one));
}

void Mailbox::on_event(evutil_socket_t, short, void* self) { static_cast<Mailbox*>(self)->run(); }

void Mailbox::run() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(descriptor_, &count, sizeof(count));
  std::vector<Letter> letters;
  {
    const std::lock_guard lock(mutex_);
    letters.swap(letters_);
  }
  for (const auto& letter : letters) letter();
}

}  // namespace evenkeel::net
