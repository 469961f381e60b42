#include "proxy/control/table_checks.h"

#include <gtest/gtest.h>

#include "base/mysql/collation.h"

namespace evenkeel::control {
namespace {

using mysql::ColumnType;

catalog::Column column(std::string name, ColumnType type, std::string type_text) {
  catalog::Column made;
  made.name = std::move(name);
  made.type = type;
  made.type_text = std::move(type_text);
  made.nullable = false;
  return made;
}

catalog::Column text_column(std::string name, std::string collation) {
  catalog::Column made = column(std::move(name), ColumnType::varchar, "varchar(40)");
  made.collation_name = std::move(collation);
  made.collation = mysql::find_collation(made.collation_name)->id;
  return made;
}

// orders(id bigint primary key, code varchar(40) unique …)
Description orders() {
  Description made;
  made.engine = "InnoDB";
  made.table.columns = {column("id", ColumnType::longlong, "bigint(20)"), text_column("code", "utf8mb4_bin"),
                        column("qty", ColumnType::long_, "int(11)")};
  made.defaults = {"", "", ""};
  made.table.keys = {{"PRIMARY", true, {{0, 0}}}};
  return made;
}

rule::LogicalTable rules(std::string key, const std::string& algorithm = "mod") {
  rule::LogicalTable made;
  made.schema = "shop";
  made.name = "orders";
  made.key_column = std::move(key);
  made.algorithm = *rule::make_algorithm(algorithm, 8);
  return made;
}

std::string checked(const rule::LogicalTable& table, const Description& found) {
  std::vector<Finding> findings;
  check_table(table, found, "shop_0.orders_0 on ds0", findings);
  return to_text(findings);
}

TEST(TableChecks, AFitTableHasNoFindings) {
  EXPECT_EQ(checked(rules("id"), orders()), "");
  EXPECT_EQ(checked(rules("ID"), orders()), "") << "columns' letter case does not count";
}

TEST(TableChecks, ColumnsOfTheRulesMustExist) {
  rule::LogicalTable table = rules("order_id");
  table.generated_column = "number";
  table.accept_table_unique = true;
  EXPECT_EQ(checked(table, orders()),
            "error: the sharding column order_id of shop.orders does not exist in shop_0.orders_0 on ds0\n"
            "error: the generated key number of shop.orders does not exist in shop_0.orders_0 on ds0");
}

TEST(TableChecks, TheShardingColumnSuitsTheAlgorithm) {
  rule::LogicalTable by_code = rules("code");
  by_code.accept_table_unique = true;
  EXPECT_EQ(checked(by_code, orders()),
            "error: the sharding column code of shop.orders is varchar(40) (shop_0.orders_0 on ds0): mod "
            "takes integers");
  rule::LogicalTable hashed = rules("code", "hash_mod");
  hashed.accept_table_unique = true;
  EXPECT_EQ(checked(hashed, orders()), "");
  Description folded = orders();
  folded.table.columns[1] = text_column("code", "utf8mb4_general_ci");
  EXPECT_EQ(checked(hashed, folded),
            "error: the sharding column code of shop.orders is varchar(40) (shop_0.orders_0 on ds0) with the "
            "collation "
            "utf8mb4_general_ci: texts that compare equal there could lie in different tables; use a _bin or "
            "binary "
            "collation");
  Description decimal = orders();
  decimal.table.columns[0] = column("id", ColumnType::newdecimal, "decimal(20,0)");
  EXPECT_EQ(checked(rules("id", "hash_mod"), decimal),
            "error: the sharding column id of shop.orders is decimal(20,0) (shop_0.orders_0 on ds0): "
            "hash_mod takes "
            "integers, CHAR, VARCHAR, BINARY and VARBINARY");
}

TEST(TableChecks, GeneratedKeysAreBigint) {
  rule::LogicalTable table = rules("id");
  table.generated_column = "id";
  EXPECT_EQ(checked(table, orders()), "");
  Description narrow = orders();
  narrow.table.columns[0] = column("id", ColumnType::long_, "int(11)");
  EXPECT_EQ(
      checked(table, narrow),
      "error: the generated key id of shop.orders is int(11) (shop_0.orders_0 on ds0); ids need a BIGINT");
}

TEST(TableChecks, UniqueKeysWithoutTheShardingColumn) {
  Description unique = orders();
  unique.table.keys.push_back({"code", true, {{1, 0}}});
  unique.table.keys.push_back({"both", true, {{1, 0}, {0, 0}}});
  unique.table.keys.push_back({"plain", false, {{1, 0}}});
  EXPECT_EQ(checked(rules("id"), unique),
            "error: unique key code of shop.orders lacks the sharding column id: it holds within one actual "
            "table only. "
            "Add the column to the key, or accept it with unique_scope: table");
  rule::LogicalTable accepted = rules("id");
  accepted.accept_table_unique = true;
  EXPECT_EQ(checked(accepted, unique), "");
}

// The id carries the slot of qty and is unique by its making.
TEST(TableChecks, AGeneratedPrimaryKeyNeedsNoShardingColumn) {
  rule::LogicalTable by_qty = rules("qty");
  EXPECT_NE(checked(by_qty, orders()), "");
  by_qty.generated_column = "id";
  EXPECT_EQ(checked(by_qty, orders()), "");
}

TEST(TableChecks, WhatDeservesALook) {
  Description odd = orders();
  odd.engine = "MyISAM";
  odd.transactional = false;
  odd.table.columns[2].auto_increment = true;
  odd.table.columns[0].nullable = true;
  EXPECT_EQ(checked(rules("id"), odd),
            "warning: shop_0.orders_0 on ds0 of shop.orders has the engine MyISAM: what was written there "
            "cannot be rolled "
            "back\n"
            "warning: the sharding column id of shop.orders is bigint(20) (shop_0.orders_0 on ds0): it may "
            "be NULL, but a "
            "row with NULL there belongs to no table and is refused\n"
            "warning: column qty of shop.orders is AUTO_INCREMENT and has no generator: each actual table "
            "counts by "
            "itself, so values repeat");
}

TEST(TableChecks, WhatIsNotSupported) {
  Description odd = orders();
  odd.invisible_columns = {"qty"};
  EXPECT_EQ(checked(rules("id"), odd),
            "error: column qty of shop.orders is invisible (shop_0.orders_0 on ds0): that is not supported "
            "in a sharded "
            "table");
  odd = orders();
  odd.is_view = true;
  EXPECT_EQ(checked(rules("id"), odd),
            "error: shop_0.orders_0 on ds0 of shop.orders is a view; sharded tables must be base tables");
}

TEST(Difference, IsNamed) {
  EXPECT_EQ(difference(orders(), orders()), "");
  Description other = orders();
  other.table.columns.pop_back();
  other.defaults.pop_back();
  EXPECT_EQ(difference(orders(), other), "column qty is missing");
  EXPECT_EQ(difference(other, orders()), "column qty is additional");
  other = orders();
  other.table.columns[2].type_text = "int(10) unsigned";
  other.table.columns[2].is_unsigned = true;
  EXPECT_EQ(difference(orders(), other), "column qty is int(10) unsigned not null, not int(11) not null");
  other = orders();
  std::swap(other.table.columns[1], other.table.columns[2]);
  EXPECT_EQ(difference(orders(), other), "column qty stands at place 2, where code should be");
  other = orders();
  other.defaults[2] = "7";
  EXPECT_EQ(difference(orders(), other), "column qty has the default '7', not ''");
  other = orders();
  other.table.keys[0].parts.push_back({2, 0});
  EXPECT_EQ(difference(orders(), other), "key PRIMARY is unique (id, qty), not unique (id)");
  other = orders();
  other.table.keys.push_back({"k", false, {{1, 5}}});
  EXPECT_EQ(difference(orders(), other), "key k is additional");
  EXPECT_EQ(difference(other, orders()), "key k is missing");
  other = orders();
  other.table.has_triggers = true;
  EXPECT_EQ(difference(orders(), other), "it has triggers");
  other = orders();
  other.engine = "MyISAM";
  EXPECT_EQ(difference(orders(), other), "its engine is MyISAM, not InnoDB");
}

}  // namespace
}  // namespace evenkeel::control
