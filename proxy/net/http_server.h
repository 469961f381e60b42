// HTTP listeners on a thread of their own, by libevent's evhttp; TLS by its OpenSSL bufferevents.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/http/message.h"
#include "proxy/http/settings.h"
#include "proxy/net/settings.h"

namespace evenkeel::net {

struct HttpParts {
  std::vector<Listener> listeners;
  http::Settings settings;
  // Called on the server's thread, one request at a time.
  std::function<http::Outcome(const http::Request&)> respond;
  std::string state_directory;          // of generated certificates
  std::string thread_name = "ek-http";  // at most 15 characters
};

// Start and destruction by one thread.
class HttpServer {
 public:
  // Clients are served when it returns. Errors: an address that cannot be bound, TLS files that cannot be
  // read.
  static Result<std::unique_ptr<HttpServer>> start(HttpParts parts);
  // Requests under way are dropped.
  ~HttpServer();

  // In the order of the listeners.
  const std::vector<uint16_t>& ports() const;

  // Other certificates and limits, in two steps: what cannot be prepared changes nothing. `listeners` are
  // those of the start but for their TLS; connections that are there stay as they are. Errors: TLS files that
  // cannot be read.
  struct Terms;
  using TermsPtr = std::shared_ptr<Terms>;
  Result<TermsPtr> prepare(const std::vector<Listener>& listeners, const http::Settings& settings) const;
  // Takes them on the server's thread, where `also` is run as well: what `respond` uses may be changed there.
  // Done when it returns, or when the thread, if it is busy for more than two seconds, has come to it.
  void adopt(TermsPtr terms, std::function<void()> also);

 private:
  HttpServer();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel::net
