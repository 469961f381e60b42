#include "idgen/segment/mysql_segment_store.h"

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

#include "base/mysql/error_codes.h"

namespace evenkeel::idgen {
namespace {

// Errors of the client library (CR_…): the connection is of no use any more.
constexpr int client_errors_first = 2000;
constexpr int client_errors_last = 2999;
constexpr int er_connection_killed = 1927;

// The driver is one object of the process and its first call is not made for threads.
sql::Driver* driver() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return sql::mysql::get_driver_instance();
}

std::string host_and_port(const SegmentAllocator& allocator) {
  const bool six = allocator.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", allocator.host, six ? "]" : "", allocator.port);
}

class MysqlSegmentStore final : public SegmentStore {
 public:
  MysqlSegmentStore(const SegmentAllocator& allocator, int64_t timeout_ms, bool makes_table)
      : allocator_(allocator),
        makes_table_(makes_table),
        table_(fmt::format("`{}`.`{}`", allocator.database, allocator.table)),
        name_(fmt::format("MySQL at {}, table {}.{}", host_and_port(allocator), allocator.database,
                          allocator.table)),
        // The library counts whole seconds; 0 would mean no bound.
        timeout_s_(static_cast<int>(std::max<int64_t>(1, (timeout_ms + 999) / 1'000))) {}

  const std::string& name() const override { return name_; }

  Result<SegmentRow> open_row(const std::string& tag) override {
    return calling([&] {
      if (const auto row = select(tag)) return *row;
      const auto insert = prepare(
          "INSERT IGNORE INTO {} (tag, prefix, max_id, explicit_id, step, epoch) VALUES (?, ?, 0, 0, 0, 1)");
      insert->setString(1, tag);
      insert->setUInt(2, allocator_.prefix);
      insert->executeUpdate();
      const auto made = select(tag);
      if (!made) throw sql::SQLException("the row that was just inserted is not there");
      return *made;
    });
  }

  Result<std::optional<SegmentRow>> advance(const std::string& tag, const SegmentAdvance& advance) override {
    return calling([&]() -> std::optional<SegmentRow> {
      // Assignments run from left to right: explicit_id and step do not look at max_id.
      const auto update = prepare(
          "UPDATE {} SET explicit_id = GREATEST(explicit_id, ?), step = ?, "
          "max_id = LAST_INSERT_ID(GREATEST(max_id, ?) + ?) "
          "WHERE tag = ? AND prefix = ? AND epoch = ? AND GREATEST(max_id, ?) <= ?");
      update->setUInt64(1, advance.above);
      update->setUInt64(2, advance.step);
      update->setUInt64(3, advance.above);
      update->setUInt64(4, advance.step);
      update->setString(5, tag);
      update->setUInt(6, allocator_.prefix);
      update->setUInt64(7, advance.epoch);
      update->setUInt64(8, advance.above);
      update->setUInt64(9, advance.limit - advance.step);
      if (update->executeUpdate() != 1) return std::nullopt;
      SegmentRow row;
      row.max_id = last_insert_id();
      row.explicit_id = advance.above;
      row.step = advance.step;
      row.epoch = advance.epoch;
      return row;
    });
  }

  Result<std::optional<SegmentRow>> protect(const std::string& tag, uint64_t epoch,
                                            uint64_t number) override {
    return calling([&]() -> std::optional<SegmentRow> {
      // The server counts rows that changed; one that was protected already is found by reading.
      const auto update = prepare(
          "UPDATE {} SET explicit_id = GREATEST(max_id, ?), max_id = GREATEST(max_id, ?) "
          "WHERE tag = ? AND prefix = ? AND epoch = ?");
      update->setUInt64(1, number);
      update->setUInt64(2, number);
      update->setString(3, tag);
      update->setUInt(4, allocator_.prefix);
      update->setUInt64(5, epoch);
      update->executeUpdate();
      const auto row = select(tag);
      if (!row || row->epoch != epoch || row->explicit_id < number) return std::nullopt;
      return row;
    });
  }

  Result<bool> give_back(const std::string& tag, uint64_t epoch, uint64_t expected,
                         uint64_t max_id) override {
    return calling([&] {
      const auto update = prepare(
          "UPDATE {} SET max_id = GREATEST(?, explicit_id) "
          "WHERE tag = ? AND prefix = ? AND epoch = ? AND max_id = ?");
      update->setUInt64(1, max_id);
      update->setString(2, tag);
      update->setUInt(3, allocator_.prefix);
      update->setUInt64(4, epoch);
      update->setUInt64(5, expected);
      return update->executeUpdate() == 1;
    });
  }

  Result<std::vector<std::string>> check() {
    return calling([&] {
      std::vector<std::string> remarks;
      const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
      if (!has_table(*statement)) {
        remarks.push_back(
            fmt::format("{}: the table does not exist yet; the first start makes it if the account may: {}",
                        name_, create_table()));
        return remarks;
      }
      // Neither meets a row; both need the rights and the columns that segments are taken with.
      statement->execute(
          fmt::format("UPDATE {} SET explicit_id = explicit_id, step = step, max_id = max_id "
                      "WHERE tag = '' AND prefix = 0 AND epoch = 0 AND FALSE",
                      table_));
      statement->execute(
          fmt::format("INSERT INTO {} (tag, prefix, max_id, explicit_id, step, epoch) "
                      "SELECT tag, prefix, max_id, explicit_id, step, epoch FROM {} WHERE FALSE",
                      table_, table_));
      const std::unique_ptr<sql::ResultSet> flushed(
          statement->executeQuery("SELECT @@innodb_flush_log_at_trx_commit"));
      if (flushed->next() && flushed->getInt(1) != 1)
        remarks.push_back(
            fmt::format("{}: innodb_flush_log_at_trx_commit is {}: a crash of the server may lose the last "
                        "segments and give them out twice; set it to 1",
                        name_, flushed->getInt(1)));
      return remarks;
    });
  }

 private:
  // Connects if need be. Every call into the library goes through here: it throws, this program does not.
  template <typename Call>
  auto calling(Call call) -> Result<decltype(call())> {
    try {
      // A server that was restarted closed the connection; a statement sent on it would fail for nothing.
      if (connection_ != nullptr && !connection_->isValid()) connection_.reset();
      if (connection_ == nullptr) connect();
      return call();
    } catch (const sql::SQLException& thrown) {
      const int code = thrown.getErrorCode();
      const bool gone = code == 0 || code == er_connection_killed ||
                        (code >= client_errors_first && code <= client_errors_last);
      if (gone) connection_.reset();
      return fail(error_of(fmt::format("{} (error {}){}", thrown.what(), code, remedy(code))));
    } catch (const std::exception& thrown) {
      connection_.reset();
      return fail(error_of(thrown.what()));
    }
  }

  Error error_of(const std::string& what) const {
    return make_error(ErrorKind::registry, mysql::er::unknown_error,
                      fmt::format("segments in {}: {}", name_, what));
  }

  std::string remedy(int code) const {
    if (code == mysql::er::bad_db) return fmt::format("; make it: CREATE DATABASE `{}`", allocator_.database);
    if (code == mysql::er::no_such_table || code == mysql::er::dbaccess_denied || code == 1142)
      return fmt::format(
          "; the account needs SELECT, INSERT, UPDATE on {}, and CREATE unless the table is made "
          "for it: {}",
          table_, create_table());
    return {};
  }

  std::string create_table() const {
    return fmt::format(
        "CREATE TABLE IF NOT EXISTS {} (tag VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, "
        "prefix INT UNSIGNED NOT NULL, max_id BIGINT UNSIGNED NOT NULL, explicit_id BIGINT UNSIGNED NOT "
        "NULL, "
        "step INT UNSIGNED NOT NULL, epoch BIGINT UNSIGNED NOT NULL, PRIMARY KEY (tag, prefix)) "
        "ENGINE=InnoDB",
        table_);
  }

  void connect() {
    sql::ConnectOptionsMap options;
    options["hostName"] = sql::SQLString("tcp://" + host_and_port(allocator_));
    options["userName"] = sql::SQLString(allocator_.user);
    options["password"] = sql::SQLString(allocator_.password);
    options["OPT_CONNECT_TIMEOUT"] = timeout_s_;
    options["OPT_READ_TIMEOUT"] = timeout_s_;
    options["OPT_WRITE_TIMEOUT"] = timeout_s_;
    options["OPT_CHARSET_NAME"] = sql::SQLString("utf8mb4");
    std::unique_ptr<sql::Connection> opened(driver()->connect(options));
    const std::unique_ptr<sql::Statement> statement(opened->createStatement());
    statement->execute(fmt::format(
        "SET SESSION sql_mode = '', SESSION autocommit = 1, SESSION innodb_lock_wait_timeout = {}",
        timeout_s_));
    if (makes_table_) make_table(*statement);
    connection_ = std::move(opened);
  }

  // Looked for first, so that an account without CREATE may use a table that is there.
  void make_table(sql::Statement& statement) const {
    if (!has_table(statement)) statement.execute(create_table());
  }

  bool has_table(sql::Statement& statement) const {
    try {
      const std::unique_ptr<sql::ResultSet> rows(
          statement.executeQuery(fmt::format("SELECT epoch FROM {} LIMIT 0", table_)));
      return true;
    } catch (const sql::SQLException& thrown) {
      if (thrown.getErrorCode() != mysql::er::no_such_table) throw;
      return false;
    }
  }

  std::unique_ptr<sql::PreparedStatement> prepare(std::string_view text) const {
    return std::unique_ptr<sql::PreparedStatement>(
        connection_->prepareStatement(fmt::format(fmt::runtime(text), table_)));
  }

  std::optional<SegmentRow> select(const std::string& tag) const {
    const auto query =
        prepare("SELECT max_id, explicit_id, step, epoch FROM {} WHERE tag = ? AND prefix = ?");
    query->setString(1, tag);
    query->setUInt(2, allocator_.prefix);
    const std::unique_ptr<sql::ResultSet> rows(query->executeQuery());
    if (!rows->next()) return std::nullopt;
    return SegmentRow{rows->getUInt64(1), rows->getUInt64(2), rows->getUInt64(3), rows->getUInt64(4)};
  }

  uint64_t last_insert_id() const {
    const std::unique_ptr<sql::Statement> statement(connection_->createStatement());
    const std::unique_ptr<sql::ResultSet> rows(statement->executeQuery("SELECT LAST_INSERT_ID()"));
    rows->next();
    return rows->getUInt64(1);
  }

  const SegmentAllocator allocator_;
  const bool makes_table_;
  const std::string table_;
  const std::string name_;
  const int timeout_s_;
  std::unique_ptr<sql::Connection> connection_;
};

}  // namespace

std::unique_ptr<SegmentStore> make_mysql_segment_store(const SegmentAllocator& allocator,
                                                       int64_t timeout_ms) {
  return std::make_unique<MysqlSegmentStore>(allocator, timeout_ms, true);
}

Result<std::vector<std::string>> check_mysql_segment_table(const SegmentAllocator& allocator,
                                                           int64_t timeout_ms) {
  return MysqlSegmentStore(allocator, timeout_ms, false).check();
}

}  // namespace evenkeel::idgen
