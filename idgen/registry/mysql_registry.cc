#include "idgen/registry/mysql_registry.h"

#include <algorithm>
#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/resultset.h>
#include <cppconn/statement.h>
#include <fmt/format.h>
#include <mutex>
#include <mysql_driver.h>
#include <sstream>

namespace evenkeel::idgen {
namespace {

// Numbers of the server (ER_…) and of the client library (CR_…).
constexpr int er_dup_entry = 1062;
constexpr int er_bad_db = 1049;
constexpr int er_no_such_table = 1146;
constexpr int client_errors_first = 2000;
constexpr int client_errors_last = 2999;
constexpr int er_connection_killed = 1927;
constexpr int er_server_shutdown = 1053;

// Nothing more can be said or heard on the connection.
bool connection_is_gone(int code) {
  return (code >= client_errors_first && code <= client_errors_last) || code == er_connection_killed ||
         code == er_server_shutdown || code == 0;
}

// The driver is one object of the process and its first call is not made for threads.
sql::Driver* driver() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return sql::mysql::get_driver_instance();
}

std::string text_of(const sql::SQLString& text) { return {text.c_str(), text.length()}; }

class MysqlRegistry final : public Registry {
 public:
  explicit MysqlRegistry(const RegistrySettings& settings)
      : settings_(settings),
        table_("`" + settings.prefix + "_registry`"),
        // The library counts whole seconds; 0 would mean no bound.
        timeout_s_(static_cast<int>(std::max<int64_t>(1, (settings.timeout_ms + 999) / 1'000))) {}

  Result<std::optional<Record>> get(std::string_view key) override {
    EVENKEEL_TRY(check_key(key));
    return reading([&](sql::Connection& connection) { return select_one(connection, key); });
  }

  Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) override {
    EVENKEEL_TRY(check_key(key));
    EVENKEEL_TRY(check_value(key, value));
    const std::lock_guard lock(mutex_);
    // Not repeated when it fails, so better not sent on a connection that the server closed long ago.
    EVENKEEL_TRY(make_sure_of_connection());
    return caught([&] { return put(key, expected, value); });
  }

  Result<std::vector<KeyedRecord>> list(std::string_view prefix) override {
    return reading([&](sql::Connection& connection) { return select_all(connection, prefix); });
  }

  Result<int64_t> now_unix_ms() override {
    // SYSDATE is the moment it is evaluated at, in whole microseconds; the session's time zone is UTC, where
    // no hour comes twice.
    return reading([](sql::Connection& connection) {
      const std::unique_ptr<sql::Statement> statement(connection.createStatement());
      const std::unique_ptr<sql::ResultSet> result(
          statement->executeQuery("SELECT CAST(FLOOR(UNIX_TIMESTAMP(SYSDATE(6)) * 1000) AS SIGNED)"));
      result->next();
      return static_cast<int64_t>(result->getInt64(1));
    });
  }

  Result<std::vector<std::string>> shortcomings() override {
    return reading([](sql::Connection& connection) {
      const std::unique_ptr<sql::Statement> statement(connection.createStatement());
      const std::unique_ptr<sql::ResultSet> result(
          statement->executeQuery("SELECT @@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.read_only"));
      result->next();
      std::vector<std::string> found;
      if (const int flush = result->getInt(1); flush != 1)
        found.push_back(fmt::format(
            "innodb_flush_log_at_trx_commit is {}: a crash of its machine may lose the last second, and "
            "with it who holds a worker id; set it to 1",
            flush));
      if (result->getInt(2) != 0)
        found.emplace_back("the server is read_only: nothing can be stored; name the primary");
      return found;
    });
  }

 private:
  // Every call into the library goes through here: it throws, this program does not.
  template <typename Call>
  auto caught(Call call) -> Result<decltype(call())> {
    try {
      return call();
    } catch (const sql::SQLException& thrown) {
      const int code = thrown.getErrorCode();
      if (connection_is_gone(code)) connection_.reset();
      return fail(error_of(fmt::format("{} (error {})", thrown.what(), code)));
    } catch (const std::exception& thrown) {
      connection_.reset();
      return fail(error_of(thrown.what()));
    }
  }

  template <typename Call>
  auto reading(Call call) -> Result<decltype(call(std::declval<sql::Connection&>()))> {
    const std::lock_guard lock(mutex_);
    const bool was_open = connection_ != nullptr;
    if (!was_open) EVENKEEL_TRY(connect());
    auto answer = caught([&] { return call(*connection_); });
    if (answer || connection_ != nullptr || !was_open) return answer;
    // The server closed an idle connection, or was started anew.
    EVENKEEL_TRY(connect());
    return caught([&] { return call(*connection_); });
  }

  Status make_sure_of_connection() {
    if (connection_ != nullptr) {
      const auto alive = caught([&] { return connection_->isValid(); });
      if (alive && *alive) return {};
      connection_.reset();
    }
    return connect();
  }

  Error error_of(const std::string& what) const {
    return registry_error(
        fmt::format("registry in MySQL at {}: {}", to_string(settings_.endpoints.front()), what));
  }

  Status connect() {
    const auto opened = caught([&] {
      sql::ConnectOptionsMap options = connect_options();
      connection_.reset(driver()->connect(options));
      return true;
    });
    if (!opened) return fail(with_remedy(opened.error()));
    const auto prepared = caught([&] {
      prepare_session();
      return true;
    });
    if (prepared) return {};
    connection_.reset();
    return fail(with_remedy(prepared.error()));
  }

  Error with_remedy(Error error) const {
    if (error.message.ends_with(fmt::format("(error {})", er_bad_db)))
      error.message += fmt::format("; make the database: CREATE DATABASE `{}`", settings_.database);
    return error;
  }

  sql::ConnectOptionsMap connect_options() const {
    sql::ConnectOptionsMap options;
    options["hostName"] = sql::SQLString("tcp://" + to_string(settings_.endpoints.front()));
    options["userName"] = sql::SQLString(settings_.user);
    options["password"] = sql::SQLString(settings_.password);
    options["OPT_CONNECT_TIMEOUT"] = timeout_s_;
    options["OPT_READ_TIMEOUT"] = timeout_s_;
    options["OPT_WRITE_TIMEOUT"] = timeout_s_;
    options["OPT_CHARSET_NAME"] = sql::SQLString("utf8mb4");
    const RegistryTls& tls = settings_.tls;
    if (tls.mode == RegistryTls::Mode::off) return options;
    options["sslEnforce"] = true;
    if (tls.mode == RegistryTls::Mode::verify) options["sslVerify"] = true;
    if (!tls.ca.empty()) options["sslCA"] = sql::SQLString(tls.ca);
    if (!tls.certificate.empty()) {
      options["sslCert"] = sql::SQLString(tls.certificate);
      options["sslKey"] = sql::SQLString(tls.key);
    }
    return options;
  }

  void prepare_session() {
    const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
    statement->execute(
        fmt::format("SET SESSION sql_mode = '', SESSION autocommit = 1, SESSION time_zone = '+00:00', "
                    "SESSION innodb_lock_wait_timeout = {}",
                    timeout_s_));
    statement->execute(fmt::format("USE `{}`", settings_.database));
    try {
      const std::unique_ptr<sql::ResultSet> result(
          statement->executeQuery(fmt::format("SELECT version FROM {} LIMIT 0", table_)));
    } catch (const sql::SQLException& thrown) {
      if (thrown.getErrorCode() != er_no_such_table) throw;
      statement->execute(
          fmt::format("CREATE TABLE IF NOT EXISTS {} ("
                      "name VARBINARY({}) NOT NULL PRIMARY KEY, "
                      "version BIGINT UNSIGNED NOT NULL, "
                      "value MEDIUMBLOB NOT NULL, "
                      "changed_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) "
                      "ON UPDATE CURRENT_TIMESTAMP(3)) ENGINE=InnoDB",
                      table_, key_length_max));
    }
  }

  std::unique_ptr<sql::PreparedStatement> prepare(sql::Connection& connection,
                                                  const std::string& text) const {
    return std::unique_ptr<sql::PreparedStatement>(connection.prepareStatement(text));
  }

  std::optional<Record> select_one(sql::Connection& connection, std::string_view key) const {
    const auto statement =
        prepare(connection, fmt::format("SELECT version, value FROM {} WHERE name = ?", table_));
    statement->setString(1, std::string(key));
    const std::unique_ptr<sql::ResultSet> result(statement->executeQuery());
    if (!result->next()) return std::nullopt;
    return Record{text_of(result->getString(2)), result->getUInt64(1)};
  }

  // Keys are ASCII, so everything that starts with the prefix lies before the prefix and a byte of ones.
  std::vector<KeyedRecord> select_all(sql::Connection& connection, std::string_view prefix) const {
    const auto statement =
        prepare(connection,
                fmt::format("SELECT name, version, value FROM {} WHERE name >= ? AND name < CONCAT(?, x'FF') "
                            "ORDER BY name",
                            table_));
    statement->setString(1, std::string(prefix));
    statement->setString(2, std::string(prefix));
    const std::unique_ptr<sql::ResultSet> result(statement->executeQuery());
    std::vector<KeyedRecord> found;
    while (result->next())
      found.push_back({text_of(result->getString(1)), {text_of(result->getString(3)), result->getUInt64(2)}});
    return found;
  }

  Put put(std::string_view key, uint64_t expected, std::string_view value) {
    std::istringstream bytes{std::string(value)};
    const auto statement = prepare(
        *connection_,
        expected == 0
            ? fmt::format("INSERT INTO {} (value, name, version) VALUES (?, ?, 1)", table_)
            : fmt::format("UPDATE {} SET value = ?, version = version + 1 WHERE name = ? AND version = ?",
                          table_));
    statement->setBlob(1, &bytes);
    statement->setString(2, std::string(key));
    if (expected != 0) statement->setUInt64(3, expected);
    try {
      if (statement->executeUpdate() == 1) return {true, expected + 1};
    } catch (const sql::SQLException& thrown) {
      if (thrown.getErrorCode() != er_dup_entry) throw;
    }
    const auto present = select_one(*connection_, key);
    return {false, present ? present->version : 0};
  }

  const RegistrySettings settings_;
  const std::string table_;
  const int timeout_s_;
  std::mutex mutex_;  // guards the connection
  std::unique_ptr<sql::Connection> connection_;
};

}  // namespace

std::unique_ptr<Registry> make_mysql_registry(const RegistrySettings& settings) {
  return std::make_unique<MysqlRegistry>(settings);
}

}  // namespace evenkeel::idgen
