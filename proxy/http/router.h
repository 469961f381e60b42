// Requests to the functions that answer them: pure but for the gate's memory of failures.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/answer/answer.h"
#include "proxy/http/gate.h"
#include "proxy/http/message.h"

namespace evenkeel::http {

// A request that was let in.
struct Call {
  const Request& request;
  const answer::Caller& caller;
  std::vector<std::string> arguments;  // what stands in the places of * of the route's path
};

// One thread. Routes are added before the first request.
class Router {
 public:
  using Respond = std::function<Outcome(const Call& call)>;

  // `gate` must outlive it.
  explicit Router(Gate& gate) : gate_(gate) {}

  // `path`: "/ids/*"; a * stands for one non-empty segment. `rights`: none for everybody.
  void add(std::string method, std::string path, std::optional<answer::Rights> rights, Respond respond);
  // HEAD is answered as GET; the caller sends no body then. Errors are responses: 404, 405 with Allow, and
  // the gate's.
  Outcome respond(const Request& request);

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;
    std::optional<answer::Rights> rights;
    Respond respond;
  };

  static std::optional<std::vector<std::string>> match(const Route& route,
                                                       const std::vector<std::string>& segments);

  Gate& gate_;
  std::vector<Route> routes_;
};

}  // namespace evenkeel::http
