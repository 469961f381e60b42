// A request and its response as values.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace evenkeel::http {

struct Request {
  std::string method = "GET";  // capital letters
  std::string path;            // without the query, percent signs resolved
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string client;  // the peer's address
  bool tls = false;

  std::string_view header(const std::string& lower_name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

struct Outcome;

// The response is not there before `delay` has passed; then `again` gives it, or says so once more.
struct Later {
  std::chrono::microseconds delay{0};
  std::function<Outcome()> again;
};

struct Outcome {
  std::variant<Response, Later> what;
};

Response json_response(const nlohmann::json& body, int status = 200);
// {"error": {"status": 404, "message": "…"}}
Response error_response(int status, std::string_view message);
Response text_response(std::string body, std::string content_type = "text/plain; charset=utf-8");

// "Not Found" for 404.
std::string_view reason_of(int status);

// The target of a request line: path and query, percent signs and + resolved. Nothing for an escape that is
// none.
bool split_target(std::string_view target, std::string& path, std::map<std::string, std::string>& query);

}  // namespace evenkeel::http
