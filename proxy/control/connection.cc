#include "proxy/control/connection.h"

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

namespace evenkeel::control {
namespace {

// Every call into the library goes through here: it throws, this program does not.
template <typename Call>
auto caught(const std::string& instance, Call call) -> Result<decltype(call())> {
  try {
    return call();
  } catch (const sql::SQLException& thrown) {
    Error error = make_error(ErrorKind::backend, static_cast<uint16_t>(thrown.getErrorCode()),
                             fmt::format("instance {}: {}", instance, thrown.what()));
    if (thrown.getSQLState().size() == 5) error.sqlstate = thrown.getSQLState();
    return fail(std::move(error));
  } catch (const std::exception& thrown) {
    return fail(make_error(ErrorKind::backend, mysql::er::unknown_error,
                           fmt::format("instance {}: {}", instance, thrown.what())));
  }
}

// The driver is one object of the process and its first call is not made for threads.
sql::Driver* driver() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return sql::mysql::get_driver_instance();
}

sql::ConnectOptionsMap options_for(const backend::Instance& instance, const session::BackendAccount& account,
                                   std::chrono::milliseconds connect_timeout) {
  using Mode = backend::InstanceTls::Mode;
  const bool six = instance.host.find(':') != std::string::npos;
  // The library counts whole seconds; 0 would mean no bound.
  const int seconds = static_cast<int>(std::max<int64_t>(1, (connect_timeout.count() + 999) / 1000));
  sql::ConnectOptionsMap options;
  options["hostName"] = sql::SQLString(
      fmt::format("tcp://{}{}{}:{}", six ? "[" : "", instance.host, six ? "]" : "", instance.port));
  options["userName"] = sql::SQLString(account.user);
  options["password"] = sql::SQLString(account.password);
  options["OPT_CONNECT_TIMEOUT"] = seconds;
  options["OPT_READ_TIMEOUT"] = 30;
  options["OPT_CHARSET_NAME"] = sql::SQLString("utf8mb4");
  if (instance.tls.mode == Mode::required || instance.tls.mode == Mode::verify) options["sslEnforce"] = true;
  if (instance.tls.mode == Mode::verify) {
    options["sslVerify"] = true;
    if (!instance.tls.ca.empty()) options["sslCA"] = sql::SQLString(instance.tls.ca);
  }
  return options;
}

}  // namespace

Connection::Connection(std::string instance, std::unique_ptr<sql::Connection> connection)
    : instance_(std::move(instance)), connection_(std::move(connection)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const backend::Instance& instance, const session::BackendAccount& account,
                                    std::chrono::milliseconds connect_timeout) {
  auto opened = caught(instance.name, [&] {
    sql::ConnectOptionsMap options = options_for(instance, account, connect_timeout);
    return std::unique_ptr<sql::Connection>(driver()->connect(options));
  });
  if (!opened) return fail(std::move(opened.error()));
  Connection connection(instance.name, std::move(*opened));
  // One reading of string literals, whatever the server's default.
  auto set = caught(instance.name, [&] {
    const std::unique_ptr<sql::Statement> statement(connection.connection_->createStatement());
    return statement->execute("SET SESSION sql_mode = '', SESSION autocommit = 1");
  });
  if (!set) return fail(std::move(set.error()));
  return connection;
}

Status Connection::execute(const std::string& sql) {
  auto done = caught(instance_, [&] {
    const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
    return statement->execute(sql);
  });
  if (!done) return fail(std::move(done.error()));
  return {};
}

Result<std::vector<Row>> Connection::query(const std::string& sql) {
  return caught(instance_, [&] {
    const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
    const std::unique_ptr<sql::ResultSet> result(statement->executeQuery(sql));
    const unsigned int columns = result->getMetaData()->getColumnCount();
    std::vector<Row> rows;
    while (result->next()) {
      Row& row = rows.emplace_back();
      row.reserve(columns);
      for (unsigned int i = 1; i <= columns; ++i) {
        const sql::SQLString text = result->getString(i);
        row.push_back(result->wasNull() ? Cell() : Cell(std::string(text.c_str(), text.length())));
      }
    }
    return rows;
  });
}

std::string quoted(std::string_view text) {
  std::string literal = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') literal += c;
    literal += c;
  }
  return literal + "'";
}

}  // namespace evenkeel::control
