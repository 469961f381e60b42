// The commands of prepared statements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/value.h"
#include "base/result.h"
#include "proxy/protocol/command_messages.h"

namespace evenkeel::protocol {

struct StmtPrepare {
  std::string_view sql;

  bool operator==(const StmtPrepare&) const = default;
  static Result<StmtPrepare> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

// What the receiver of an EXECUTE must know of the statement.
struct ExecuteFacts {
  uint16_t parameters = 0;
  // Types of the execute before, empty when there was none: a client sends types once.
  std::span<const WireType> remembered;
  // What SEND_LONG_DATA brought, by parameter; empty, or one entry a parameter. Such a parameter has no bytes
  // in the EXECUTE packet.
  std::span<const std::optional<std::string>> long_data;
};

struct StmtExecute {
  // Bits of `flags`. Wire format: DO NOT CHANGE THESE VALUES.
  static constexpr uint8_t cursor_read_only = 0x01;
  static constexpr uint8_t cursor_for_update = 0x02;
  static constexpr uint8_t cursor_scrollable = 0x04;
  static constexpr uint8_t parameter_count_available = 0x08;

  uint32_t statement_id = 0;
  uint8_t flags = 0;
  uint32_t iterations = 1;
  // The packet carried types (the receiver remembers `types` for the next execute).
  bool new_types = false;
  std::vector<WireType> types;  // one a parameter: sent now, or remembered
  // One a parameter. Integers become int64 or uint64 by the unsigned flag; BLOB types become Kind::bytes,
  // other text Kind::string; temporals the text that MySQL would print.
  std::vector<mysql::Value> values;
  std::vector<QueryAttribute> attributes;

  bool operator==(const StmtExecute&) const = default;

  // The statement's id, which is needed to find its facts: the command's bytes 1..4.
  static Result<uint32_t> statement_id_of(std::string_view payload);
  // Errors (kind statement, 1210 "Incorrect arguments to mysqld_stmt_execute"): a packet that is short, no
  // types although none are remembered, a type that is no parameter type, a temporal outside its range.
  static Result<StmtExecute> decode(std::string_view payload, Capabilities capabilities,
                                    const ExecuteFacts& facts);
  // Always sends the types. Values that are not of the encoding of their type in `types` are an error; leave
  // `types` empty to have them chosen by type_for.
  void encode(WireWriter& out, Capabilities capabilities) const;
};

// The parameter type under which a value is sent to an instance: LONGLONG, NEWDECIMAL, DOUBLE, FLOAT,
// VAR_STRING, BLOB, DATE, DATETIME, TIME, NULL; temporals whose text is not in MySQL's canonical form go as
// VAR_STRING.
WireType type_for(const mysql::Value& value);

// EXECUTE towards an instance without building a message: types by type_for.
void encode_execute(WireWriter& out, uint32_t statement_id, uint8_t flags,
                    std::span<const mysql::Value> values, Capabilities capabilities);

struct StmtSendLongData {
  uint32_t statement_id = 0;
  uint16_t parameter = 0;
  std::string_view bytes;

  bool operator==(const StmtSendLongData&) const = default;
  static Result<StmtSendLongData> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct StmtClose {
  uint32_t statement_id = 0;

  bool operator==(const StmtClose&) const = default;
  static Result<StmtClose> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct StmtReset {
  uint32_t statement_id = 0;

  bool operator==(const StmtReset&) const = default;
  static Result<StmtReset> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct StmtFetch {
  uint32_t statement_id = 0;
  uint32_t rows = 0;

  bool operator==(const StmtFetch&) const = default;
  static Result<StmtFetch> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

}  // namespace evenkeel::protocol
