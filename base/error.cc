#include "base/error.h"

#include <utility>

#include "base/mysql/error_codes.h"

namespace evenkeel {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::config:
      return "config";
    case ErrorKind::statement:
      return "statement";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::auth:
      return "auth";
    case ErrorKind::protocol:
      return "protocol";
    case ErrorKind::backend:
      return "backend";
    case ErrorKind::limit:
      return "limit";
    case ErrorKind::clock:
      return "clock";
    case ErrorKind::registry:
      return "registry";
    case ErrorKind::io:
      return "io";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

Error make_error(ErrorKind kind, uint16_t code, std::string message) {
  return Error{kind, code, std::string(mysql::sqlstate_of(code)), std::move(message)};
}

Error unsupported(std::string message) {
  return make_error(ErrorKind::unsupported, mysql::er::not_supported_yet, std::move(message));
}

Error internal_error(std::string message) {
  return make_error(ErrorKind::internal, mysql::er::unknown_error, std::move(message));
}

Error config_error(std::string message) {
  return make_error(ErrorKind::config, mysql::er::unknown_error, std::move(message));
}

}  // namespace evenkeel
