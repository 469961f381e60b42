// What went wrong, in the form in which it can be told to a MySQL client, a log line and a person at a shell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel {

enum class ErrorKind : uint8_t {
  config,       // a configuration file or option: the message says file, line, column, found, allowed
  statement,    // the client's statement is wrong, as MySQL would say it
  unsupported,  // valid for MySQL, refused here; the message names the clause
  auth,         // a login failed
  protocol,     // a peer broke the wire protocol
  backend,      // an instance answered with an error or is not reachable
  limit,        // a named limit was reached
  clock,        // the clock stands where no id can be issued safely
  registry,     // the shared store cannot be reached or refused
  io,           // a file or socket operation failed
  internal,     // a defect of this program
};

std::string_view to_string(ErrorKind kind);

// A plain value. `code` is a MySQL error number, `sqlstate` its five characters; both are set for
// everything that may reach a client (use the factories below).
struct Error {
  ErrorKind kind = ErrorKind::internal;
  uint16_t code = 0;
  std::string sqlstate;
  std::string message;

  bool operator==(const Error&) const = default;
};

// `code` gives the SQLSTATE by the table in base/mysql/error_codes.h.
Error make_error(ErrorKind kind, uint16_t code, std::string message);

// ER_NOT_SUPPORTED_YET (1235, 42000): "clause" is named in the message by the caller.
Error unsupported(std::string message);
// ER_UNKNOWN_ERROR (1105, HY000) with kind internal.
Error internal_error(std::string message);
Error config_error(std::string message);

}  // namespace evenkeel
