#include "proxy/control/describe.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

#include "base/mysql/collation.h"
#include "router/rule/names.h"

namespace evenkeel::control {
namespace {

using catalog::Column;
using catalog::Key;
using catalog::Table;
using mysql::ColumnType;

struct TypeName {
  std::string_view name;
  ColumnType type;
  uint32_t width;           // display width where the server does not print one; 0: none
  uint32_t unsigned_width;  // the same of the unsigned type
};

// Types that stand in no row here (GEOMETRY and its kind, UUID, INET6, VECTOR) are taken as opaque.
constexpr std::array<TypeName, 28> type_names = {{
    {"tinyint", ColumnType::tiny, 4, 3},
    {"smallint", ColumnType::short_, 6, 5},
    {"mediumint", ColumnType::int24, 9, 8},
    {"int", ColumnType::long_, 11, 10},
    {"bigint", ColumnType::longlong, 20, 20},
    {"decimal", ColumnType::newdecimal, 0, 0},
    {"float", ColumnType::float_, 12, 12},
    {"double", ColumnType::double_, 22, 22},
    {"bit", ColumnType::bit, 0, 0},
    {"date", ColumnType::date, 10, 10},
    {"time", ColumnType::time, 10, 10},
    {"datetime", ColumnType::datetime, 19, 19},
    {"timestamp", ColumnType::timestamp, 19, 19},
    {"year", ColumnType::year, 4, 4},
    {"char", ColumnType::string, 0, 0},
    {"binary", ColumnType::string, 0, 0},
    {"varchar", ColumnType::varchar, 0, 0},
    {"varbinary", ColumnType::varchar, 0, 0},
    {"tinytext", ColumnType::tiny_blob, 0, 0},
    {"tinyblob", ColumnType::tiny_blob, 0, 0},
    {"text", ColumnType::blob, 0, 0},
    {"blob", ColumnType::blob, 0, 0},
    {"mediumtext", ColumnType::medium_blob, 0, 0},
    {"mediumblob", ColumnType::medium_blob, 0, 0},
    {"longtext", ColumnType::long_blob, 0, 0},
    {"longblob", ColumnType::long_blob, 0, 0},
    {"enum", ColumnType::enum_, 0, 0},
    {"set", ColumnType::set, 0, 0},
}};

uint64_t number(const Cell& cell) {
  uint64_t value = 0;
  if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), value);
  return value;
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// "int(10) unsigned" -> 10; 0 without a number.
uint32_t printed_width(const std::string& type_text) {
  const size_t open = type_text.find('(');
  if (open == std::string::npos) return 0;
  uint32_t width = 0;
  std::from_chars(type_text.data() + open + 1, type_text.data() + type_text.size(), width);
  return width;
}

const TypeName* find_type(std::string_view name) {
  const auto found = std::find_if(type_names.begin(), type_names.end(),
                                  [&](const TypeName& type) { return type.name == name; });
  return found == type_names.end() ? nullptr : &*found;
}

void set_type(Column& column, const std::string& name, const Row& row) {
  const TypeName* type = find_type(name);
  if (type != nullptr) {
    column.type = type->type;
  } else {
    column.type = name == "json" ? ColumnType::json : ColumnType::geometry;
  }
  if (row[6]) {
    column.char_length = static_cast<uint32_t>(std::min<uint64_t>(number(row[6]), UINT32_MAX));
  } else if (is_integer(column.type) || column.type == ColumnType::bit) {
    const uint32_t printed = printed_width(column.type_text);
    column.char_length = printed != 0 || type == nullptr ? printed
                         : column.is_unsigned            ? type->unsigned_width
                                                         : type->width;
  } else if (type != nullptr) {
    column.char_length = type->width;
  }
  if (column.type == ColumnType::newdecimal) {
    column.precision = static_cast<uint8_t>(number(row[7]));
    column.char_length = column.precision;
  }
  if (is_temporal(column.type)) {
    column.decimals = static_cast<uint8_t>(number(row[9]));
    if (column.decimals != 0) column.char_length += column.decimals + 1u;
  } else if (is_floating(column.type)) {
    column.decimals = row[8] ? static_cast<uint8_t>(number(row[8])) : 31;  // 31: not fixed
  } else {
    column.decimals = static_cast<uint8_t>(number(row[8]));
  }
}

bool rolls_back(const std::string& engine) {
  return engine == "InnoDB" || engine == "ROCKSDB" || engine == "TokuDB" || engine == "ndbcluster";
}

// "`a` = 'x' AND `b` IN (…)" on the two columns that name a table.
std::string condition(std::string_view schema_column, std::string_view table_column,
                      const std::string& database, const std::vector<std::string>& names) {
  std::string text = fmt::format("{} = {}", schema_column, quoted(database));
  // One name alone is looked up directly by MariaDB, without reading the whole database.
  if (names.size() == 1) return text + fmt::format(" AND {} = {}", table_column, quoted(names[0]));
  if (names.empty()) return text;
  text += fmt::format(" AND {} IN (", table_column);
  for (size_t i = 0; i < names.size(); ++i) text += (i > 0 ? "," : "") + quoted(names[i]);
  return text + ")";
}

Status read_tables(Connection& connection, const std::string& where, Descriptions& out) {
  EVENKEEL_ASSIGN(const std::vector<Row> rows,
                  connection.query(
                      "SELECT TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE " + where));
  for (const Row& row : rows) {
    Description& description = out[row[0].value_or("")];
    description.is_view = !holds(row[1].value_or(""), "BASE TABLE");
    description.engine = row[2].value_or("");
    description.transactional = rolls_back(description.engine);
  }
  return {};
}

Status read_columns(Connection& connection, const std::string& where, Descriptions& out) {
  EVENKEEL_ASSIGN(const std::vector<Row> rows,
                  connection.query(fmt::format("{} WHERE {} ORDER BY TABLE_NAME, "
                                               "ORDINAL_POSITION",
                                               column_query, where)));
  for (const Row& row : rows) {
    Description& description = out[row.back().value_or("")];
    description.table.columns.push_back(column_of(row));
    description.defaults.push_back(row[4].value_or(""));
    if (holds(row[5].value_or(""), "INVISIBLE")) description.invisible_columns.push_back(row[0].value_or(""));
  }
  return {};
}

// MySQL's STATISTICS gives a functional key part a NULL column name: it stands for no column and is left out.
Status read_keys(Connection& connection, const std::string& where, Descriptions& out) {
  EVENKEEL_ASSIGN(const std::vector<Row> rows,
                  connection.query("SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART FROM "
                                   "information_schema.STATISTICS WHERE " +
                                   where + " ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"));
  for (const Row& row : rows) {
    Table& table = out[row[0].value_or("")].table;
    const std::string name = row[1].value_or("");
    if (table.keys.empty() || table.keys.back().name != name) {
      table.keys.push_back({name, row[2].value_or("1") == "0", {}});
    }
    const auto column = row[3] ? table.index_of(*row[3]) : std::nullopt;
    if (column) table.keys.back().parts.push_back({*column, static_cast<uint32_t>(number(row[4]))});
  }
  // The primary key first, as SHOW CREATE TABLE prints them.
  for (auto& [name, description] : out) {
    auto& keys = description.table.keys;
    std::stable_partition(keys.begin(), keys.end(), [](const Key& key) { return key.name == "PRIMARY"; });
  }
  return {};
}

Status read_triggers(Connection& connection, const std::string& where, Descriptions& out) {
  EVENKEEL_ASSIGN(
      const std::vector<Row> rows,
      connection.query("SELECT DISTINCT EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE " + where));
  for (const Row& row : rows) {
    const auto found = out.find(row[0].value_or(""));
    if (found != out.end()) found->second.table.has_triggers = true;
  }
  return {};
}

std::string shape(const Column& column) {
  std::string text = column.type_text;
  if (column.collation != mysql::collation_binary) text += " " + column.collation_name;
  if (!column.nullable) text += " not null";
  if (column.auto_increment) text += " auto_increment";
  if (column.generated) text += " generated";
  if (column.has_default && !column.nullable) text += " with default";
  return text;
}

std::string shape(const Table& table, const Key& key) {
  std::string text = key.unique ? "unique (" : "(";
  for (size_t i = 0; i < key.parts.size(); ++i) {
    text += (i > 0 ? ", " : "") + table.columns[key.parts[i].column].name;
    if (key.parts[i].prefix != 0) text += fmt::format("({})", key.parts[i].prefix);
  }
  return text + ")";
}

std::string column_difference(const Table& expected, const Table& found) {
  for (const Column& column : expected.columns) {
    const Column* other = found.find_column(column.name);
    if (other == nullptr) return fmt::format("column {} is missing", column.name);
    if (*other != column)
      return fmt::format("column {} is {}, not {}", column.name, shape(*other), shape(column));
  }
  for (const Column& column : found.columns) {
    if (expected.find_column(column.name) == nullptr)
      return fmt::format("column {} is additional", column.name);
  }
  for (size_t i = 0; i < expected.columns.size(); ++i) {
    if (expected.columns[i].name == found.columns[i].name) continue;
    return fmt::format("column {} stands at place {}, where {} should be", found.columns[i].name, i + 1,
                       expected.columns[i].name);
  }
  return {};
}

const Key* find_key(const Table& table, const std::string& name) {
  const auto found =
      std::find_if(table.keys.begin(), table.keys.end(), [&](const Key& key) { return key.name == name; });
  return found == table.keys.end() ? nullptr : &*found;
}

std::string key_difference(const Table& expected, const Table& found) {
  for (const Key& key : expected.keys) {
    const Key* other = find_key(found, key.name);
    if (other == nullptr) return fmt::format("key {} is missing", key.name);
    if (*other != key) {
      return fmt::format("key {} is {}, not {}", key.name, shape(found, *other), shape(expected, key));
    }
  }
  for (const Key& key : found.keys) {
    if (find_key(expected, key.name) == nullptr) return fmt::format("key {} is additional", key.name);
  }
  return {};
}

}  // namespace

