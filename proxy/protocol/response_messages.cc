#include "proxy/protocol/response_messages.h"

#include "base/mysql/error_codes.h"

namespace evenkeel::protocol {
namespace {

using What = SessionChange::What;

void decode_change(SessionChange& change, std::string_view bytes) {
  WireReader in(bytes);
  switch (change.what) {
    case What::system_variable:
      change.name = in.lenenc_string();
      change.value = in.lenenc_string();
      break;
    case What::gtids:
      in.skip(1);
      change.value = in.lenenc_string();
      break;
    case What::schema:
    case What::state_changed:
    case What::transaction_characteristics:
    case What::transaction_state:
      change.value = in.lenenc_string();
      break;
    default:
      change.value = in.rest();
      break;
  }
  // Of a kind or shape not known here: kept raw.
  if (!in.ok() || !in.at_end()) {
    change.name.clear();
    change.value = bytes;
  }
}

void encode_change(std::string& out, const SessionChange& change) {
  std::string body;
  WireWriter fields(body);
  switch (change.what) {
    case What::system_variable:
      fields.lenenc_string(change.name);
      fields.lenenc_string(change.value);
      break;
    case What::gtids:
      fields.int1(0);
      fields.lenenc_string(change.value);
      break;
    case What::schema:
    case What::state_changed:
    case What::transaction_characteristics:
    case What::transaction_state:
      fields.lenenc_string(change.value);
      break;
    default:
      fields.bytes(change.value);
      break;
  }
  WireWriter entry(out);
  entry.int1(static_cast<uint8_t>(change.what));
  entry.lenenc_string(body);
}

void decode_changes(WireReader& in, std::vector<SessionChange>& changes) {
  WireReader entries(in.lenenc_string());
  while (entries.ok() && !entries.at_end()) {
    SessionChange change;
    change.what = static_cast<What>(entries.int1());
    decode_change(change, entries.lenenc_string());
    if (entries.ok()) changes.push_back(std::move(change));
  }
  if (!entries.ok()) in.set_bad();
}

}  // namespace

Result<Ok> Ok::decode(std::string_view payload, Capabilities capabilities) {
  WireReader in(payload);
  Ok ok;
  const uint8_t first = in.int1();
  if (first != 0x00 && first != 0xfe) return fail(malformed("OK"));
  ok.ends_rows = first == 0xfe;
  ok.affected_rows = in.lenenc_int();
  ok.last_insert_id = in.lenenc_int();
  if (has(capabilities, capability::protocol_41)) {
    ok.status = in.int2();
    ok.warnings = in.int2();
  } else if (has(capabilities, capability::transactions)) {
    ok.status = in.int2();
  }
  // Servers leave out an empty message when nothing follows it, and send its length otherwise, with and
  // without session tracking.
  if (!in.at_end()) ok.message = in.lenenc_string();
  if (has(capabilities, capability::session_track) &&
      (ok.status & mysql::server_status::session_state_changed) != 0) {
    decode_changes(in, ok.changes);
  }
  if (!in.ok()) return fail(malformed("OK"));
  return ok;
}

void Ok::encode(WireWriter& out, Capabilities capabilities) const {
  const bool track = has(capabilities, capability::session_track) && !changes.empty();
  constexpr uint16_t changed = mysql::server_status::session_state_changed;
  const auto flags = static_cast<uint16_t>(track ? status | changed : status & ~changed);
  out.int1(ends_rows ? 0xfe : 0x00);
  out.lenenc_int(affected_rows);
  out.lenenc_int(last_insert_id);
  if (has(capabilities, capability::protocol_41)) {
    out.int2(flags);
    out.int2(warnings);
  } else if (has(capabilities, capability::transactions)) {
    out.int2(flags);
  }
  if (track || !message.empty()) out.lenenc_string(message);
  if (!track) return;
  std::string entries;
  for (const SessionChange& change : changes) encode_change(entries, change);
  out.lenenc_string(entries);
}

Result<Err> Err::decode(std::string_view payload) {
  WireReader in(payload);
  Err err;
  if (in.int1() != 0xff) return fail(malformed("ERR"));
  err.code = in.int2();
  if (in.peek() == '#' && in.left() >= 6) {
    in.skip(1);
    err.sqlstate = in.bytes(5);
  }
  err.message = in.rest();
  if (!in.ok()) return fail(malformed("ERR"));
  return err;
}

void Err::encode(WireWriter& out, Capabilities capabilities) const {
  out.int1(0xff);
  out.int2(code);
  if (has(capabilities, capability::protocol_41) && sqlstate.size() == 5) {
    out.int1('#');
    out.bytes(sqlstate);
  }
  out.bytes(message);
}

Err Err::from(const Error& error) {
  Err err;
  err.code = error.code != 0 ? error.code : mysql::er::unknown_error;
  err.sqlstate = error.sqlstate.size() == 5 ? error.sqlstate : std::string(mysql::sqlstate_of(err.code));
  err.message = error.message;
  return err;
}

Error Err::to_error(ErrorKind kind) const {
  return {kind, code, sqlstate.empty() ? std::string(mysql::sqlstate_of(code)) : sqlstate, message};
}

Result<Eof> Eof::decode(std::string_view payload) {
  WireReader in(payload);
  Eof eof;
  if (in.int1() != 0xfe || payload.size() >= 9) return fail(malformed("EOF"));
  eof.warnings = in.int2();
  eof.status = in.int2();
  if (!in.ok()) return fail(malformed("EOF"));
  return eof;
}

void Eof::encode(WireWriter& out, Capabilities capabilities) const {
  out.int1(0xfe);
  if (!has(capabilities, capability::protocol_41)) return;
  out.int2(warnings);
  out.int2(status);
}

Result<ColumnDefinition> ColumnDefinition::decode(std::string_view payload, Capabilities capabilities) {
  WireReader in(payload);
  ColumnDefinition column;
  column.catalog = in.lenenc_string();
  column.schema = in.lenenc_string();
  column.table = in.lenenc_string();
  column.original_table = in.lenenc_string();
  column.name = in.lenenc_string();
  column.original_name = in.lenenc_string();
  if (has(capabilities, capability::mariadb_extended_metadata)) column.extended = in.lenenc_string();
  const uint64_t fixed_length = in.lenenc_int();
  if (fixed_length < 12) in.set_bad();
  column.collation = in.int2();
  column.length = in.int4();
  column.type = static_cast<mysql::ColumnType>(in.int1());
  column.flags = in.int2();
  column.decimals = in.int1();
  in.skip(fixed_length - 10);
  if (in.ok() && !in.at_end()) {
    column.has_default = true;
    column.default_value = in.nullable_lenenc_string().value_or(std::string_view());
  }
  if (!in.ok()) return fail(malformed("column definition"));
  return column;
}

void ColumnDefinition::encode(WireWriter& out, Capabilities capabilities) const {
  out.lenenc_string(catalog);
  out.lenenc_string(schema);
  out.lenenc_string(table);
  out.lenenc_string(original_table);
  out.lenenc_string(name);
  out.lenenc_string(original_name);
  if (has(capabilities, capability::mariadb_extended_metadata)) out.lenenc_string(extended);
  out.lenenc_int(12);
  out.int2(collation);
  out.int4(length);
  out.int1(static_cast<uint8_t>(type));
  out.int2(flags);
  out.int1(decimals);
  out.zeros(2);
  if (has_default) out.lenenc_string(default_value);
}

Result<LocalInfileRequest> LocalInfileRequest::decode(std::string_view payload) {
  WireReader in(payload);
  LocalInfileRequest request;
  if (in.int1() != 0xfb) return fail(malformed("LOCAL INFILE request"));
  request.file_name = in.rest();
  return request;
}

void LocalInfileRequest::encode(WireWriter& out, Capabilities) const {
  out.int1(0xfb);
  out.bytes(file_name);
}

Result<ColumnCount> ColumnCount::decode(std::string_view payload) {
  WireReader in(payload);
  ColumnCount count;
  count.columns = in.lenenc_int();
  if (!in.ok() || !in.at_end() || count.columns == 0 || count.columns > 0xffff)
    return fail(malformed("column count"));
  return count;
}

void ColumnCount::encode(WireWriter& out, Capabilities) const { out.lenenc_int(columns); }

Result<StmtPrepareOk> StmtPrepareOk::decode(std::string_view payload) {
  WireReader in(payload);
  StmtPrepareOk ok;
  if (in.int1() != 0) return fail(malformed("answer to COM_STMT_PREPARE"));
  ok.statement_id = in.int4();
  ok.columns = in.int2();
  ok.parameters = in.int2();
  if (!in.at_end()) {
    in.skip(1);
    ok.warnings = in.int2();
  }
  // Behind it, with capability::optional_resultset_metadata, one byte that is of no use here.
  if (!in.ok()) return fail(malformed("answer to COM_STMT_PREPARE"));
  return ok;
}

void StmtPrepareOk::encode(WireWriter& out, Capabilities) const {
  out.int1(0);
  out.int4(statement_id);
  out.int2(columns);
  out.int2(parameters);
  out.zeros(1);
  out.int2(warnings);
}

}  // namespace evenkeel::protocol
