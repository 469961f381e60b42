// The commands of a client but PREPARE's family (statement_messages.h). Text is a view into the payload: it
// dies with the packet. Decoding allocates nothing, except where query attributes are sent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/value.h"
#include "base/result.h"
#include "proxy/protocol/capabilities.h"
#include "proxy/protocol/commands.h"
#include "proxy/protocol/handshake_messages.h"
#include "proxy/protocol/response_messages.h"
#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

// The first byte; Command::sleep for an empty payload.
constexpr Command command_of(std::string_view payload) {
  return payload.empty() ? Command::sleep : static_cast<Command>(static_cast<uint8_t>(payload[0]));
}

// A command without a body: PING, QUIT, STATISTICS, RESET_CONNECTION, DEBUG, PROCESS_INFO.
struct PlainCommand {
  Command command = Command::ping;

  bool operator==(const PlainCommand&) const = default;
  static Result<PlainCommand> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

// With capability::query_attributes: named values that travel beside the statement.
struct QueryAttribute {
  std::string name;
  WireType type;
  mysql::Value value;
  bool operator==(const QueryAttribute&) const = default;
};

struct Query {
  std::string_view sql;
  std::vector<QueryAttribute> attributes;

  bool operator==(const Query&) const = default;
  static Result<Query> decode(std::string_view payload, Capabilities capabilities);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct InitDb {
  std::string_view database;

  bool operator==(const InitDb&) const = default;
  static Result<InitDb> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct ChangeUser {
  std::string user;
  std::string auth_response;
  std::string database;
  uint16_t collation = 0;  // 0: not sent
  std::string auth_plugin;
  ConnectAttributes attributes;

  bool operator==(const ChangeUser&) const = default;
  static Result<ChangeUser> decode(std::string_view payload, Capabilities capabilities);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct FieldList {
  std::string_view table;
  std::string_view pattern;  // a LIKE pattern, empty for all

  bool operator==(const FieldList&) const = default;
  static Result<FieldList> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct SetOption {
  static constexpr uint16_t multi_statements_on = 0;
  static constexpr uint16_t multi_statements_off = 1;
  uint16_t option = 0;

  bool operator==(const SetOption&) const = default;
  static Result<SetOption> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

struct ProcessKill {
  uint32_t connection_id = 0;

  bool operator==(const ProcessKill&) const = default;
  static Result<ProcessKill> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities capabilities) const;
};

}  // namespace evenkeel::protocol
