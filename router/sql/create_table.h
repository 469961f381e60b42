// CREATE TABLE as a plain value: what a schema file or SHOW CREATE TABLE says of columns and keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "router/sql/lexer.h"

namespace evenkeel::sql {

// Names and texts are unquoted copies. Type names are lower case and in the server's own spelling: INTEGER is
// "int", BOOL is "tinyint" of length 1, DOUBLE PRECISION is "double", NATIONAL VARCHAR is "varchar".
struct ColumnDefinition {
  std::string name;
  std::string type;
  std::optional<uint32_t> length;    // varchar(20), int(11), decimal(10, …), datetime(6)
  std::optional<uint32_t> decimals;  // decimal(…, 2)
  std::vector<std::string> members;  // enum and set
  bool is_unsigned = false;
  bool zerofill = false;
  bool binary = false;  // CHAR(5) BINARY: the character set's _bin collation
  std::string charset;  // empty when not written
  std::string collate;
  bool nullable = true;  // no NOT NULL written, and not part of the primary key
  bool auto_increment = false;
  bool has_default = false;  // DEFAULT was written, DEFAULT NULL included
  bool default_is_null = false;
  bool generated = false;  // AS (…), GENERATED ALWAYS AS (…)
  bool invisible = false;

  bool operator==(const ColumnDefinition&) const = default;
};

enum class KeyKind : uint8_t { primary, unique, plain, fulltext, spatial };

struct KeyColumn {
  std::string name;     // empty for an expression: KEY ((a + b))
  uint32_t prefix = 0;  // KEY (a(10)); 0: the whole column
  bool operator==(const KeyColumn&) const = default;
};

struct KeyDefinition {
  KeyKind kind = KeyKind::plain;
  std::string name;  // "PRIMARY" for the primary key; empty when the server chooses
  std::vector<KeyColumn> columns;
  bool operator==(const KeyDefinition&) const = default;
};

struct TableDefinition {
  std::string schema;  // empty when not written
  std::string table;
  bool temporary = false;
  bool if_not_exists = false;
  std::vector<ColumnDefinition> columns;
  std::vector<KeyDefinition> keys;  // those of column definitions (a INT UNIQUE) included, in order
  std::string charset;              // DEFAULT CHARACTER SET of the table
  std::string collate;
  std::string engine;  // as written

  bool operator==(const TableDefinition&) const = default;
};

// Parses one CREATE TABLE statement in tokens [part.first, part.last), a `;` at the end allowed. Foreign
// keys, checks, comments, partitions and other table options are skipped. Errors: 1064 for what is no such
// statement, a column defined twice or a key over a column that is not there (1060, 1072); 1235 for LIKE and
// SELECT, which do not say what the columns are.
Result<TableDefinition> parse_create_table(const Tokens& tokens, const LexRules& rules, Span part);

}  // namespace evenkeel::sql
