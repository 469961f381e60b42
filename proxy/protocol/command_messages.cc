#include "proxy/protocol/command_messages.h"

#include "proxy/protocol/parameters.h"

namespace evenkeel::protocol {
namespace {

// A reader behind the command byte; bad when that is another.
WireReader body_of(std::string_view payload, Command command) {
  WireReader in(payload);
  if (static_cast<Command>(in.int1()) != command) in.set_bad();
  return in;
}

void put(WireWriter& out, Command command) { out.int1(static_cast<uint8_t>(command)); }

Error bad(Command command) { return malformed(to_string(command)); }

std::vector<QueryAttribute> read_attributes(WireReader& in) {
  std::vector<QueryAttribute> attributes;
  const uint64_t count = in.lenenc_int();
  const uint64_t sets = in.lenenc_int();
  if (sets != 1) in.set_bad();
  if (count == 0 || !in.ok()) return attributes;
  ParameterBlock block = read_parameters(in, count, true, {}, {});
  for (size_t i = 0; i < block.values.size() && in.ok(); ++i) {
    attributes.push_back({std::move(block.names[i]), block.types[i], std::move(block.values[i])});
  }
  return attributes;
}

}  // namespace

Result<PlainCommand> PlainCommand::decode(std::string_view payload) {
  if (payload.empty()) return fail(malformed("command without a byte"));
  return PlainCommand{command_of(payload)};
}

void PlainCommand::encode(WireWriter& out, Capabilities) const { put(out, command); }

Result<Query> Query::decode(std::string_view payload, Capabilities capabilities) {
  WireReader in = body_of(payload, Command::query);
  Query query;
  if (has(capabilities, capability::query_attributes)) query.attributes = read_attributes(in);
  query.sql = in.rest();
  if (!in.ok()) return fail(bad(Command::query));
  return query;
}

void Query::encode(WireWriter& out, Capabilities capabilities) const {
  put(out, Command::query);
  if (has(capabilities, capability::query_attributes)) {
    out.lenenc_int(attributes.size());
    out.lenenc_int(1);
    std::vector<ParameterView> views;
    views.reserve(attributes.size());
    for (const QueryAttribute& attribute : attributes) {
      views.push_back({attribute.type, attribute.name, &attribute.value});
    }
    write_parameters(out, views, true);
  }
  out.bytes(sql);
}

Result<InitDb> InitDb::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::init_db);
  const InitDb message{in.rest()};
  if (!in.ok()) return fail(bad(Command::init_db));
  return message;
}

void InitDb::encode(WireWriter& out, Capabilities) const {
  put(out, Command::init_db);
  out.bytes(database);
}

Result<ChangeUser> ChangeUser::decode(std::string_view payload, Capabilities capabilities) {
  WireReader in = body_of(payload, Command::change_user);
  ChangeUser message;
  message.user = in.nul_string();
  if (has(capabilities, capability::secure_connection)) {
    message.auth_response = in.bytes(in.int1());
  } else {
    message.auth_response = in.nul_string();
  }
  message.database = in.nul_string();
  // Old clients end here.
  if (!in.at_end()) message.collation = in.int2();
  if (has(capabilities, capability::plugin_auth) && !in.at_end()) message.auth_plugin = in.nul_string();
  if (has(capabilities, capability::connect_attrs) && !in.at_end())
    message.attributes = decode_attributes(in);
  if (!in.ok()) return fail(bad(Command::change_user));
  return message;
}

void ChangeUser::encode(WireWriter& out, Capabilities capabilities) const {
  put(out, Command::change_user);
  out.nul_string(user);
  if (has(capabilities, capability::secure_connection)) {
    out.short_string(auth_response);
  } else {
    out.nul_string(auth_response);
  }
  out.nul_string(database);
  out.int2(collation);
  if (has(capabilities, capability::plugin_auth)) out.nul_string(auth_plugin);
  if (has(capabilities, capability::connect_attrs)) encode_attributes(out, attributes);
}

Result<FieldList> FieldList::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::field_list);
  FieldList message;
  message.table = in.nul_string();
  message.pattern = in.rest();
  if (!in.ok()) return fail(bad(Command::field_list));
  return message;
}

void FieldList::encode(WireWriter& out, Capabilities) const {
  put(out, Command::field_list);
  out.nul_string(table);
  out.bytes(pattern);
}

Result<SetOption> SetOption::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::set_option);
  const SetOption message{in.int2()};
  if (!in.ok()) return fail(bad(Command::set_option));
  return message;
}

void SetOption::encode(WireWriter& out, Capabilities) const {
  put(out, Command::set_option);
  out.int2(option);
}

Result<ProcessKill> ProcessKill::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::process_kill);
  const ProcessKill message{in.int4()};
  if (!in.ok()) return fail(bad(Command::process_kill));
  return message;
}

void ProcessKill::encode(WireWriter& out, Capabilities) const {
  put(out, Command::process_kill);
  out.int4(connection_id);
}

}  // namespace evenkeel::protocol
