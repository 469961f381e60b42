#include "base/mysql/error_codes.h"

namespace evenkeel::mysql {

std::string_view sqlstate_of(uint16_t code) {
  switch (code) {
    case er::con_count:
    case er::not_supported_auth_mode:
      return "08004";
    case er::handshake:
    case er::unknown_com:
    case er::server_shutdown:
    case er::net_packet_too_large:
    case er::net_packets_out_of_order:
      return "08S01";
    case er::dbaccess_denied:
    case er::bad_db:
    case er::parse_error:
    case er::empty_query:
    case er::nonuniq_table:
    case er::unknown_character_set:
    case er::user_limit_reached:
    case er::specific_access_denied:
    case er::wrong_value_for_var:
    case er::not_supported_yet:
    case er::savepoint_does_not_exist:
    case er::max_prepared_stmt_count_reached:
      return "42000";
    case er::access_denied:
      return "28000";
    case er::no_db:
      return "3D000";
    case er::bad_null:
    case er::non_uniq:
    case er::dup_entry:
      return "23000";
    case er::table_exists:
      return "42S01";
    case er::bad_field:
      return "42S22";
    case er::unknown_table:
    case er::no_such_table:
      return "42S02";
    case er::wrong_value_count_on_row:
      return "21S01";
    case er::lock_deadlock:
      return "40001";
    case er::data_out_of_range:
    case er::warn_data_out_of_range:
      return "22003";
    case er::query_interrupted:
      return "70100";
    case er::xaer_rmfail:
      return "XAE07";
    case er::cant_change_tx_characteristics:
      return "25001";
    default:
      return "HY000";
  }
}

}  // namespace evenkeel::mysql
