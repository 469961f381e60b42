#include "router/rule/rule_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel::rule {
namespace {

using ::testing::HasSubstr;

TableSettings table(std::string name, uint32_t tables = 8) {
  TableSettings settings;
  settings.topology.instances = {"ds0", "ds1"};
  settings.topology.databases = 4;
  settings.topology.tables = tables;
  settings.topology.database_pattern = "shop_{}";
  settings.topology.table_pattern = name + "_{}";
  settings.name = std::move(name);
  settings.key = "id";
  settings.where = "shop.yaml:1:1: tables";
  return settings;
}

Settings shop(std::vector<TableSettings> tables) {
  Settings settings;
  settings.instances = {"ds0", "ds1"};
  settings.schemas.push_back({"shop", "ds1", std::move(tables), "shop.yaml:9:9: schemas"});
  return settings;
}

std::string refusal(const Settings& settings) {
  auto rules = RuleSet::build(settings);
  return rules ? "built" : rules.error().message;
}

TEST(RuleSet, HoldsWhatWasConfigured) {
  TableSettings orders = table("orders");
  orders.generated_column = "id";
  orders.generator = "order_ids";
  auto rules = RuleSet::build(shop({orders, table("lines")}));
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  ASSERT_EQ((*rules)->schemas().size(), 1u);
  EXPECT_EQ((*rules)->schemas()[0].default_instance, 1);
  const LogicalTable* found = (*rules)->find_table("shop", "orders");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->slot_count(), 8u);
  EXPECT_EQ(found->algorithm->slots(), 8u);
  EXPECT_TRUE(found->key_is_generated());
  EXPECT_EQ(found->slots[7], (ActualTable{1, "shop_3", "orders_7"}));
}

TEST(RuleSet, FindsNamesWithoutRegardToLetterCase) {
  auto rules = *RuleSet::build(shop({table("Orders")}));
  EXPECT_NE(rules->find_schema("SHOP"), nullptr);
  EXPECT_EQ(rules->find_table("Shop", "oRDERS"), rules->find_table("shop", "Orders"));
  EXPECT_EQ(rules->find_table("shop", "orders_1"), nullptr);
  EXPECT_EQ(rules->find_table("other", "orders"), nullptr);
  EXPECT_EQ(rules->find_schema("other"), nullptr);
}

TEST(RuleSet, RefusesNamesThatDifferInLetterCaseAlone) {
  EXPECT_EQ(refusal(shop({table("orders"), table("ORDERS")})),
            "shop.yaml:1:1: tables: table \"ORDERS\" and table \"orders\" of schema \"shop\" have one name "
            "(letter case "
            "does not count)");
  Settings twice = shop({});
  twice.schemas.push_back({"Shop", "ds0", {}, "x"});
  EXPECT_THAT(refusal(twice), HasSubstr("schema \"Shop\" and schema \"shop\" have one name"));
}

TEST(RuleSet, RefusesOneActualTableForTwoSlots) {
  TableSettings same_names = table("orders");
  same_names.topology.table_pattern = "orders";
  EXPECT_EQ(refusal(shop({same_names})),
            "shop.yaml:1:1: tables: actual table shop_0.orders on ds0 stands for slot 0 of shop.orders and "
            "for slot 1 of "
            "shop.orders");
  TableSettings thief = table("thief");
  thief.topology.table_pattern = "ORDERS_{}";
  EXPECT_THAT(
      refusal(shop({table("orders"), thief})),
      HasSubstr("actual table shop_0.ORDERS_0 on ds0 stands for slot 0 of shop.orders and for slot 0 of "
                "shop.thief"));
}

TEST(RuleSet, AllowsOneTableNameInEveryDatabase) {
  TableSettings one_each = table("orders", 4);
  one_each.topology.table_pattern = "orders";
  EXPECT_EQ(refusal(shop({one_each})), "built");
}

TEST(RuleSet, KeepsTheLogicalNameFreeInTheLogicalSchema) {
  TableSettings leftover = table("orders", 2);
  leftover.topology.databases = 2;
  leftover.topology.database_pattern = "shop";
  leftover.topology.table_pattern = "orders";
  EXPECT_EQ(refusal(shop({leftover})),
            "shop.yaml:1:1: tables: actual table shop.orders on ds1 has the name of the logical table "
            "shop.orders in the "
            "logical schema itself; give it another table_pattern or database_pattern");
  leftover.topology.table_pattern = "orders_{}";
  EXPECT_EQ(refusal(shop({leftover})), "built");
}

TEST(RuleSet, ChecksSchemas) {
  Settings settings = shop({});
  settings.schemas[0].default_instance = "ds7";
  EXPECT_EQ(
      refusal(settings),
      "shop.yaml:9:9: schemas: default instance \"ds7\" of schema \"shop\" is unknown; known are ds0, ds1");
  settings = shop({});
  settings.schemas[0].name = "MySQL";
  EXPECT_THAT(refusal(settings), HasSubstr("schema \"MySQL\" belongs to the server itself"));
}

TEST(RuleSet, ChecksInstances) {
  EXPECT_EQ(refusal(Settings{}), "no instance is configured");
  Settings settings = shop({});
  settings.instances.push_back("ds0");
  EXPECT_THAT(refusal(settings), HasSubstr("instance \"ds0\" is configured twice"));
}

TEST(RuleSet, ReportsAllProblemsAtOnce) {
  TableSettings first = table("a/b");
  TableSettings second = table("second", 9);
  TableSettings third = table("third");
  third.algorithm = "modulo";
  third.generated_column = "id";
  const std::string message = refusal(shop({first, second, third}));
  EXPECT_THAT(message, HasSubstr("table \"a/b\": the name holds the character /"));
  EXPECT_THAT(message, HasSubstr("9 tables cannot be shared evenly by 4 databases"));
  EXPECT_THAT(message, HasSubstr("unknown sharding algorithm \"modulo\""));
  EXPECT_THAT(message, HasSubstr("generated key of table \"third\" names no generator"));
}

TEST(RuleSet, BoundTablesAreShardedAlike) {
  TableSettings orders = table("orders");
  TableSettings lines = table("lines");
  orders.binding = lines.binding = "order";
  TableSettings loose = table("loose");
  auto rules = RuleSet::build(shop({orders, lines, loose}));
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ((*rules)->find_table("shop", "orders")->binding_group, 1u);
  EXPECT_EQ((*rules)->find_table("shop", "lines")->binding_group, 1u);
  EXPECT_EQ((*rules)->find_table("shop", "loose")->binding_group, 0u);

  lines.algorithm = "hash_mod";
  EXPECT_THAT(refusal(shop({orders, lines})), HasSubstr("is sharded by hash_mod, the other by mod"));
  lines.algorithm = "mod";
  lines.topology.tables = 16;
  EXPECT_THAT(refusal(shop({orders, lines})), HasSubstr("has 16 tables, the other 8"));
  lines.topology.tables = 8;
  lines.topology.instances = {"ds1", "ds0"};
  EXPECT_THAT(refusal(shop({orders, lines})),
              HasSubstr("has slot 0 in database shop_0, the other in shop_0 of another "
                        "instance"));
}

}  // namespace
}  // namespace evenkeel::rule
