// Instances that really store: each is a SQLite database in memory, with one attached database for every
// database of the instance. What the proxy sends is SQL that SQLite understands as it stands, but for the
// brackets around the members of a UNION.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/session/tests/fake_instance.h"
#include "router/rule/rule_set.h"

namespace evenkeel::sim {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// Runs one statement and says what came of it, as a MySQL server would: OK with the number of rows, rows with
// their columns, or an error. With `describe` it is prepared only: its columns, no row.
session::testing::Answer execute(sqlite3* database, const std::string& sql, bool describe = false);

struct Row {
  int64_t id = 0;
  int64_t user_id = 0;
  std::string note;
  bool operator==(const Row&) const = default;
  auto operator<=>(const Row&) const = default;
};

// The rows of `table`, by id.
std::vector<Row> rows_of(sqlite3* database, const std::string& table);

// The instances of one world, each with its part of the table `orders`. Not thread-safe.
class SqliteStore final : public session::testing::Engine {
 public:
  // `name` tells the stores of one process apart.
  SqliteStore(std::string name, const rule::RuleSet& rules);

  session::testing::Answer answer(const session::testing::FakeConnection& connection,
                                  const session::testing::Received& command) override;
  void roll_back(const session::testing::FakeConnection& connection) override;

  // Every row of every table, uncommitted ones too; `misplaced` are those in a table that their id does not
  // name.
  std::vector<Row> all_rows(std::vector<int64_t>& misplaced) const;

 private:
  Database open(rule::InstanceId instance) const;
  sqlite3* database_of(const session::testing::FakeConnection& connection);

  const std::string name_;
  const rule::LogicalTable& table_;
  std::vector<Database> keepers_;  // one for each instance, as long as the store lives
  std::map<const session::testing::FakeConnection*, Database> sessions_;
};

}  // namespace evenkeel::sim
