#include "proxy/protocol/statement_messages.h"

#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "proxy/protocol/parameters.h"
#include "proxy/protocol/temporal.h"

namespace evenkeel::protocol {
namespace {

using mysql::ColumnType;
using Kind = mysql::Value::Kind;

void put(WireWriter& out, Command command) { out.int1(static_cast<uint8_t>(command)); }

// A message that is a command byte and a statement id, and perhaps more.
WireReader body_of(std::string_view payload, Command command) {
  WireReader in(payload);
  if (static_cast<Command>(in.int1()) != command) in.set_bad();
  return in;
}

Error wrong_execute() {
  return make_error(ErrorKind::statement, mysql::er::wrong_arguments,
                    "Incorrect arguments to mysqld_stmt_execute");
}

void write_execute(WireWriter& out, uint32_t statement_id, uint8_t flags, uint32_t iterations,
                   std::span<const ParameterView> parameters, bool with_names) {
  put(out, Command::stmt_execute);
  out.int4(statement_id);
  out.int1(flags);
  out.int4(iterations);
  if (with_names && (!parameters.empty() || (flags & StmtExecute::parameter_count_available) != 0)) {
    out.lenenc_int(parameters.size());
  }
  write_parameters(out, parameters, with_names);
}

bool is_canonical(const mysql::Value& value) {
  switch (value.kind()) {
    case Kind::date:
      return parse_date(value.text()).has_value();
    case Kind::datetime:
      return parse_datetime(value.text()).has_value();
    case Kind::time:
      return parse_time(value.text()).has_value();
    default:
      return true;
  }
}

}  // namespace

Result<StmtPrepare> StmtPrepare::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::stmt_prepare);
  const StmtPrepare message{in.rest()};
  if (!in.ok()) return fail(malformed(to_string(Command::stmt_prepare)));
  return message;
}

void StmtPrepare::encode(WireWriter& out, Capabilities) const {
  put(out, Command::stmt_prepare);
  out.bytes(sql);
}

Result<uint32_t> StmtExecute::statement_id_of(std::string_view payload) {
  WireReader in = body_of(payload, Command::stmt_execute);
  const uint32_t id = in.int4();
  if (!in.ok()) return fail(malformed(to_string(Command::stmt_execute)));
  return id;
}

Result<StmtExecute> StmtExecute::decode(std::string_view payload, Capabilities capabilities,
                                        const ExecuteFacts& facts) {
  WireReader in = body_of(payload, Command::stmt_execute);
  StmtExecute message;
  message.statement_id = in.int4();
  message.flags = in.int1();
  message.iterations = in.int4();
  if (!in.ok()) return fail(wrong_execute());

  const bool with_names = has(capabilities, capability::query_attributes);
  const bool counted = with_names && (message.flags & parameter_count_available) != 0;
  uint64_t count = facts.parameters;
  if (with_names && (count > 0 || counted)) count = in.lenenc_int();
  // What stands behind a statement without parameters is of no meaning, and some clients send it.
  if (count == 0 && facts.parameters == 0 && in.ok()) return message;
  if (count < facts.parameters || !in.ok()) return fail(wrong_execute());

  ParameterBlock block = read_parameters(in, count, with_names, facts.remembered, facts.long_data);
  if (!in.ok()) return fail(wrong_execute());
  if (count > facts.parameters && !block.new_types) return fail(wrong_execute());
  message.new_types = block.new_types;
  for (size_t i = facts.parameters; i < block.values.size(); ++i) {
    message.attributes.push_back({std::move(block.names[i]), block.types[i], std::move(block.values[i])});
  }
  block.types.resize(facts.parameters);
  block.values.resize(facts.parameters);
  message.types = std::move(block.types);
  message.values = std::move(block.values);
  return message;
}

