#include "tests/sim/sqlite_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

#include "base/mysql/error_codes.h"

namespace evenkeel::sim {

using mysql::ColumnType;
using mysql::Value;
using session::testing::Answer;
using session::testing::FakeConnection;
using session::testing::Received;

namespace {

struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

// A member of a UNION may stand in brackets in MySQL; in SQLite it must be a query of its own.
std::string without_brackets(std::string_view sql) {
  if (!sql.starts_with("(SELECT")) return std::string(sql);
  std::string text;
  size_t depth = 0;
  for (const char c : sql) {
    if (c == '(' && depth++ == 0) text += "SELECT * FROM ";
    if (c == ')') --depth;
    text += c;
  }
  return text;
}

Answer error_answer(uint16_t code, std::string message) {
  Answer answer;
  answer.kind = Answer::Kind::err;
  answer.code = code;
  answer.message = std::move(message);
  return answer;
}

Answer error_of(sqlite3* database, const std::string& sql) {
  if (sqlite3_errcode(database) == SQLITE_CONSTRAINT)
    return error_answer(mysql::er::dup_entry, "Duplicate entry");
  return error_answer(mysql::er::parse_error, fmt::format("{} in {}", sqlite3_errmsg(database), sql));
}

protocol::ColumnDefinition column_of(sqlite3_stmt* statement, int index) {
  protocol::ColumnDefinition column;
  column.name = sqlite3_column_name(statement, index);
  column.original_name = column.name;
  column.collation = 63;
  column.length = 20;
  column.flags = mysql::column_flag::binary;
  column.type = column.name.starts_with("SUM(") ? ColumnType::newdecimal : ColumnType::longlong;
  const char* declared = sqlite3_column_decltype(statement, index);
  if (declared != nullptr && std::string_view(declared).starts_with("VARCHAR")) {
    column.type = ColumnType::var_string;
    column.collation = 45;
    column.length = 800;
    column.flags = 0;
  }
  return column;
}

Value value_of(sqlite3_stmt* statement, int index, ColumnType type) {
  if (sqlite3_column_type(statement, index) == SQLITE_NULL) return Value::null();
  if (type == ColumnType::longlong) return Value::int64(sqlite3_column_int64(statement, index));
  std::string text(reinterpret_cast<const char*>(sqlite3_column_text(statement, index)));
  return type == ColumnType::newdecimal ? Value::decimal(std::move(text)) : Value::string(std::move(text));
}

bool in_transaction(sqlite3* database) { return sqlite3_get_autocommit(database) == 0; }

void run(sqlite3* database, const std::string& sql) {
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database) << " in " << sql;
}

}  // namespace

Answer execute(sqlite3* database, const std::string& original, bool describe) {
  const std::string sql = without_brackets(original);
  if (sql.starts_with("SET ")) return {};
  const bool begins = sql == "BEGIN" || sql.starts_with("START TRANSACTION");
  const bool ends = sql == "COMMIT" || sql == "ROLLBACK";
  // MySQL's BEGIN commits what is open, and ends what is not open without an error.
  if (begins && in_transaction(database)) run(database, "COMMIT");
  if (ends && !in_transaction(database)) return {};
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, begins ? "BEGIN" : sql.c_str(), -1, &raw, nullptr) != SQLITE_OK)
    return error_of(database, sql);
  const Statement statement(raw);
  Answer answer;
  const int columns = sqlite3_column_count(raw);
  if (columns > 0) answer.kind = Answer::Kind::rows;
  for (int i = 0; i < columns; ++i) answer.columns.push_back(column_of(raw, i));
  if (describe) return answer;
  int step = sqlite3_step(raw);
  for (; step == SQLITE_ROW; step = sqlite3_step(raw)) {
    auto& row = answer.rows.emplace_back();
    for (int i = 0; i < columns; ++i)
      row.push_back(value_of(raw, i, answer.columns[static_cast<size_t>(i)].type));
  }
  if (step != SQLITE_DONE) return error_of(database, sql);
  if (columns == 0 && !begins && !ends) answer.affected = static_cast<uint64_t>(sqlite3_changes(database));
  return answer;
}

std::vector<Row> rows_of(sqlite3* database, const std::string& table) {
  std::vector<Row> rows;
  const Answer answer = execute(database, fmt::format("SELECT id, user_id, note FROM {} ORDER BY id", table));
  EXPECT_EQ(answer.kind, Answer::Kind::rows) << answer.message;
  for (const auto& row : answer.rows) rows.push_back({row[0].as_int64(), row[1].as_int64(), row[2].text()});
  return rows;
}

SqliteStore::SqliteStore(std::string name, const rule::RuleSet& rules)
    : name_(std::move(name)), table_(*rules.find_table("shop", "orders")) {
  for (size_t i = 0; i < rules.instances().size(); ++i)
    keepers_.push_back(open(static_cast<rule::InstanceId>(i)));
  for (const auto& slot : table_.slots)
    run(keepers_[slot.instance].get(),
        fmt::format("CREATE TABLE {}.{} (id INTEGER PRIMARY KEY, user_id BIGINT, note VARCHAR(200))",
                    slot.database, slot.table));
}

// The databases of an instance are shared by all its connections, as long as one is open.
Database SqliteStore::open(rule::InstanceId instance) const {
  sqlite3* raw = nullptr;
  EXPECT_EQ(sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                            nullptr),
            SQLITE_OK);
  Database database(raw);
  std::set<std::string> attached{"shop"};
  for (const auto& slot : table_.slots)
    if (slot.instance == instance) attached.insert(slot.database);
  for (const auto& one : attached)
    run(raw, fmt::format("ATTACH 'file:{}-{}-{}?mode=memory&cache=shared' AS {}", name_, instance, one, one));
  run(raw, "PRAGMA read_uncommitted = 1");
  return database;
}

sqlite3* SqliteStore::database_of(const FakeConnection& connection) {
  Database& database = sessions_[&connection];
  if (!database) database = open(connection.connection.instance);
  return database.get();
}

Answer SqliteStore::answer(const FakeConnection& connection, const Received& command) {
  switch (command.command) {
    case protocol::Command::query:
      return execute(database_of(connection), command.sql);
    case protocol::Command::stmt_prepare:
      return execute(database_of(connection), command.sql, true);
    default:
      return {};
  }
}

void SqliteStore::roll_back(const FakeConnection& connection) {
  sqlite3* database = database_of(connection);
  if (in_transaction(database)) run(database, "ROLLBACK");
}

std::vector<Row> SqliteStore::all_rows(std::vector<int64_t>& misplaced) const {
  std::vector<Row> all;
  for (size_t slot = 0; slot < table_.slots.size(); ++slot) {
    const auto& actual = table_.slots[slot];
    for (Row& row : rows_of(keepers_[actual.instance].get(), actual.database + "." + actual.table)) {
      if (static_cast<uint64_t>(row.id) % table_.slots.size() != slot) misplaced.push_back(row.id);
      all.push_back(std::move(row));
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace evenkeel::sim
