// A listening socket on an event loop.
#pragma once

#include <cstdint>
#include <event2/event.h>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "proxy/net/settings.h"

namespace evenkeel::net {

// Made before its loop runs or on the loop's thread; everything else on the loop's thread.
class Acceptor {
 public:
  // A connected, non-blocking socket, which the callee owns from now on, and the client's address.
  using Accepted = std::function<void(int descriptor, std::string host)>;

  // Errors: an address that cannot be bound. `accepted` is called on the thread of `base`.
  static Result<std::unique_ptr<Acceptor>> open(event_base* base, const Listener& listener,
                                                Accepted accepted);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // The kernel's choice where the listener's was 0.
  uint16_t port() const { return port_; }
  // No more clients. Idempotent.
  void stop();

 private:
  explicit Acceptor(Accepted accepted) : accepted_(std::move(accepted)) {}
  static void on_ready(evutil_socket_t, short, void* self);
  void accept_some();

  Accepted accepted_;
  int descriptor_ = -1;
  uint16_t port_ = 0;
  event* ready_ = nullptr;
};

// A bound, listening, non-blocking socket and its port.
struct Bound {
  int descriptor = -1;
  uint16_t port = 0;
};
Result<Bound> bind_listener(const Listener& listener);

// As many descriptors as the process may have: clients and instances need one each.
void raise_descriptor_limit();

}  // namespace evenkeel::net
