// What the configuration says of schemas and tables, before it is checked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
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

// What the algorithms range, list and interval are told; mod and hash_mod need nothing. Each algorithm's file
// says what it takes.
struct AlgorithmParameters {
  // range: ascending. One fewer than the slots: open at both ends. One more: the first and the last bound are
  // the ends, and values outside belong to no slot.
  std::vector<int64_t> bounds;
  // list: the values of each slot.
  using ListValue = std::variant<int64_t, std::string>;
  std::vector<std::vector<ListValue>> lists;
  std::optional<uint32_t> otherwise;  // list: the slot of all other values; without it they belong to none
  // interval: slot i holds [start + i * every units, start + (i+1) * every units).
  std::string start;  // "2026-01-01" or "2026-01-01 12:00:00"
  uint32_t every = 0;
  enum class Unit : uint8_t { hour, day, month, year } unit = Unit::day;
  bool cycle = false;  // interval: after the last slot comes the first again, and before the first the last

  bool empty() const { return bounds.empty() && lists.empty() && !otherwise && start.empty() && every == 0; }
};

// How the generated key of a table that another column shards carries what decides the slot.
struct GeneSettings {
  enum class Method : uint8_t { shared, blocks, classes } method = Method::shared;
  // The key carries `sharding key mod modulus`; 0: the number of slots, by whatever algorithm.
  uint32_t modulus = 0;
  // Every key of the table carries its gene, so that a condition on the key names the table too. Rows whose
  // own keys do not carry it are refused.
  bool routes = false;
  bool operator==(const GeneSettings&) const = default;
};

struct TableSettings {
  std::string name;
  std::string key;  // sharding column
  std::string algorithm = "mod";
  AlgorithmParameters algorithm_parameters;
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
  GeneSettings gene;
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
