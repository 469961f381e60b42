// What information_schema says of tables, as catalog values. Both flavours.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/connection.h"
#include "router/catalog/catalog.h"

namespace evenkeel::control {

// A table as read: its value, and what the catalog has no place for.
struct Description {
  catalog::Table table;
  bool is_view = false;
  bool transactional = true;  // its engine is InnoDB or another that rolls back
  std::string engine;
  std::vector<std::string> invisible_columns;
  std::vector<std::string> defaults;  // of each column, as the server prints it; empty: none
};

// By name as the server spells it; in lower case where the server folds names.
using Descriptions = std::map<std::string, Description>;

// The tables `names` of `database`, or all of them when `names` is empty; absent ones are absent. Four
// queries.
Result<Descriptions> describe_tables(Connection& connection, const std::string& database,
                                     const std::vector<std::string>& names);

// One row of COLUMNS (see column_query) as a column. Pure; for tests.
catalog::Column column_of(const Row& row);
extern const std::string_view column_query;

// What differs between two tables that should be alike, in a few words; empty: nothing. Names of tables do
// not count.
std::string difference(const Description& expected, const Description& found);

}  // namespace evenkeel::control
