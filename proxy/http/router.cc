#include "proxy/http/router.h"

#include <fmt/format.h>
#include <set>
#include <utility>

namespace evenkeel::http {
namespace {

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const size_t end = std::min(path.find('/'), path.size());
    out.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return out;
}

Response method_not_allowed(const std::set<std::string>& allowed) {
  Response response = error_response(405, fmt::format("allowed here: {}", fmt::join(allowed, ", ")));
  response.headers.emplace_back("Allow", fmt::format("{}", fmt::join(allowed, ", ")));
  return response;
}

}  // namespace

void Router::add(std::string method, std::string path, std::optional<answer::Rights> rights,
                 Respond respond) {
  routes_.push_back(Route{std::move(method), segments_of(path), rights, std::move(respond)});
}

std::optional<std::vector<std::string>> Router::match(const Route& route,
                                                      const std::vector<std::string>& segments) {
  if (route.segments.size() != segments.size()) return std::nullopt;
  std::vector<std::string> arguments;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (route.segments[i] == "*") {
      if (segments[i].empty()) return std::nullopt;
      arguments.push_back(segments[i]);
    } else if (route.segments[i] != segments[i]) {
      return std::nullopt;
    }
  }
  return arguments;
}

Outcome Router::respond(const Request& request) {
  if (auto refused = gate_.check_origin(request)) return {std::move(*refused)};
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  const std::vector<std::string> segments = segments_of(request.path);
  std::set<std::string> allowed;
  for (const Route& route : routes_) {
    auto arguments = match(route, segments);
    if (!arguments) continue;
    allowed.insert(route.method);
    if (route.method != method) continue;
    answer::Caller caller;
    if (route.rights) {
      auto admitted = gate_.admit(request, *route.rights);
      if (auto* refused = std::get_if<Response>(&admitted)) return {std::move(*refused)};
      caller = std::get<answer::Caller>(std::move(admitted));
    }
    return route.respond(Call{request, caller, std::move(*arguments)});
  }
  if (!allowed.empty()) return {method_not_allowed(allowed)};
  return {error_response(404, "nothing is here")};
}

}  // namespace evenkeel::http
