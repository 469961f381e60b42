#include "proxy/demo/sql_client.h"

#include <charconv>
#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <fmt/format.h>
#include <mutex>
#include <mysql_driver.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::demo {
namespace {

Error from_exception(const sql::SQLException& thrown) {
  Error error = make_error(ErrorKind::backend, static_cast<uint16_t>(thrown.getErrorCode()), thrown.what());
  if (thrown.getSQLState().length() == 5) error.sqlstate = thrown.getSQLState();
  return error;
}

// Every call into the library goes through here: it throws, this program does not.
template <typename Call>
auto caught(Call call) -> Result<decltype(call())> {
  try {
    return call();
  } catch (const sql::SQLException& thrown) {
    return fail(from_exception(thrown));
  } catch (const std::exception& thrown) {
    return fail(make_error(ErrorKind::backend, mysql::er::unknown_error, thrown.what()));
  }
}

}  // namespace

SqlClient::SqlClient(std::unique_ptr<sql::Connection> connection) : connection_(std::move(connection)) {}
SqlClient::SqlClient(SqlClient&&) noexcept = default;
SqlClient& SqlClient::operator=(SqlClient&&) noexcept = default;
SqlClient::~SqlClient() = default;

Result<SqlClient> SqlClient::connect(uint16_t port, const Account& account, const std::string& schema) {
  // The driver is one object of the process, made at the first call, and not made for threads.
  static std::mutex driver_mutex;
  return caught([&] {
    const std::lock_guard lock(driver_mutex);
    sql::ConnectOptionsMap options;
    options["hostName"] = sql::SQLString(fmt::format("tcp://127.0.0.1:{}", port));
    options["userName"] = sql::SQLString(account.user);
    options["password"] = sql::SQLString(account.password);
    if (!schema.empty()) options["schema"] = sql::SQLString(schema);
    return SqlClient(std::unique_ptr<sql::Connection>(sql::mysql::get_driver_instance()->connect(options)));
  });
}

Result<uint64_t> SqlClient::execute(const std::string& sql) {
  return caught([&] {
    const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
    if (statement->execute(sql)) {
      const std::unique_ptr<sql::ResultSet> unread(statement->getResultSet());
      return uint64_t{0};
    }
    return static_cast<uint64_t>(statement->getUpdateCount());
  });
}

Result<std::vector<TextRow>> SqlClient::query(const std::string& sql) {
  return caught([&] {
    const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
    const std::unique_ptr<sql::ResultSet> result(statement->executeQuery(sql));
    const uint32_t columns = result->getMetaData()->getColumnCount();
    std::vector<TextRow> rows;
    while (result->next()) {
      TextRow& row = rows.emplace_back();
      for (uint32_t column = 1; column <= columns; ++column) {
        const sql::SQLString cell = result->getString(column);
        row.push_back(result->wasNull() ? std::nullopt : std::optional(cell.asStdString()));
      }
    }
    return rows;
  });
}

Result<int64_t> SqlClient::query_integer(const std::string& sql) {
  EVENKEEL_ASSIGN(const std::vector<TextRow> rows, query(sql));
  int64_t number = 0;
  if (!rows.empty() && !rows[0].empty() && rows[0][0]) {
    const std::string& text = *rows[0][0];
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

}  // namespace evenkeel::demo
