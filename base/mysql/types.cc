#include "base/mysql/types.h"

namespace evenkeel::mysql {

bool is_integer(ColumnType type) {
  switch (type) {
    case ColumnType::tiny:
    case ColumnType::short_:
    case ColumnType::long_:
    case ColumnType::longlong:
    case ColumnType::int24:
    case ColumnType::year:
      return true;
    default:
      return false;
  }
}

bool is_decimal(ColumnType type) { return type == ColumnType::decimal || type == ColumnType::newdecimal; }

bool is_floating(ColumnType type) { return type == ColumnType::float_ || type == ColumnType::double_; }

bool is_temporal(ColumnType type) {
  return type == ColumnType::date || type == ColumnType::time || type == ColumnType::datetime ||
         type == ColumnType::timestamp;
}

bool is_string(ColumnType type) {
  switch (type) {
    case ColumnType::varchar:
    case ColumnType::json:
    case ColumnType::enum_:
    case ColumnType::set:
    case ColumnType::tiny_blob:
    case ColumnType::medium_blob:
    case ColumnType::long_blob:
    case ColumnType::blob:
    case ColumnType::var_string:
    case ColumnType::string:
      return true;
    default:
      return false;
  }
}

std::string_view to_string(ColumnType type) {
  switch (type) {
    case ColumnType::decimal:
    case ColumnType::newdecimal:
      return "DECIMAL";
    case ColumnType::tiny:
      return "TINYINT";
    case ColumnType::short_:
      return "SMALLINT";
    case ColumnType::long_:
      return "INT";
    case ColumnType::float_:
      return "FLOAT";
    case ColumnType::double_:
      return "DOUBLE";
    case ColumnType::null:
      return "NULL";
    case ColumnType::timestamp:
      return "TIMESTAMP";
    case ColumnType::longlong:
      return "BIGINT";
    case ColumnType::int24:
      return "MEDIUMINT";
    case ColumnType::date:
      return "DATE";
    case ColumnType::time:
      return "TIME";
    case ColumnType::datetime:
      return "DATETIME";
    case ColumnType::year:
      return "YEAR";
    case ColumnType::varchar:
    case ColumnType::var_string:
      return "VARCHAR";
    case ColumnType::bit:
      return "BIT";
    case ColumnType::json:
      return "JSON";
    case ColumnType::enum_:
      return "ENUM";
    case ColumnType::set:
      return "SET";
    case ColumnType::tiny_blob:
      return "TINYBLOB";
    case ColumnType::medium_blob:
      return "MEDIUMBLOB";
    case ColumnType::long_blob:
      return "LONGBLOB";
    case ColumnType::blob:
      return "BLOB";
    case ColumnType::string:
      return "CHAR";
    case ColumnType::geometry:
      return "GEOMETRY";
  }
  return "unknown type";
}

}  // namespace evenkeel::mysql
