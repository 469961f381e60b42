// What is known of the tables' columns, types, collations and keys: an immutable value with a version.
//
// Filled from one actual table of each logical table (proxy/control) or from a schema file (`--schema`).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/types.h"
#include "base/result.h"

namespace evenkeel::catalog {

struct Column {
  std::string name;
  mysql::ColumnType type = mysql::ColumnType::long_;
  std::string type_text;  // as SHOW CREATE TABLE prints it: "bigint(20) unsigned"
  bool is_unsigned = false;
  bool zerofill = false;
  bool nullable = true;
  bool auto_increment = false;
  bool has_default = false;  // an explicit or implicit (nullable) default exists
  bool generated = false;    // GENERATED ALWAYS AS
  bool invisible = false;    // neither in SELECT * nor in an INSERT without a column list
  uint32_t char_length = 0;  // characters of string types, display width otherwise
  uint8_t decimals = 0;
  uint8_t precision = 0;    // DECIMAL(precision, decimals)
  uint16_t collation = 63;  // id; 63 (binary) for non-strings
  std::string collation_name;

  bool operator==(const Column&) const = default;
};

struct KeyPart {
  uint32_t column = 0;  // index into Table::columns
  uint32_t prefix = 0;  // characters; 0: whole column
  bool operator==(const KeyPart&) const = default;
};

struct Key {
  std::string name;  // "PRIMARY"
  bool unique = false;
  std::vector<KeyPart> parts;
  bool operator==(const Key&) const = default;
};

struct Table {
  std::string name;  // logical
  std::vector<Column> columns;
  std::vector<Key> keys;
  bool has_triggers = false;

  // Names are compared without regard to letter case, as MySQL does for columns. Null / nullopt when absent.
  const Column* find_column(std::string_view column) const;
  std::optional<uint32_t> index_of(std::string_view column) const;
  bool operator==(const Table&) const = default;
};

class Catalog {
 public:
  // `version` is part of the plan cache's key: a refreshed catalog has a larger one.
  explicit Catalog(uint64_t version = 0) : version_(version) {}

  uint64_t version() const { return version_; }
  void add(std::string schema, Table table);
  // Null when unknown. Table names without regard to letter case (sharded tables only are here).
  const Table* find(std::string_view schema, std::string_view table) const;
  const std::map<std::pair<std::string, std::string>, Table>& tables() const { return tables_; }

 private:
  uint64_t version_;
  std::map<std::pair<std::string, std::string>, Table> tables_;  // names in lower case
};

using CatalogPtr = std::shared_ptr<const Catalog>;

// Unique keys of `table` that lack `key_column`: they hold per actual table only.
std::vector<const Key*> unique_keys_without(const Table& table, std::string_view key_column);

}  // namespace evenkeel::catalog
