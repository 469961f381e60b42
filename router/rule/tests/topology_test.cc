#include "router/rule/topology.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

namespace evenkeel::rule {
namespace {

const std::vector<std::string> four = {"ds0", "ds1", "ds2", "ds3"};

TableSettings settings(uint32_t databases, uint32_t tables) {
  TableSettings table;
  table.name = "orders";
  table.key = "id";
  table.topology.instances = four;
  table.topology.databases = databases;
  table.topology.tables = tables;
  table.topology.database_pattern = "shop_{:02}";
  table.topology.table_pattern = "orders_{:03}";
  return table;
}

// "ds0.shop_00.orders_000", or the error.
std::string at(const TableSettings& table, size_t slot) {
  auto slots = expand(table, four);
  if (!slots) return slots.error().message;
  if (slot >= slots->size()) return fmt::format("only {} slots", slots->size());
  const ActualTable& actual = (*slots)[slot];
  return fmt::format("{}.{}.{}", four[actual.instance], actual.database, actual.table);
}

TEST(Contiguous, ReferenceTopology) {
  const TableSettings table = settings(16, 128);
  EXPECT_EQ(expand(table, four)->size(), 128u);
  EXPECT_EQ(at(table, 0), "ds0.shop_00.orders_000");
  EXPECT_EQ(at(table, 7), "ds0.shop_00.orders_007");
  EXPECT_EQ(at(table, 8), "ds0.shop_01.orders_008");
  EXPECT_EQ(at(table, 31), "ds0.shop_03.orders_031");
  EXPECT_EQ(at(table, 32), "ds1.shop_04.orders_032");
  EXPECT_EQ(at(table, 127), "ds3.shop_15.orders_127");
}

TEST(Contiguous, InstancesInTheOrderOfTheTopology) {
  TableSettings table = settings(2, 4);
  table.topology.instances = {"ds3", "ds1"};
  EXPECT_EQ(at(table, 0), "ds3.shop_00.orders_000");
  EXPECT_EQ(at(table, 3), "ds1.shop_01.orders_003");
}

TEST(Contiguous, NumbersWithinTheLevelAbove) {
  TableSettings table = settings(16, 128);
  table.topology.database_number = TopologySettings::DatabaseNumber::within_instance;
  table.topology.table_number = TopologySettings::TableNumber::within_database;
  EXPECT_EQ(at(table, 32), "ds1.shop_00.orders_000");
  EXPECT_EQ(at(table, 127), "ds3.shop_03.orders_007");
}

TEST(Contiguous, WhatCannotBeSharedEvenly) {
  EXPECT_EQ(at(settings(15, 120), 0),
            "15 databases cannot be shared evenly by 4 instances; 12 or 16 would do");
  EXPECT_EQ(at(settings(16, 130), 0),
            "130 tables cannot be shared evenly by 16 databases; 128 or 144 would do");
  EXPECT_EQ(at(settings(16, 9), 0), "9 tables cannot be shared evenly by 16 databases; 16 would do");
  EXPECT_EQ(at(settings(0, 128), 0), "topology needs the numbers of databases and tables, both at least 1");
}

TEST(Digits, TheOtherReadingHas8192Tables) {
  TableSettings table = settings(16, 128);
  table.topology.layout = TopologySettings::Layout::digits;
  table.topology.table_number = TopologySettings::TableNumber::within_database;
  EXPECT_EQ(expand(table, four)->size(), 8192u);
  EXPECT_EQ(at(table, 127), "ds0.shop_00.orders_127");
  EXPECT_EQ(at(table, 128), "ds0.shop_01.orders_000");
  EXPECT_EQ(at(table, 2048), "ds1.shop_16.orders_000");
  EXPECT_EQ(at(table, 8191), "ds3.shop_63.orders_127");
}

TEST(Digits, OrderSaysWhereNeighboursLie) {
  using Digit = TopologySettings::Digit;
  TableSettings table = settings(2, 3);
  table.topology.layout = TopologySettings::Layout::digits;
  table.topology.digit_order = {Digit::table, Digit::database, Digit::instance};
  table.topology.table_number = TopologySettings::TableNumber::within_database;
  EXPECT_EQ(at(table, 0), "ds0.shop_00.orders_000");
  EXPECT_EQ(at(table, 1), "ds1.shop_02.orders_000");
  EXPECT_EQ(at(table, 4), "ds0.shop_01.orders_000");
  EXPECT_EQ(at(table, 8), "ds0.shop_00.orders_001");
  EXPECT_EQ(at(table, 23), "ds3.shop_07.orders_002");
  table.topology.digit_order = {Digit::table, Digit::table, Digit::instance};
  EXPECT_EQ(at(table, 0), "digit_order must name instance, database and table, each once");
}

// Each layout gives every slot an actual table of its own, and every database the same number of them.
TEST(Layouts, AreOneToOne) {
  for (auto layout : {TopologySettings::Layout::contiguous, TopologySettings::Layout::digits}) {
    TableSettings table = settings(8, 64);
    table.topology.layout = layout;
    auto slots = expand(table, four);
    ASSERT_TRUE(slots.has_value());
    std::map<std::pair<InstanceId, std::string>, int> in_database;
    std::map<std::string, int> names;
    for (const ActualTable& actual : *slots) {
      ++in_database[{actual.instance, actual.database}];
      ++names[actual.table];
    }
    EXPECT_EQ(names.size(), slots->size());
    for (const auto& [database, count] : in_database) {
      EXPECT_EQ(static_cast<size_t>(count), slots->size() / in_database.size()) << database.second;
    }
  }
}

TEST(Moduli, CaseC04OnlyPartOfTheTablesReachable) {
  TableSettings table = settings(0, 0);
  table.moduli = {4, 16, 128};
  EXPECT_EQ(
      at(table, 0),
      "only 128 of 8192 tables reachable: instance = key % 4, database = key % 16 and table = key % 128 "
      "repeat "
      "together after 128 keys; write the digits of one number instead: slot = key % 8192, instance = slot / "
      "2048, database = slot / 128 % 16, table = slot % 128 (topology: {layout: digits, databases: 16, "
      "tables: "
      "128})");
}

TEST(Moduli, WithoutACommonFactorReachAll) {
  TableSettings table = settings(0, 0);
  table.moduli = {4, 3, 5};
  EXPECT_EQ(expand(table, four)->size(), 60u);
  EXPECT_EQ(at(table, 59), "ds3.shop_02.orders_004");
  table.moduli = {3, 3, 5};
  EXPECT_EQ(at(table, 0),
            "moduli need instance: 4 (the number of instances named), database and table, all at least 1");
}

TEST(Topology, InstancesMustBeKnownAndDistinct) {
  TableSettings table = settings(4, 4);
  table.topology.instances = {"ds0", "ds9"};
  EXPECT_EQ(at(table, 0), "topology names the instance \"ds9\"; known are ds0, ds1, ds2, ds3");
  table.topology.instances = {"ds0", "ds0"};
  EXPECT_EQ(at(table, 0), "topology names the instance \"ds0\" twice");
  table.topology.instances = {};
  EXPECT_EQ(at(table, 0), "topology names no instance");
}

TEST(Topology, HasALimit) {
  TableSettings table = settings(4, 65536);
  EXPECT_EQ(expand(table, four)->size(), 65536u);
  EXPECT_EQ(at(settings(4, 65540), 0), "65540 tables; at most 65536 are allowed");
  table.topology.layout = TopologySettings::Layout::digits;
  EXPECT_EQ(at(table, 0), "1048576 tables; at most 65536 are allowed");
  table.topology.databases = UINT32_MAX;
  table.topology.tables = UINT32_MAX;
  EXPECT_EQ(at(table, 0), "4294967295 tables; at most 65536 are allowed");
}

}  // namespace
}  // namespace evenkeel::rule
