// An ordinary client connection: MySQL Connector/C++ 1.1 with its exceptions caught at the call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sql {
class Connection;
}

namespace evenkeel::demo {

struct Account {
  std::string user;
  std::string password;
};

using TextRow = std::vector<std::optional<std::string>>;

// Blocking. One connection, used by one thread at a time; movable.
class SqlClient {
 public:
  // To 127.0.0.1; `schema` may be empty.
  static Result<SqlClient> connect(uint16_t port, const Account& account, const std::string& schema);

  SqlClient(SqlClient&&) noexcept;
  SqlClient& operator=(SqlClient&&) noexcept;
  ~SqlClient();

  // For statements without a result set; gives the affected rows.
  Result<uint64_t> execute(const std::string& sql);
  // For statements with one; every cell as text, NULL as nullopt.
  Result<std::vector<TextRow>> query(const std::string& sql);
  // The first cell of the first row as an integer; 0 when there is none.
  Result<int64_t> query_integer(const std::string& sql);

 private:
  explicit SqlClient(std::unique_ptr<::sql::Connection> connection);

  std::unique_ptr<::sql::Connection> connection_;
};

}  // namespace evenkeel::demo
