// A request and a response of the HTTP port as plain values: what answers them needs no sockets and is tested
// without any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evenkeel::admin {

// Who proved to be who; set by the login, before anything answers.
struct HttpCaller {
  std::string user;
  bool may_operate = false;

  bool operator==(const HttpCaller&) const = default;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // GET, HEAD, POST, DELETE
  std::string path;    // as sent, without the query; segments are still percent-encoded
  std::string query;   // behind the question mark; empty: none
  HttpHeaders headers;
  std::string body;
  std::string peer;  // the client's address without the port
  bool tls = false;
  std::optional<HttpCaller> caller;

  // The first header of that name, letter case does not count; empty: there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  HttpHeaders headers;  // besides Content-Type and Content-Length
  std::string body;
};

// Percent-decoded segments of a path: "/api/v1/tables/my%20shop" -> api, v1, tables, my shop. Nothing for a
// path that does not begin with a slash or holds a broken escape.
std::optional<std::vector<std::string>> path_segments(std::string_view path);
// The decoded value of one field of a query; nothing when it is not there.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace evenkeel::admin
