// Capability bits, negotiated once in the handshake. Wire format: DO NOT CHANGE THESE VALUES.
#pragma once

#include <cstdint>

namespace evenkeel::protocol {

// The lower 32 bits are MySQL's; MariaDB keeps its own in the upper 32 (on the wire they travel in the
// greeting's and the response's last four reserved bytes, and only when `long_password` is off).
using Capabilities = uint64_t;

namespace capability {
inline constexpr Capabilities long_password = 1ULL << 0;  // MariaDB reads it as "the peer is MySQL"
inline constexpr Capabilities found_rows = 1ULL << 1;
inline constexpr Capabilities long_flag = 1ULL << 2;
inline constexpr Capabilities connect_with_db = 1ULL << 3;
inline constexpr Capabilities no_schema = 1ULL << 4;
inline constexpr Capabilities compress = 1ULL << 5;
inline constexpr Capabilities odbc = 1ULL << 6;
inline constexpr Capabilities local_files = 1ULL << 7;
inline constexpr Capabilities ignore_space = 1ULL << 8;
inline constexpr Capabilities protocol_41 = 1ULL << 9;
inline constexpr Capabilities interactive = 1ULL << 10;
inline constexpr Capabilities ssl = 1ULL << 11;
inline constexpr Capabilities ignore_sigpipe = 1ULL << 12;
inline constexpr Capabilities transactions = 1ULL << 13;
inline constexpr Capabilities reserved = 1ULL << 14;
inline constexpr Capabilities secure_connection = 1ULL << 15;
inline constexpr Capabilities multi_statements = 1ULL << 16;
inline constexpr Capabilities multi_results = 1ULL << 17;
inline constexpr Capabilities ps_multi_results = 1ULL << 18;
inline constexpr Capabilities plugin_auth = 1ULL << 19;
inline constexpr Capabilities connect_attrs = 1ULL << 20;
inline constexpr Capabilities plugin_auth_lenenc_data = 1ULL << 21;
inline constexpr Capabilities can_handle_expired_passwords = 1ULL << 22;
inline constexpr Capabilities session_track = 1ULL << 23;
inline constexpr Capabilities deprecate_eof = 1ULL << 24;
inline constexpr Capabilities optional_resultset_metadata = 1ULL << 25;
inline constexpr Capabilities zstd_compression = 1ULL << 26;
inline constexpr Capabilities query_attributes = 1ULL << 27;
inline constexpr Capabilities multi_factor_authentication = 1ULL << 28;
inline constexpr Capabilities progress_obsolete = 1ULL << 29;  // MariaDB before 10.2
inline constexpr Capabilities ssl_verify_server_cert = 1ULL << 30;
inline constexpr Capabilities remember_options = 1ULL << 31;

// MariaDB.
inline constexpr Capabilities mariadb_progress = 1ULL << 32;
inline constexpr Capabilities mariadb_com_multi = 1ULL << 33;
inline constexpr Capabilities mariadb_stmt_bulk_operations = 1ULL << 34;
inline constexpr Capabilities mariadb_extended_metadata = 1ULL << 35;
inline constexpr Capabilities mariadb_cache_metadata = 1ULL << 36;
inline constexpr Capabilities mariadb_bulk_unit_results = 1ULL << 37;

// Never agreed to, on either side: they change the shape of packets in ways that are not read or written here
// (compression, answers without metadata, progress reports, COM_MULTI).
inline constexpr Capabilities unsupported = compress | zstd_compression | optional_resultset_metadata |
                                            multi_factor_authentication | progress_obsolete |
                                            mariadb_progress | mariadb_com_multi | mariadb_cache_metadata |
                                            mariadb_bulk_unit_results;
}  // namespace capability

constexpr bool has(Capabilities set, Capabilities wanted) { return (set & wanted) == wanted; }

}  // namespace evenkeel::protocol
