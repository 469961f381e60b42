// What the configuration says of schemas and tables, before it is checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::rule {

// How slot numbers are cut into (instance, database, table).
struct TopologySettings {
  std::vector<std::string> instances;  // instance names in order
  // Layout contiguous: both counted in all. Layout digits: databases within an instance, tables within a
  // database.
  uint32_t databases = 0;
  uint32_t tables = 0;
  // contiguous: tables 0..k-1 in the first database, databases 0..j-1 on the first instance.
  // digits: slot = (instance, database within it, table within it) as digits of a mixed radix number.
  enum class Layout : uint8_t { contiguous, digits } layout = Layout::contiguous;
  // Layout digits: which digit stands where, the most significant first. In the order given here neighbouring
  // slots lie in one database, as in the contiguous layout; {table, database, instance} spreads neighbours
  // over the instances (instance = id mod instances, …).
  enum class Digit : uint8_t { instance, database, table };
  std::array<Digit, 3> digit_order = {Digit::instance, Digit::database, Digit::table};

  std::string database_pattern;  // "shop_{:02}": database number
  std::string table_pattern;     // "orders_{:03}": table number
  // What the numbers in the names count.
  enum class DatabaseNumber : uint8_t { global, within_instance } database_number = DatabaseNumber::global;
  enum class TableNumber : uint8_t { global, within_database } table_number = TableNumber::global;
};

struct TableSettings {
  std::string name;
  std::string key;  // sharding column
  std::string algorithm = "mod";
  TopologySettings topology;
  // Where instance, database and table are each given as an expression of their own (`id % 4`, `id % 16`, …)
  // instead of a topology: moduli, checked over one period and refused when tables are unreachable (case
  // C04). All 0: the topology's layout holds; else its instances and name patterns are used with these.
  struct Moduli {
    uint32_t instance = 0;
    uint32_t database = 0;
    uint32_t table = 0;
    bool any() const { return instance != 0 || database != 0 || table != 0; }
  } moduli;
  std::string generated_column;  // empty: no generated key
  std::string generator;
  bool unique_scope_table = false;
  std::string binding;  // name of the binding group; empty: none
  std::string where;    // "file:line:column: path" for messages
};

struct SchemaSettings {
  std::string name;
  std::string default_instance;
  std::vector<TableSettings> tables;
  std::string where;
};

struct Settings {
  std::vector<std::string> instances;
  std::vector<SchemaSettings> schemas;
};

}  // namespace evenkeel::rule
