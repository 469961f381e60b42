// A blocking connection to an instance for everything that is not a client's statement: MySQL
// Connector/C++ 1.1 with its exceptions caught at the call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proxy/backend/settings.h"
#include "proxy/session/settings.h"

namespace sql {
class Connection;
}

namespace evenkeel::control {

using Cell = std::optional<std::string>;  // NULL: nullopt
using Row = std::vector<Cell>;

// Owns the connection; one thread at a time; movable. Never on the data path: calls wait for the network.
class Connection {
 public:
  // Errors have kind backend and name the instance.
  static Result<Connection> open(const backend::Instance& instance, const session::BackendAccount& account,
                                 std::chrono::milliseconds connect_timeout);

  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  const std::string& instance() const { return instance_; }
  // Every cell as text.
  Result<std::vector<Row>> query(const std::string& sql);
  // For statements without a result.
  Status execute(const std::string& sql);

 private:
  Connection(std::string instance, std::unique_ptr<::sql::Connection> connection);

  std::string instance_;
  std::unique_ptr<::sql::Connection> connection_;
};

// A string literal: 'it''s'. Backslashes doubled, as every sql_mode of these connections reads them.
std::string quoted(std::string_view text);

}  // namespace evenkeel::control
