// MySQL error numbers that this program itself raises or tests for. Numbers are wire format: do not change.
#pragma once

#include <cstdint>
#include <string_view>

namespace evenkeel::mysql {

namespace er {
inline constexpr uint16_t con_count = 1040;
inline constexpr uint16_t handshake = 1043;
inline constexpr uint16_t dbaccess_denied = 1044;
inline constexpr uint16_t access_denied = 1045;
inline constexpr uint16_t no_db = 1046;
inline constexpr uint16_t unknown_com = 1047;
inline constexpr uint16_t bad_null = 1048;
inline constexpr uint16_t bad_db = 1049;
inline constexpr uint16_t table_exists = 1050;
inline constexpr uint16_t non_uniq = 1052;
inline constexpr uint16_t server_shutdown = 1053;
inline constexpr uint16_t bad_field = 1054;
inline constexpr uint16_t dup_entry = 1062;
inline constexpr uint16_t parse_error = 1064;
inline constexpr uint16_t empty_query = 1065;
inline constexpr uint16_t nonuniq_table = 1066;
inline constexpr uint16_t no_such_thread = 1094;
inline constexpr uint16_t kill_denied = 1095;
inline constexpr uint16_t unknown_error = 1105;
inline constexpr uint16_t unknown_table = 1109;
inline constexpr uint16_t unknown_character_set = 1115;
inline constexpr uint16_t wrong_value_count_on_row = 1136;
inline constexpr uint16_t no_such_table = 1146;
inline constexpr uint16_t net_packet_too_large = 1153;
inline constexpr uint16_t net_packets_out_of_order = 1156;
inline constexpr uint16_t unknown_system_variable = 1193;
inline constexpr uint16_t lock_wait_timeout = 1205;
inline constexpr uint16_t wrong_arguments = 1210;
inline constexpr uint16_t lock_deadlock = 1213;
inline constexpr uint16_t cant_update_with_readlock = 1223;
inline constexpr uint16_t user_limit_reached = 1226;
inline constexpr uint16_t specific_access_denied = 1227;
inline constexpr uint16_t wrong_value_for_var = 1231;
inline constexpr uint16_t not_supported_yet = 1235;
inline constexpr uint16_t unknown_stmt_handler = 1243;
inline constexpr uint16_t warn_data_out_of_range = 1264;
inline constexpr uint16_t unsupported_ps = 1295;
inline constexpr uint16_t unknown_collation = 1273;
inline constexpr uint16_t warn_deprecated_syntax = 1287;
inline constexpr uint16_t query_interrupted = 1317;
inline constexpr uint16_t truncated_wrong_value_for_field = 1366;
inline constexpr uint16_t no_default_for_field = 1364;
inline constexpr uint16_t xaer_rmfail = 1399;
inline constexpr uint16_t savepoint_does_not_exist = 1305;
inline constexpr uint16_t no_partition_for_given_value = 1526;
inline constexpr uint16_t cant_change_tx_characteristics = 1568;
inline constexpr uint16_t binlog_unsafe_statement = 1592;
inline constexpr uint16_t need_reprepare = 1615;
inline constexpr uint16_t warn_deprecated_no_replacement = 1681;
inline constexpr uint16_t max_prepared_stmt_count_reached = 1461;
inline constexpr uint16_t malformed_packet = 1835;
inline constexpr uint16_t not_supported_auth_mode = 1251;
inline constexpr uint16_t secure_transport_required = 3159;
inline constexpr uint16_t query_timeout = 3024;
inline constexpr uint16_t deprecated_utf8_alias = 3719;
inline constexpr uint16_t warn_deprecated_collation = 3778;
inline constexpr uint16_t data_out_of_range = 1690;
inline constexpr uint16_t table_def_changed = 1412;
// An instance cannot be reached, or is lost in the middle. Not 2003 and 2013: codes from 2000 on belong to
// client libraries, which take a server that sends them for broken.
inline constexpr uint16_t connect_to_foreign_data_source = 1429;
inline constexpr uint16_t query_on_foreign_data_source = 1430;
}  // namespace er

// The SQLSTATE that MySQL sends with an error number; "HY000" where the table has none.
std::string_view sqlstate_of(uint16_t code);

}  // namespace evenkeel::mysql