const std::string_view column_query =
    "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, "
    "CHARACTER_MAXIMUM_LENGTH, "
    "NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, COLLATION_NAME, TABLE_NAME FROM "
    "information_schema.COLUMNS";

Column column_of(const Row& row) {
  const std::string extra = row[5].value_or("");
  Column column;
  column.name = row[0].value_or("");
  column.type_text = row[2].value_or("");
  column.is_unsigned = holds(column.type_text, " unsigned");
  column.zerofill = holds(column.type_text, " zerofill");
  column.nullable = row[3].value_or("") == "YES";
  column.auto_increment = holds(extra, "auto_increment");
  column.generated = holds(extra, "VIRTUAL GENERATED") || holds(extra, "STORED GENERATED");
  column.has_default = column.nullable || row[4].has_value() || column.auto_increment;
  column.collation_name = row[10].value_or("binary");
  if (const mysql::Collation* collation = mysql::find_collation(column.collation_name)) {
    column.collation = collation->id;
  }
  set_type(column, row[1].value_or(""), row);
  return column;
}

Result<Descriptions> describe_tables(Connection& connection, const std::string& database,
                                     const std::vector<std::string>& names) {
  Descriptions descriptions;
  const std::string tables = condition("TABLE_SCHEMA", "TABLE_NAME", database, names);
  EVENKEEL_TRY(read_tables(connection, tables, descriptions));
  EVENKEEL_TRY(read_columns(connection, tables, descriptions));
  EVENKEEL_TRY(read_keys(connection, tables, descriptions));
  EVENKEEL_TRY(read_triggers(
      connection, condition("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE", database, names), descriptions));
  return descriptions;
}

std::string difference(const Description& expected, const Description& found) {
  const Table& table = expected.table;
  if (auto text = column_difference(table, found.table); !text.empty()) return text;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (expected.defaults[i] == found.defaults[i]) continue;
    return fmt::format("column {} has the default '{}', not '{}'", table.columns[i].name, found.defaults[i],
                       expected.defaults[i]);
  }
  if (auto text = key_difference(table, found.table); !text.empty()) return text;
  if (table.has_triggers != found.table.has_triggers) {
    return found.table.has_triggers ? "it has triggers" : "it has no triggers";
  }
  if (expected.engine != found.engine) {
    return fmt::format("its engine is {}, not {}", found.engine, expected.engine);
  }
  return {};
}

}  // namespace evenkeel::control
