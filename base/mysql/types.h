// Column types and flags as they stand on the wire. DO NOT CHANGE THESE VALUES.
#pragma once

#include <cstdint>
#include <string_view>

namespace evenkeel::mysql {

enum class ColumnType : uint8_t {
  decimal = 0,
  tiny = 1,
  short_ = 2,
  long_ = 3,
  float_ = 4,
  double_ = 5,
  null = 6,
  timestamp = 7,
  longlong = 8,
  int24 = 9,
  date = 10,
  time = 11,
  datetime = 12,
  year = 13,
  varchar = 15,
  bit = 16,
  json = 245,
  newdecimal = 246,
  enum_ = 247,
  set = 248,
  tiny_blob = 249,
  medium_blob = 250,
  long_blob = 251,
  blob = 252,
  var_string = 253,
  string = 254,
  geometry = 255,
};

namespace column_flag {
inline constexpr uint16_t not_null = 1;
inline constexpr uint16_t primary_key = 2;
inline constexpr uint16_t unique_key = 4;
inline constexpr uint16_t multiple_key = 8;
inline constexpr uint16_t blob = 16;
inline constexpr uint16_t unsigned_ = 32;
inline constexpr uint16_t zerofill = 64;
inline constexpr uint16_t binary = 128;
inline constexpr uint16_t enum_ = 256;
inline constexpr uint16_t auto_increment = 512;
inline constexpr uint16_t timestamp = 1024;
inline constexpr uint16_t set = 2048;
inline constexpr uint16_t no_default_value = 4096;
inline constexpr uint16_t on_update_now = 8192;
inline constexpr uint16_t num = 32768;
}  // namespace column_flag

// Status flags of OK and EOF packets.
namespace server_status {
inline constexpr uint16_t in_trans = 0x0001;
inline constexpr uint16_t autocommit = 0x0002;
inline constexpr uint16_t more_results = 0x0008;
inline constexpr uint16_t no_good_index_used = 0x0010;
inline constexpr uint16_t no_index_used = 0x0020;
inline constexpr uint16_t cursor_exists = 0x0040;
inline constexpr uint16_t last_row_sent = 0x0080;
inline constexpr uint16_t db_dropped = 0x0100;
inline constexpr uint16_t no_backslash_escapes = 0x0200;
inline constexpr uint16_t metadata_changed = 0x0400;
inline constexpr uint16_t in_trans_readonly = 0x2000;
inline constexpr uint16_t session_state_changed = 0x4000;
}  // namespace server_status

// TINY..LONGLONG, INT24 and YEAR.
bool is_integer(ColumnType type);
bool is_decimal(ColumnType type);
bool is_floating(ColumnType type);
// DATE, TIME, DATETIME, TIMESTAMP.
bool is_temporal(ColumnType type);
// CHAR, VARCHAR, TEXT, BLOB families, ENUM, SET, JSON.
bool is_string(ColumnType type);
// "BIGINT", "VARCHAR" …, for messages.
std::string_view to_string(ColumnType type);

}  // namespace evenkeel::mysql
