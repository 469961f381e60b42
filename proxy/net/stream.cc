#include "proxy/net/stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace evenkeel::net {
namespace {

// A buffer this small stays with its stream between statements; larger ones go back to the allocator.
constexpr size_t kept_capacity = 1024;

std::string openssl_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  char text[160];
  if (code == 0) return "TLS failed";
  ERR_error_string_n(code, text, sizeof(text));
  return text;
}

}  // namespace

Stream::Stream(event_base* base, int descriptor, std::span<char> scratch, StreamOwner& owner, Marks marks)
    : base_(base), descriptor_(descriptor), scratch_(scratch), owner_(owner), marks_(marks) {}

Stream::~Stream() {
  *alive_ = false;
  if (event_ != nullptr) event_free(event_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Stream::update_events() {
  short wanted = EV_PERSIST;
  if (reading_ && !connecting_) wanted |= EV_READ;
  if (connecting_ || pending() > 0) wanted |= EV_WRITE;
  if (wanted == armed_) return;
  if (event_ == nullptr) {
    event_ = event_new(base_, descriptor_, wanted, &Stream::on_event, this);
  } else {
    event_del(event_);
    event_assign(event_, base_, descriptor_, wanted, &Stream::on_event, this);
  }
  armed_ = wanted;
  if ((wanted & (EV_READ | EV_WRITE)) != 0) event_add(event_, nullptr);
}

void Stream::await_connect() {
  connecting_ = true;
  update_events();
}

void Stream::start_reading() {
  if (closing_) return;
  reading_ = true;
  update_events();
}

void Stream::pause_reading() {
  reading_ = false;
  update_events();
}

void Stream::on_event(evutil_socket_t, short what, void* self) {
  auto* stream = static_cast<Stream*>(self);
  const auto alive = stream->alive_;
  if ((what & EV_WRITE) != 0) stream->writable();
  if (*alive && (what & EV_READ) != 0 && stream->reading_) stream->readable();
}

void Stream::readable() {
  const ssize_t got = ::recv(descriptor_, scratch_.data(), scratch_.size(), 0);
  if (got > 0) {
    const std::string_view bytes(scratch_.data(), static_cast<size_t>(got));
    if (ssl_) {
      feed_tls(bytes);
    } else {
      owner_.on_bytes(bytes);
    }
    return;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  fail(got == 0 ? "closed by peer" : std::strerror(errno));
}

void Stream::writable() {
  if (connecting_) {
    int code = 0;
    socklen_t size = sizeof(code);
    getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &code, &size);
    connecting_ = false;
    if (code != 0) {
      fail(std::strerror(code));
      return;
    }
    update_events();
    owner_.on_connected();
    return;
  }
  if (!send_pending()) {
    fail("connection lost while writing");
    return;
  }
  if (closing_ && pending() == 0) {
    fail("closed");
    return;
  }
  update_events();
  if (over_mark_ && pending() <= marks_.low) {
    over_mark_ = false;
    owner_.on_drained();
  }
}

bool Stream::send_pending() {
  while (pending() > 0) {
    const ssize_t sent = ::send(descriptor_, pending_.data() + sent_, pending(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    sent_ += static_cast<size_t>(sent);
  }
  pending_.clear();
  sent_ = 0;
  if (pending_.capacity() > kept_capacity) std::string().swap(pending_);
  return true;
}

void Stream::send_or_keep(std::string_view bytes) {
  if (bytes.empty()) return;
  if (pending() == 0 && !connecting_) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(bytes.size())) return;
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    // A socket that failed is found out by the next event on it: on_closed never comes from inside write().
  }
  if (sent_ > 0 && sent_ == pending_.size()) {
    pending_.clear();
    sent_ = 0;
  } else if (sent_ > marks_.high) {
    pending_.erase(0, sent_);
    sent_ = 0;
  }
  pending_.append(bytes);
  if (pending() > marks_.low) over_mark_ = true;
  update_events();
}

void Stream::write(std::string_view bytes) {
  if (!ssl_) {
    send_or_keep(bytes);
    return;
  }
  if (!SSL_is_init_finished(ssl_.get())) {
    early_plain_.append(bytes);
    return;
  }
  while (!bytes.empty()) {
    const int chunk = static_cast<int>(std::min<size_t>(bytes.size(), 1 << 20));
    const int took = SSL_write(ssl_.get(), bytes.data(), chunk);
    if (took <= 0) {
      ERR_clear_error();
      return;
    }
    bytes.remove_prefix(static_cast<size_t>(took));
  }
  pump_tls_out();
}

bool Stream::pump_tls_out() {
  BIO* out = SSL_get_wbio(ssl_.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out, &bytes);
  if (size <= 0) return false;
  send_or_keep(std::string_view(bytes, static_cast<size_t>(size)));
  (void)BIO_reset(out);
  return true;
}

Status Stream::start_tls(SslPtr ssl, std::string_view already_read) {
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  if (in == nullptr || out == nullptr) return evenkeel::fail(internal_error("TLS: out of memory"));
  SSL_set_bio(ssl.get(), in, out);
  ssl_ = std::move(ssl);
  if (!already_read.empty()) BIO_write(in, already_read.data(), static_cast<int>(already_read.size()));
  const int done = SSL_do_handshake(ssl_.get());
  pump_tls_out();
  if (done != 1 && SSL_get_error(ssl_.get(), done) != SSL_ERROR_WANT_READ) {
    return evenkeel::fail(make_error(ErrorKind::io, 2026, openssl_reason()));
  }
  return {};
}

void Stream::feed_tls(std::string_view bytes) {
  BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
  const auto alive = alive_;
  std::string plain(16 * 1024, '\0');
  while (*alive) {
    const int got = SSL_read(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
    if (got > 0) {
      owner_.on_bytes(std::string_view(plain.data(), static_cast<size_t>(got)));
      continue;
    }
    const int why = SSL_get_error(ssl_.get(), got);
    pump_tls_out();  // handshake answers, session tickets, key updates
    if (!early_plain_.empty() && SSL_is_init_finished(ssl_.get())) write(std::exchange(early_plain_, {}));
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) break;
    // Clients close without a TLS goodbye; that is an ordinary end here.
    fail(why == SSL_ERROR_ZERO_RETURN ? std::string("closed by peer") : openssl_reason());
    return;
  }
}

bool Stream::close_when_sent() {
  closing_ = true;
  reading_ = false;
  update_events();
  return pending() == 0;
}

void Stream::fail(std::string_view reason) {
  reading_ = false;
  if (event_ != nullptr) event_del(event_);
  armed_ = 0;
  owner_.on_closed(reason);
}

}  // namespace evenkeel::net
