// What a server answers: OK, ERR, EOF, column definitions, the file request, the answer to PREPARE.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/types.h"
#include "base/result.h"
#include "proxy/protocol/capabilities.h"
#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

// One entry of an OK packet's session state.
struct SessionChange {
  // Wire format: DO NOT CHANGE THESE VALUES. A decoder may meet others; `value` then holds the raw bytes.
  enum class What : uint8_t {
    system_variable = 0,              // name, value
    schema = 1,                       // value
    state_changed = 2,                // value "1"
    gtids = 3,                        // value; the encoding byte (0) is cut off
    transaction_characteristics = 4,  // value: statements that reopen the transaction
    transaction_state = 5,            // value: eight letters
  };
  What what = What::system_variable;
  std::string name;
  std::string value;
  bool operator==(const SessionChange&) const = default;
};

struct Ok {
  uint64_t affected_rows = 0;
  uint64_t last_insert_id = 0;
  uint16_t status = 0;  // mysql::server_status
  uint16_t warnings = 0;
  std::string message;  // "Rows matched: 1  Changed: 1  Warnings: 0"
  std::vector<SessionChange> changes;
  // The header byte: 0x00, or 0xfe when it ends rows under capability::deprecate_eof.
  bool ends_rows = false;

  bool operator==(const Ok&) const = default;
  static Result<Ok> decode(std::string_view payload, Capabilities capabilities);
  // Session changes are written only when `capabilities` has session_track, and the status flag is set
  // accordingly.
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct Err {
  uint16_t code = 0;
  std::string sqlstate;  // empty: not sent (before the capabilities are known)
  std::string message;

  bool operator==(const Err&) const = default;
  // Both forms, with and without SQLSTATE, are understood whatever the capabilities.
  static Result<Err> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;

  // The Error as it goes to a client: code 0 becomes 1105, an empty SQLSTATE is looked up.
  static Err from(const Error& error);
  // As an Error of kind backend (or another) with this code, state and message.
  Error to_error(ErrorKind kind = ErrorKind::backend) const;
};

struct Eof {
  uint16_t warnings = 0;
  uint16_t status = 0;

  bool operator==(const Eof&) const = default;
  static Result<Eof> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

// Type and sign: all that the binary encoding of a cell or parameter depends on.
struct WireType {
  mysql::ColumnType type = mysql::ColumnType::null;
  bool is_unsigned = false;
  bool operator==(const WireType&) const = default;
};

struct ColumnDefinition {
  std::string catalog = "def";
  std::string schema;
  std::string table;           // alias
  std::string original_table;  // physical
  std::string name;            // alias
  std::string original_name;   // physical
  // MariaDB's extended metadata, raw; only with capability::mariadb_extended_metadata.
  std::string extended;
  uint16_t collation = 63;
  uint32_t length = 0;
  mysql::ColumnType type = mysql::ColumnType::var_string;
  uint16_t flags = 0;  // mysql::column_flag
  uint8_t decimals = 0;
  // COM_FIELD_LIST only.
  bool has_default = false;
  std::string default_value;

  WireType wire_type() const { return {type, (flags & mysql::column_flag::unsigned_) != 0}; }
  bool operator==(const ColumnDefinition&) const = default;
  static Result<ColumnDefinition> decode(std::string_view payload, Capabilities capabilities);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

// 0xfb + file name: the server asks for a file of the client.
struct LocalInfileRequest {
  std::string file_name;

  bool operator==(const LocalInfileRequest&) const = default;
  static Result<LocalInfileRequest> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

// The head of a result set.
struct ColumnCount {
  uint64_t columns = 0;  // 1..4096

  bool operator==(const ColumnCount&) const = default;
  static Result<ColumnCount> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct StmtPrepareOk {
  uint32_t statement_id = 0;
  uint16_t columns = 0;
  uint16_t parameters = 0;
  uint16_t warnings = 0;

  bool operator==(const StmtPrepareOk&) const = default;
  static Result<StmtPrepareOk> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

// What a packet is, from its first byte and its length. Where rows may stand, 0x00 and 0xfb begin rows; use
// is_end_of_rows there.
constexpr bool is_err(std::string_view payload) { return !payload.empty() && payload[0] == '\xff'; }
constexpr bool is_ok(std::string_view payload) { return !payload.empty() && payload[0] == '\0'; }
constexpr bool is_eof(std::string_view payload) {
  return !payload.empty() && payload[0] == '\xfe' && payload.size() < 9;
}
// `first`: the packet's first byte; `length`: its frame's length. With deprecate_eof an OK packet (0xfe) ends
// the rows, else an EOF packet; a row may begin with 0xfe too, but only when it is at least 2^24-1 bytes
// long.
constexpr bool is_end_of_rows(uint8_t first, size_t length, Capabilities capabilities) {
  return first == 0xfe && (has(capabilities, capability::deprecate_eof) ? length < 0xffffff : length < 9);
}

}  // namespace evenkeel::protocol
