#include "proxy/answer/tests/scripted_client.h"

#include <fmt/format.h>

#include "proxy/protocol/auth/native_password.h"
#include "proxy/protocol/rows.h"
#include "proxy/protocol/statement_messages.h"

namespace evenkeel::answer::testing {
namespace {

namespace cap = protocol::capability;

constexpr protocol::Capabilities base_capabilities = cap::protocol_41 | cap::secure_connection |
                                                     cap::plugin_auth | cap::connect_with_db |
                                                     cap::ps_multi_results;

std::string framed(std::string_view payload, uint8_t sequence) {
  std::string out;
  protocol::PacketWriter(out, sequence).write_payload(payload);
  return out;
}

protocol::auth::Nonce test_nonce() {
  protocol::auth::Nonce nonce{};
  nonce.fill('n');
  return nonce;
}

class Packets {
 public:
  explicit Packets(std::string_view bytes) : rest_(bytes) {}
  bool next(std::string_view& payload) {
    if (rest_.size() < protocol::frame_header_size) return false;
    const auto header = protocol::parse_frame_header(rest_);
    payload = rest_.substr(protocol::frame_header_size, header.length);
    rest_.remove_prefix(protocol::frame_header_size + header.length);
    return true;
  }

 private:
  std::string_view rest_;
};

std::string cell_text(const protocol::ColumnDefinition& column, std::string text) {
  return mysql::is_integer(column.type) ? text : "'" + text + "'";
}

std::string type_name(const protocol::ColumnDefinition& column) {
  const bool is_unsigned = (column.flags & mysql::column_flag::unsigned_) != 0;
  return fmt::format("{}{}", mysql::to_string(column.type), is_unsigned ? " UNSIGNED" : "");
}

}  // namespace

Result<Answer> EchoAnswerer::answer(const Phrase& phrase, const Caller& caller) {
  PhraseReader reader(phrase);
  if (reader.take("ECHO")) {
    mysql::ResultTable table{{{"words"}}, {}};
    while (!reader.at_end()) table.rows.push_back({mysql::Value::string(reader.next().text)});
    return Answer{std::move(table)};
  }
  if (reader.take("DO")) return Answer{Done{3, "done by " + caller.user}};
  if (reader.take("WAIT")) {
    EVENKEEL_ASSIGN(const uint64_t steps, reader.expect_integer("steps", 0, 9));
    if (steps == 0) return Answer{Done{}};
    return Answer{Later{std::chrono::microseconds(steps * 100), [this, caller, steps] {
                          return answer(*Phrase::read(fmt::format("WAIT {}", steps - 1)), caller);
                        }}};
  }
  if (reader.take("FAIL")) return fail(make_error(ErrorKind::limit, 1040, "too much"));
  return fail(reader.unexpected("ECHO, DO, WAIT, FAIL"));
}

Result<std::vector<mysql::ResultColumn>> EchoAnswerer::describe(const Phrase& phrase) {
  if (PhraseReader(phrase).peek().is("ECHO")) return std::vector<mysql::ResultColumn>{{"words"}};
  if (PhraseReader(phrase).peek().is("FAIL"))
    return fail(make_error(ErrorKind::limit, 1040, "not even prepared"));
  return std::vector<mysql::ResultColumn>{};
}

ScriptedClient::ScriptedClient(const Service& service, std::string_view user, std::string_view password,
                               protocol::Capabilities extra)
    : capabilities_(base_capabilities | extra), conversation_(service, 7, "10.0.0.1", test_nonce()) {
  next_ = conversation_.start(out_);
  out_.clear();
  protocol::HandshakeResponse41 response;
  response.capabilities = capabilities_;
  response.max_packet = 1 << 20;
  response.collation = 45;
  response.user = user;
  response.auth_response =
      protocol::auth::native_password::respond(password, protocol::auth::view_of(test_nonce()));
  response.auth_plugin = protocol::plugin::native_password;
  std::string payload;
  protocol::WireWriter body(payload);
  response.encode(body);
  next_ = conversation_.on_bytes(framed(payload, 1), out_);
}

std::string ScriptedClient::heard() { return tell(); }

std::string ScriptedClient::send(std::string_view bytes) {
  next_ = conversation_.on_bytes(bytes, out_);
  return tell();
}

std::string ScriptedClient::command(std::string_view payload) { return send(framed(payload, 0)); }

std::string ScriptedClient::query(std::string_view sql) {
  binary_ = false;
  return command("\x03" + std::string(sql));
}

std::string ScriptedClient::prepare(std::string_view sql) {
  preparing_ = true;
  std::string said = command("\x16" + std::string(sql));
  preparing_ = false;
  return said;
}

std::string ScriptedClient::execute(uint32_t id, const std::vector<mysql::Value>& values) {
  std::string payload;
  protocol::WireWriter body(payload);
  protocol::encode_execute(body, id, 0, values, capabilities_);
  binary_ = true;
  return command(payload);
}

std::string ScriptedClient::fire_timer() {
  next_ = conversation_.on_timer(out_);
  return tell();
}

std::string ScriptedClient::tell() {
  std::string said;
  if (!out_.empty()) said = tell_answer(preparing_);
  out_.clear();
  if (next_ == Conversation::Next::wait) said += fmt::format("WAIT {}us", conversation_.delay().count());
  if (next_ == Conversation::Next::close) said += "CLOSED";
  return said;
}

std::string ScriptedClient::tell_answer(bool prepared) {
  Packets packets(out_);
  std::string_view payload;
  std::string text;
  std::vector<protocol::ColumnDefinition> columns;
  uint64_t expected = 0;
  while (packets.next(payload)) {
    if (columns.size() < expected && !protocol::is_eof(payload)) {
      auto column = protocol::ColumnDefinition::decode(payload, capabilities_);
      if (!column) return "a column that cannot be read: " + column.error().message;
      columns.push_back(*column);
      text += fmt::format("{}{}:{}", columns.size() > 1 ? " " : "", column->name, type_name(*column));
      continue;
    }
    if (protocol::is_err(payload)) {
      const auto error = protocol::Err::decode(payload);
      text += fmt::format("ERR {} ({}) {}", error->code, error->sqlstate, error->message);
    } else if (protocol::is_eof(payload)) {
      continue;
    } else if (prepared && protocol::is_ok(payload)) {
      auto head = protocol::StmtPrepareOk::decode(payload);
      text += fmt::format("PREPARED {} parameters={} ", head->statement_id, head->parameters);
      expected = head->parameters + head->columns;
    } else if (expected == 0 && protocol::is_ok(payload)) {
      const auto ok = protocol::Ok::decode(payload, capabilities_);
      text += fmt::format("OK affected={} status={}{}{}", ok->affected_rows, ok->status,
                          ok->message.empty() ? "" : " ", ok->message);
    } else if (expected == 0) {
      expected = protocol::ColumnCount::decode(payload)->columns;
    } else if (payload.front() == '\xfe') {  // the OK that ends rows under deprecate_eof
      continue;
    } else {
      std::string row(payload);
      if (binary_) {
        std::vector<protocol::WireType> types;
        std::vector<uint8_t> decimals;
        for (const auto& column : columns)
          types.push_back(column.wire_type()), decimals.push_back(column.decimals);
        row.clear();
        if (auto read = protocol::text_row_of_binary(row, payload, types, decimals); !read)
          return read.error().message;
      }
      protocol::TextRow cells(row);
      text += " |";
      protocol::Cell cell;
      for (size_t i = 0; cells.next(cell); ++i) {
        text += i > 0 ? ", " : " ";
        text += cell ? cell_text(columns[i], std::string(*cell)) : "NULL";
      }
    }
  }
  return text;
}

}  // namespace evenkeel::answer::testing
