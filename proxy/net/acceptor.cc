#include "proxy/net/acceptor.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mysql/error_codes.h"

namespace evenkeel::net {
namespace {

constexpr int accepts_per_event = 64;

Error bind_error(const Listener& listener, std::string_view reason) {
  return make_error(ErrorKind::io, mysql::er::unknown_error,
                    fmt::format("cannot listen on {}:{}: {}", listener.address, listener.port, reason));
}

std::string host_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof(text));
  } else {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text, sizeof(text));
  }
  const std::string_view mapped = "::ffff:";
  std::string host = text;
  return host.starts_with(mapped) ? host.substr(mapped.size()) : host;
}

}  // namespace

Result<Bound> bind_listener(const Listener& listener) {
  sockaddr_storage address{};
  socklen_t size = 0;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
  if (inet_pton(AF_INET, listener.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(listener.port);
    size = sizeof(*v4);
  } else if (inet_pton(AF_INET6, listener.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(listener.port);
    size = sizeof(*v6);
  } else {
    return fail(bind_error(listener, "not an IPv4 or IPv6 address"));
  }
  const int descriptor = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  constexpr int backlog = 4096;
  if (descriptor < 0 || bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(descriptor, backlog) != 0) {
    const int why = errno;
    if (descriptor >= 0) close(descriptor);
    return fail(bind_error(listener, std::strerror(why)));
  }
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  return Bound{descriptor, ntohs(address.ss_family == AF_INET ? v4->sin_port : v6->sin6_port)};
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Result<std::unique_ptr<Acceptor>> Acceptor::open(event_base* base, const Listener& listener,
                                                 Accepted accepted) {
  EVENKEEL_ASSIGN(const Bound bound, bind_listener(listener));
  std::unique_ptr<Acceptor> acceptor(new Acceptor(std::move(accepted)));
  acceptor->descriptor_ = bound.descriptor;
  acceptor->port_ = bound.port;
  acceptor->ready_ =
      event_new(base, bound.descriptor, EV_READ | EV_PERSIST, &Acceptor::on_ready, acceptor.get());
  event_add(acceptor->ready_, nullptr);
  return acceptor;
}

Acceptor::~Acceptor() { stop(); }

void Acceptor::stop() {
  if (ready_ == nullptr) return;
  event_free(ready_);
  ready_ = nullptr;
  close(descriptor_);
}

void Acceptor::on_ready(evutil_socket_t, short, void* self) { static_cast<Acceptor*>(self)->accept_some(); }

void Acceptor::accept_some() {
  for (int i = 0; i < accepts_per_event; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int descriptor =
        accept4(descriptor_, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) {
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED) {
        log::warn("accept: {}", std::strerror(errno));
      }
      return;
    }
    const int one = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    accepted_(descriptor, host_text(address));
  }
}

}  // namespace evenkeel::net
