#include "idgen/registry/stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include "idgen/registry/registry.h"

namespace evenkeel::idgen {
namespace {

Error system_failure(std::string_view doing, int error_number) {
  return registry_error(fmt::format("cannot {}: {}", doing, std::generic_category().message(error_number)));
}

Error tls_failure(std::string_view doing) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  std::array<char, 256> text{};
  if (code != 0) ERR_error_string_n(code, text.data(), text.size());
  return registry_error(fmt::format("TLS: cannot {}{}{}", doing, code != 0 ? ": " : "", text.data()));
}

Status wait_for(int socket, short what, Deadline deadline, std::string_view doing) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(registry_error(fmt::format("no answer in time to {}", doing)));
    pollfd wanted{socket, what, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(left.count()) + 1);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail(system_failure(doing, errno));
  }
}

struct Addresses {
  addrinfo* list = nullptr;
  ~Addresses() {
    if (list != nullptr) ::freeaddrinfo(list);
  }
};

Result<int> open_socket(const addrinfo& address, Deadline deadline) {
  const int socket = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return fail(system_failure("open a socket", errno));
  const auto closed = [&](Error error) {
    ::close(socket);
    return fail(std::move(error));
  };
  if (::connect(socket, address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return closed(system_failure("connect", errno));
    if (auto ready = wait_for(socket, POLLOUT, deadline, "connect"); !ready) return closed(ready.error());
    int cause = 0;
    socklen_t size = sizeof cause;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &cause, &size);
    if (cause != 0) return closed(system_failure("connect", cause));
  }
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace

struct Stream::Tls {
  SSL_CTX* context = nullptr;
  SSL* session = nullptr;
  // Owned by the session: what came from the socket, and what has to go there.
  BIO* from_socket = nullptr;
  BIO* to_socket = nullptr;

  ~Tls() {
    SSL_free(session);
    SSL_CTX_free(context);
  }
};

Stream::Stream(int socket) : socket_(socket) {}

Stream::~Stream() { ::close(socket_); }

Result<std::unique_ptr<Stream>> Stream::connect(const RegistryEndpoint& endpoint, const RegistryTls& tls,
                                                Deadline deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  Addresses found;
  const int failure =
      ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found.list);
  if (failure != 0)
    return fail(registry_error(fmt::format("cannot find the host: {}", gai_strerror(failure))));
  Error last = registry_error("the host has no address");
  for (const addrinfo* address = found.list; address != nullptr; address = address->ai_next) {
    auto socket = open_socket(*address, deadline);
    if (!socket) {
      last = std::move(socket.error());
      continue;
    }
    std::unique_ptr<Stream> stream(new Stream(*socket));
    if (tls.mode != RegistryTls::Mode::off) EVENKEEL_TRY(stream->shake_hands(endpoint, tls, deadline));
    return stream;
  }
  return fail(std::move(last));
}

