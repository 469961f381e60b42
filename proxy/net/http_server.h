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

 private:
  HttpServer();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel::net
