#include "proxy/protocol/commands.h"

namespace evenkeel::protocol {

std::string_view to_string(Command command) {
  switch (command) {
    case Command::sleep:
      return "COM_SLEEP";
    case Command::quit:
      return "COM_QUIT";
    case Command::init_db:
      return "COM_INIT_DB";
    case Command::query:
      return "COM_QUERY";
    case Command::field_list:
      return "COM_FIELD_LIST";
    case Command::create_db:
      return "COM_CREATE_DB";
    case Command::drop_db:
      return "COM_DROP_DB";
    case Command::refresh:
      return "COM_REFRESH";
    case Command::shutdown:
      return "COM_SHUTDOWN";
    case Command::statistics:
      return "COM_STATISTICS";
    case Command::process_info:
      return "COM_PROCESS_INFO";
    case Command::connect:
      return "COM_CONNECT";
    case Command::process_kill:
      return "COM_PROCESS_KILL";
    case Command::debug:
      return "COM_DEBUG";
    case Command::ping:
      return "COM_PING";
    case Command::time:
      return "COM_TIME";
    case Command::delayed_insert:
      return "COM_DELAYED_INSERT";
    case Command::change_user:
      return "COM_CHANGE_USER";
    case Command::binlog_dump:
      return "COM_BINLOG_DUMP";
    case Command::table_dump:
      return "COM_TABLE_DUMP";
    case Command::connect_out:
      return "COM_CONNECT_OUT";
    case Command::register_slave:
      return "COM_REGISTER_SLAVE";
    case Command::stmt_prepare:
      return "COM_STMT_PREPARE";
    case Command::stmt_execute:
      return "COM_STMT_EXECUTE";
    case Command::stmt_send_long_data:
      return "COM_STMT_SEND_LONG_DATA";
    case Command::stmt_close:
      return "COM_STMT_CLOSE";
    case Command::stmt_reset:
      return "COM_STMT_RESET";
    case Command::set_option:
      return "COM_SET_OPTION";
    case Command::stmt_fetch:
      return "COM_STMT_FETCH";
    case Command::daemon:
      return "COM_DAEMON";
    case Command::binlog_dump_gtid:
      return "COM_BINLOG_DUMP_GTID";
    case Command::reset_connection:
      return "COM_RESET_CONNECTION";
    case Command::clone:
      return "COM_CLONE";
    case Command::subscribe_group_replication:
      return "COM_SUBSCRIBE_GROUP_REPLICATION_STREAM";
    case Command::mariadb_stmt_bulk_execute:
      return "COM_STMT_BULK_EXECUTE";
    case Command::mariadb_slave_worker:
      return "COM_SLAVE_WORKER";
    case Command::mariadb_slave_io:
      return "COM_SLAVE_IO";
    case Command::mariadb_slave_sql:
      return "COM_SLAVE_SQL";
    case Command::mariadb_multi:
      return "COM_MULTI";
  }
  return "unknown command";
}

}  // namespace evenkeel::protocol
