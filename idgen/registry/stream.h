// A blocking byte stream to a server, TCP with or without TLS, that never waits past a deadline.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "idgen/registry/settings.h"

namespace evenkeel::idgen {

using Deadline = std::chrono::steady_clock::time_point;

// Used by one thread at a time. After an error it is of no use any more. Errors have kind registry and say
// what failed, not where.
class Stream {
 public:
  // Connects, and does the TLS handshake where `tls` asks for it. Looking up the host's name is bounded by
  // the system's resolver only.
  static Result<std::unique_ptr<Stream>> connect(const RegistryEndpoint& endpoint, const RegistryTls& tls,
                                                 Deadline deadline);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Status write_all(std::string_view bytes, Deadline deadline);
  // At least one byte; the end of the stream is an error.
  Result<size_t> read_some(std::span<char> into, Deadline deadline);

 private:
  struct Tls;

  explicit Stream(int socket);
  Status shake_hands(const RegistryEndpoint& endpoint, const RegistryTls& tls, Deadline deadline);
  Status send_all(std::string_view bytes, Deadline deadline);
  Result<size_t> receive_some(std::span<char> into, Deadline deadline);
  Status flush_tls(Deadline deadline);
  Status feed_tls(Deadline deadline);

  const int socket_;
  std::unique_ptr<Tls> tls_;  // null: plain
};

}  // namespace evenkeel::idgen