void StmtExecute::encode(WireWriter& out, Capabilities capabilities) const {
  if (!types.empty() && types.size() != values.size()) {
    return out.set_error(internal_error("COM_STMT_EXECUTE with another number of types than values"));
  }
  const bool with_names = has(capabilities, capability::query_attributes);
  std::vector<ParameterView> views;
  views.reserve(values.size() + attributes.size());
  for (size_t i = 0; i < values.size(); ++i) {
    views.push_back({types.empty() ? type_for(values[i]) : types[i], {}, &values[i]});
  }
  uint8_t sent_flags = flags & static_cast<uint8_t>(~parameter_count_available);
  if (with_names && !attributes.empty()) {
    sent_flags |= parameter_count_available;
    for (const QueryAttribute& attribute : attributes) {
      views.push_back({attribute.type, attribute.name, &attribute.value});
    }
  }
  write_execute(out, statement_id, sent_flags, iterations, views, with_names);
}

WireType type_for(const mysql::Value& value) {
  if (!is_canonical(value)) return {ColumnType::var_string, false};
  switch (value.kind()) {
    case Kind::null:
      return {ColumnType::null, false};
    case Kind::int64:
      return {ColumnType::longlong, false};
    case Kind::uint64:
      return {ColumnType::longlong, true};
    case Kind::decimal:
      return {ColumnType::newdecimal, false};
    case Kind::real:
      return {ColumnType::double_, false};
    case Kind::single_real:
      return {ColumnType::float_, false};
    case Kind::string:
      return {ColumnType::var_string, false};
    case Kind::bytes:
      return {ColumnType::blob, false};
    case Kind::date:
      return {ColumnType::date, false};
    case Kind::datetime:
      return {ColumnType::datetime, false};
    case Kind::time:
      return {ColumnType::time, false};
  }
  return {ColumnType::var_string, false};
}

void encode_execute(WireWriter& out, uint32_t statement_id, uint8_t flags,
                    std::span<const mysql::Value> values, Capabilities capabilities) {
  std::vector<ParameterView> views;
  views.reserve(values.size());
  for (const mysql::Value& value : values) views.push_back({type_for(value), {}, &value});
  write_execute(out, statement_id, flags & static_cast<uint8_t>(~StmtExecute::parameter_count_available), 1,
                views, has(capabilities, capability::query_attributes));
}

Result<StmtSendLongData> StmtSendLongData::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::stmt_send_long_data);
  StmtSendLongData message;
  message.statement_id = in.int4();
  message.parameter = in.int2();
  message.bytes = in.rest();
  if (!in.ok()) return fail(malformed(to_string(Command::stmt_send_long_data)));
  return message;
}

void StmtSendLongData::encode(WireWriter& out, Capabilities) const {
  put(out, Command::stmt_send_long_data);
  out.int4(statement_id);
  out.int2(parameter);
  out.bytes(bytes);
}

Result<StmtClose> StmtClose::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::stmt_close);
  const StmtClose message{in.int4()};
  if (!in.ok()) return fail(malformed(to_string(Command::stmt_close)));
  return message;
}

void StmtClose::encode(WireWriter& out, Capabilities) const {
  put(out, Command::stmt_close);
  out.int4(statement_id);
}

Result<StmtReset> StmtReset::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::stmt_reset);
  const StmtReset message{in.int4()};
  if (!in.ok()) return fail(malformed(to_string(Command::stmt_reset)));
  return message;
}

void StmtReset::encode(WireWriter& out, Capabilities) const {
  put(out, Command::stmt_reset);
  out.int4(statement_id);
}

Result<StmtFetch> StmtFetch::decode(std::string_view payload) {
  WireReader in = body_of(payload, Command::stmt_fetch);
  StmtFetch message;
  message.statement_id = in.int4();
  message.rows = in.int4();
  if (!in.ok()) return fail(malformed(to_string(Command::stmt_fetch)));
  return message;
}

void StmtFetch::encode(WireWriter& out, Capabilities) const {
  put(out, Command::stmt_fetch);
  out.int4(statement_id);
  out.int4(rows);
}

}  // namespace evenkeel::protocol