Status Stream::shake_hands(const RegistryEndpoint& endpoint, const RegistryTls& tls, Deadline deadline) {
  tls_ = std::make_unique<Tls>();
  tls_->context = SSL_CTX_new(TLS_client_method());
  if (tls_->context == nullptr) return fail(tls_failure("start"));
  SSL_CTX_set_min_proto_version(tls_->context, TLS1_2_VERSION);
  const bool verify = tls.mode == RegistryTls::Mode::verify;
  SSL_CTX_set_verify(tls_->context, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!tls.ca.empty()) {
    if (SSL_CTX_load_verify_locations(tls_->context, tls.ca.c_str(), nullptr) != 1)
      return fail(tls_failure(fmt::format("read the authorities in {}", tls.ca)));
  } else {
    SSL_CTX_set_default_verify_paths(tls_->context);
  }
  if (!tls.certificate.empty() &&
      (SSL_CTX_use_certificate_chain_file(tls_->context, tls.certificate.c_str()) != 1 ||
       SSL_CTX_use_PrivateKey_file(tls_->context, tls.key.c_str(), SSL_FILETYPE_PEM) != 1))
    return fail(tls_failure(fmt::format("use the certificate {} with the key {}", tls.certificate, tls.key)));
  tls_->session = SSL_new(tls_->context);
  tls_->from_socket = BIO_new(BIO_s_mem());
  tls_->to_socket = BIO_new(BIO_s_mem());
  SSL_set_bio(tls_->session, tls_->from_socket, tls_->to_socket);
  X509_VERIFY_PARAM* names = SSL_get0_param(tls_->session);
  if (X509_VERIFY_PARAM_set1_ip_asc(names, endpoint.host.c_str()) != 1) {
    X509_VERIFY_PARAM_set1_host(names, endpoint.host.c_str(), 0);
    SSL_set_tlsext_host_name(tls_->session, endpoint.host.c_str());
  }
  ERR_clear_error();
  for (;;) {
    const int done = SSL_connect(tls_->session);
    const int why = SSL_get_error(tls_->session, done);
    EVENKEEL_TRY(flush_tls(deadline));
    if (done == 1) return {};
    if (why != SSL_ERROR_WANT_READ) {
      const long verdict = SSL_get_verify_result(tls_->session);
      if (verdict == X509_V_OK) return fail(tls_failure("agree with the server"));
      return fail(registry_error(fmt::format("TLS: the server's certificate is refused: {}",
                                             X509_verify_cert_error_string(verdict))));
    }
    EVENKEEL_TRY(feed_tls(deadline));
  }
}

Status Stream::send_all(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      EVENKEEL_TRY(wait_for(socket_, POLLOUT, deadline, "send"));
    } else if (errno != EINTR) {
      return fail(system_failure("send", errno));
    }
  }
  return {};
}

Result<size_t> Stream::receive_some(std::span<char> into, Deadline deadline) {
  for (;;) {
    const ssize_t got = ::recv(socket_, into.data(), into.size(), 0);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) return fail(registry_error("the server closed the connection"));
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      EVENKEEL_TRY(wait_for(socket_, POLLIN, deadline, "receive"));
    } else if (errno != EINTR) {
      return fail(system_failure("receive", errno));
    }
  }
}

Status Stream::flush_tls(Deadline deadline) {
  std::array<char, 16'384> chunk;
  for (;;) {
    const int size = BIO_read(tls_->to_socket, chunk.data(), static_cast<int>(chunk.size()));
    if (size <= 0) return {};
    EVENKEEL_TRY(send_all({chunk.data(), static_cast<size_t>(size)}, deadline));
  }
}

Status Stream::feed_tls(Deadline deadline) {
  std::array<char, 16'384> chunk;
  EVENKEEL_ASSIGN(const size_t size, receive_some(chunk, deadline));
  BIO_write(tls_->from_socket, chunk.data(), static_cast<int>(size));
  return {};
}

Status Stream::write_all(std::string_view bytes, Deadline deadline) {
  if (tls_ == nullptr) return send_all(bytes, deadline);
  while (!bytes.empty()) {
    const int part = static_cast<int>(std::min<size_t>(bytes.size(), 1 << 20));
    const int written = SSL_write(tls_->session, bytes.data(), part);
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (SSL_get_error(tls_->session, written) == SSL_ERROR_WANT_READ) {
      EVENKEEL_TRY(feed_tls(deadline));
    } else {
      return fail(tls_failure("send"));
    }
    EVENKEEL_TRY(flush_tls(deadline));
  }
  return {};
}

Result<size_t> Stream::read_some(std::span<char> into, Deadline deadline) {
  if (tls_ == nullptr) return receive_some(into, deadline);
  for (;;) {
    const int got = SSL_read(tls_->session, into.data(), static_cast<int>(into.size()));
    const int why = SSL_get_error(tls_->session, got);
    EVENKEEL_TRY(flush_tls(deadline));
    if (got > 0) return static_cast<size_t>(got);
    if (why == SSL_ERROR_ZERO_RETURN) return fail(registry_error("the server closed the connection"));
    if (why != SSL_ERROR_WANT_READ) return fail(tls_failure("receive"));
    EVENKEEL_TRY(feed_tls(deadline));
  }
}

}  // namespace evenkeel::idgen
