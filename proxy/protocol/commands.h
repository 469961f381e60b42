// The first byte of every command packet. Wire format: DO NOT CHANGE THESE VALUES.
#pragma once

#include <cstdint>
#include <string_view>

namespace evenkeel::protocol {

enum class Command : uint8_t {
  sleep = 0x00,
  quit = 0x01,
  init_db = 0x02,
  query = 0x03,
  field_list = 0x04,
  create_db = 0x05,
  drop_db = 0x06,
  refresh = 0x07,
  shutdown = 0x08,
  statistics = 0x09,
  process_info = 0x0a,
  connect = 0x0b,
  process_kill = 0x0c,
  debug = 0x0d,
  ping = 0x0e,
  time = 0x0f,
  delayed_insert = 0x10,
  change_user = 0x11,
  binlog_dump = 0x12,
  table_dump = 0x13,
  connect_out = 0x14,
  register_slave = 0x15,
  stmt_prepare = 0x16,
  stmt_execute = 0x17,
  stmt_send_long_data = 0x18,
  stmt_close = 0x19,
  stmt_reset = 0x1a,
  set_option = 0x1b,
  stmt_fetch = 0x1c,
  daemon = 0x1d,
  binlog_dump_gtid = 0x1e,
  reset_connection = 0x1f,
  clone = 0x20,
  subscribe_group_replication = 0x21,
  mariadb_stmt_bulk_execute = 0xfa,
  mariadb_slave_worker = 0xfb,
  mariadb_slave_io = 0xfc,
  mariadb_slave_sql = 0xfd,
  mariadb_multi = 0xfe,
};

// "COM_QUERY" …; "unknown command" for a byte that is none.
std::string_view to_string(Command command);

// No answer is sent to these: STMT_CLOSE, STMT_SEND_LONG_DATA, QUIT.
constexpr bool has_no_answer(Command command) {
  return command == Command::stmt_close || command == Command::stmt_send_long_data ||
         command == Command::quit;
}

}  // namespace evenkeel::protocol
