#include "proxy/http/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace evenkeel::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> unescape(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  // A NUL has no place in a name.
  if (out.find('\0') != std::string::npos) return std::nullopt;
  return out;
}

}  // namespace

std::string_view Request::header(const std::string& lower_name) const {
  const auto found = headers.find(lower_name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

Response json_response(const nlohmann::json& body, int status) {
  Response response;
  response.status = status;
  // Texts that came from outside may not be UTF-8.
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return response;
}

Response error_response(int status, std::string_view message) {
  return json_response({{"error", {{"status", status}, {"message", std::string(message)}}}}, status);
}

Response text_response(std::string body, std::string content_type) {
  Response response;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  return response;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Other";
  }
}

bool split_target(std::string_view target, std::string& path, std::map<std::string, std::string>& query) {
  const size_t mark = target.find('?');
  auto plain = unescape(target.substr(0, mark), false);
  if (!plain) return false;
  path = std::move(*plain);
  std::string_view rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto name = unescape(pair.substr(0, equals), true);
    auto value = unescape(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) return false;
    query[*name] = *value;
  }
  return true;
}

}  // namespace evenkeel::http
