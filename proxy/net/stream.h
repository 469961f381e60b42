// One connected socket on one event loop, with TLS as a byte filter where asked for.
#pragma once

#include <cstddef>
#include <event2/event.h>
#include <memory>
#include <openssl/ssl.h>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::net {

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPtr = std::unique_ptr<SSL, SslDeleter>;

// What happens on a stream. Called on the loop's thread, never from inside write() or start_tls(). The owner
// may destroy the stream from within on_bytes, on_drained and on_closed.
class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  // Plain bytes, valid during the call.
  virtual void on_bytes(std::string_view bytes) = 0;
  // pending() fell to the low mark or below after having been above it.
  virtual void on_drained() = 0;
  // The peer is gone or the socket failed (`reason`, for logs). Called once; nothing follows.
  virtual void on_closed(std::string_view reason) = 0;
  virtual void on_connected() {}
};

// Owns the descriptor. One thread. Writes go straight to the socket; only what the kernel does not take is
// kept and sent when the socket is writable again.
class Stream {
 public:
  struct Marks {
    size_t high = 256 * 1024;
    size_t low = 64 * 1024;
  };

  // `scratch` is the loop's read buffer, shared by its streams.
  Stream(event_base* base, int descriptor, std::span<char> scratch, StreamOwner& owner, Marks marks);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // For a descriptor whose connect() is in progress: on_connected or on_closed follows.
  void await_connect();
  void start_reading();
  void pause_reading();
  bool reading() const { return reading_; }

  void write(std::string_view bytes);
  // Bytes accepted by write() that the kernel has not taken.
  size_t pending() const { return pending_.size() - sent_; }
  bool above_high_mark() const { return pending() > marks_.high; }

  // From now on bytes are TLS. `ssl` has its role set (accept or connect state). Bytes that were read
  // together with the last plain ones are given as `already_read`.
  Status start_tls(SslPtr ssl, std::string_view already_read);
  const SSL* tls() const { return ssl_.get(); }

  // No more on_bytes. True when nothing is pending: the owner may destroy the stream now; else on_closed
  // follows once the pending bytes are sent.
  bool close_when_sent();

 private:
  static void on_event(evutil_socket_t, short what, void* self);
  void readable();
  void writable();
  bool send_pending();
  void send_or_keep(std::string_view bytes);
  void feed_tls(std::string_view bytes);
  bool pump_tls_out();
  void fail(std::string_view reason);
  void update_events();

  event_base* base_;
  int descriptor_;
  std::span<char> scratch_;
  StreamOwner& owner_;
  Marks marks_;
  event* event_ = nullptr;
  short armed_ = 0;
  bool reading_ = false;
  bool connecting_ = false;
  bool closing_ = false;
  bool over_mark_ = false;
  // False once this is destroyed: a callback on the stack looks at it after it has called the owner.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::string early_plain_;  // written while the TLS handshake is under way: a client side speaks first
  std::string pending_;
  size_t sent_ = 0;
  SslPtr ssl_;
};

}  // namespace evenkeel::net
