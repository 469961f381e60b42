#include "proxy/answer/conversation.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/front/host_rules.h"
#include "proxy/protocol/statement_messages.h"

namespace evenkeel::answer {

using protocol::Command;
namespace cap = protocol::capability;

namespace {

constexpr uint16_t status = mysql::server_status::autocommit;
// MariaDB's clients name the statement of the PREPARE before, whose answer they have not seen, in this way.
constexpr uint32_t last_statement = UINT32_MAX;
// Commands that wait behind an answer that takes its time.
constexpr size_t waiting_input_max = 1 << 20;

front::Verifiers verifiers_of(const Account& account) {
  front::Verifiers verifiers;
  verifiers.native = account.native_verifier;
  verifiers.caching_sha2 = account.sha2_verifier;
  verifiers.no_password = account.empty_password;
  return verifiers;
}

std::vector<protocol::ColumnDefinition> definitions_of(const std::vector<mysql::ResultColumn>& columns) {
  using mysql::Value;
  std::vector<protocol::ColumnDefinition> out;
  // Wide enough for what is answered here; MySQL's own messages have the same bound.
  constexpr size_t text_width = 1024;
  for (const auto& column : columns) {
    Value sample = Value::string(std::string(text_width, ' '));
    if (column.kind == Value::Kind::int64) sample = Value::int64(0);
    if (column.kind == Value::Kind::uint64) sample = Value::uint64(0);
    if (column.kind == Value::Kind::real) sample = Value::real(0);
    if (column.kind == Value::Kind::decimal) sample = Value::decimal("0");
    out.push_back(front::column_for(column.name, sample));
    out.back().flags &= static_cast<uint16_t>(~mysql::column_flag::not_null);
  }
  return out;
}

Error unknown_statement(uint32_t id) {
  return make_error(ErrorKind::statement, mysql::er::unknown_stmt_handler,
                    fmt::format("Unknown prepared statement handler ({})", id));
}

}  // namespace

protocol::Capabilities service_capabilities() {
  return cap::long_password | cap::long_flag | cap::connect_with_db | cap::odbc | cap::protocol_41 |
         cap::interactive | cap::ignore_sigpipe | cap::transactions | cap::secure_connection |
         cap::multi_results | cap::ps_multi_results | cap::plugin_auth | cap::connect_attrs |
         cap::plugin_auth_lenenc_data | cap::deprecate_eof;
}

struct Conversation::Prepared {
  Phrase phrase;
  std::vector<protocol::WireType> types;
  std::vector<std::optional<std::string>> long_data;
  size_t long_data_bytes = 0;
};

Conversation::Conversation(const Service& service, uint64_t connection_id, std::string host,
                           const protocol::auth::Nonce& nonce)
    : service_(service),
      nonce_(nonce),
      reader_(front::login_packet_max),
      state_{ClientVariables(service.handshake.server_version, service.version_comment,
                             service.limits.max_packet),
             ""} {
  caller_.host = std::move(host);
  caller_.connection_id = connection_id;
}

Conversation::~Conversation() = default;

Conversation::Next Conversation::start(std::string& out) {
  login_ = std::make_unique<front::ServerHandshake>(service_.handshake,
                                                    static_cast<uint32_t>(caller_.connection_id), nonce_);
  login_->set_client_host(caller_.host);
  return login_step(login_->start(out), out);
}

Conversation::Next Conversation::on_bytes(std::string_view bytes, std::string& out) {
  if (closing_) return Next::close;
  in_.append(bytes);
  if (waiting_ && in_.size() > waiting_input_max) return Next::close;
  return waiting_ ? Next::wait : take_packets(out);
}

Conversation::Next Conversation::on_tls_started(std::string& out) {
  return login_step(login_->on_tls_started(), out);
}

std::string Conversation::unread() { return std::exchange(in_, {}); }

Conversation::Next Conversation::take_packets(std::string& out) {
  size_t used = 0;
  Next next = Next::need_bytes;
  while (used < in_.size() && !closing_ && !waiting_) {
    if (login_) {
      reader_.expect_sequence(login_->next_sequence());
    } else {
      reader_.expect_sequence(reader_.joining() ? reader_.next_sequence() : 0);
    }
    auto read = reader_.read_packet(std::string_view(in_).substr(used));
    if (!read) {
      if (logged_in()) writer(out).error(read.error());
      closing_ = true;
      break;
    }
    used += read->consumed;
    if (!read->complete) break;
    if (login_) {
      next = login_step(login_->on_packet(read->payload, out), out);
      if (next == Next::start_tls) break;
    } else {
      sequence_ = static_cast<uint8_t>(read->last_sequence + 1);
      handle(read->payload, out);
    }
  }
  in_.erase(0, used);
  if (closing_) return Next::close;
  if (waiting_) return Next::wait;
  return next;
}

const Account* Conversation::find_account() const {
  for (const Account& account : *service_.accounts) {
    if (account.name == login_->login().user && front::host_allowed(caller_.host, account.hosts))
      return &account;
  }
  return nullptr;
}

Conversation::Next Conversation::login_step(front::ServerHandshake::Next next, std::string& out) {
  using LoginNext = front::ServerHandshake::Next;
  while (true) {
    switch (next) {
      case LoginNext::need_packet:
        return Next::need_bytes;
      case LoginNext::start_tls:
        return Next::start_tls;
      case LoginNext::look_up_user: {
        const Account* account = find_account();
        front::Verifiers verifiers;
        if (account != nullptr) {
          verifiers = verifiers_of(*account);
          caller_.user = account->name;
          caller_.rights = account->rights;
        }
        next = login_->on_user(account == nullptr ? nullptr : &verifiers, out);
        continue;
      }
      case LoginNext::authenticated: {
        protocol::Ok ok;
        ok.status = status;
        login_->accept(ok, out);
        capabilities_ = login_->login().capabilities;
        state_.database = login_->login().database;
        login_.reset();
        reader_ = protocol::FrameReader(service_.limits.max_packet);
        return Next::need_bytes;
      }
      case LoginNext::failed:
        refusal_ = login_->error().message;
        closing_ = true;
        return Next::close;
    }
  }
}

front::ResultWriter Conversation::writer(std::string& out) {
  return front::ResultWriter(out, sequence_, capabilities_, format_);
}

void Conversation::answer_ok(std::string& out) {
  protocol::Ok ok;
  ok.status = status;
  writer(out).ok(ok);
}

void Conversation::answer_error(const Error& error, std::string& out) { writer(out).error(error); }

void Conversation::say_goodbye(const Error& error, std::string& out) {
  if (logged_in()) front::ResultWriter(out, 0, capabilities_).error(error);
  closing_ = true;
}

void Conversation::handle(std::string_view payload, std::string& out) {
  format_ = front::RowFormat::text;
  switch (protocol::command_of(payload)) {
    case Command::query: {
      auto query = protocol::Query::decode(payload, capabilities_);
      if (!query) return answer_error(query.error(), out);
      return handle_query(query->sql, out);
    }
    case Command::ping:
      return answer_ok(out);
    case Command::quit:
      closing_ = true;
      return;
    case Command::init_db: {
      auto command = protocol::InitDb::decode(payload);
      if (!command) return answer_error(command.error(), out);
      state_.database = command->database;
      return answer_ok(out);
    }
    case Command::reset_connection:
      prepared_.clear();
      state_.variables = ClientVariables(service_.handshake.server_version, service_.version_comment,
                                         service_.limits.max_packet);
      return answer_ok(out);
    case Command::set_option:
      return writer(out).eof(status);
    case Command::statistics:
      return writer(out).text(service_.version_comment);
    case Command::stmt_prepare:
      return handle_prepare(payload, out);
    case Command::stmt_execute:
      return handle_execute(payload, out);
    case Command::stmt_send_long_data:
      return handle_long_data(payload);
    case Command::stmt_close: {
      auto command = protocol::StmtClose::decode(payload);
      if (command) prepared_.erase(command->statement_id);
      return;
    }
    case Command::stmt_reset:
      return answer_ok(out);
    default:
      return answer_error(
          make_error(ErrorKind::unsupported, mysql::er::unknown_com,
                     fmt::format("Unknown command ({})", protocol::to_string(protocol::command_of(payload)))),
          out);
  }
}

void Conversation::handle_query(std::string_view sql, std::string& out) {
  auto phrase = Phrase::read(sql);
  if (!phrase) return answer_error(phrase.error(), out);
  if (phrase->empty()) {
    return answer_error(make_error(ErrorKind::statement, mysql::er::empty_query, "Query was empty"), out);
  }
  if (phrase->parameters > 0) {
    return answer_error(
        make_error(ErrorKind::statement, mysql::er::parse_error,
                   "You have an error in your SQL syntax: ? stands for a value in prepared statements only"),
        out);
  }
  answer_phrase(*phrase, out);
}

void Conversation::answer_phrase(const Phrase& phrase, std::string& out) {
  if (auto answered = answer_client_question(phrase, caller_, state_)) return give(std::move(*answered), out);
  give(service_.answerer->answer(phrase, caller_), out);
}

void Conversation::give(Result<Answer> answer, std::string& out) {
  if (!answer) return answer_error(answer.error(), out);
  if (auto* later = std::get_if<Later>(&answer->what)) {
    waiting_ = true;
    delay_ = later->delay;
    again_ = std::move(later->again);
    return;
  }
  if (const auto* done = std::get_if<Done>(&answer->what)) {
    protocol::Ok ok;
    ok.status = status;
    ok.affected_rows = done->affected_rows;
    ok.message = done->message;
    return writer(out).ok(ok);
  }
  give_table(std::get<mysql::ResultTable>(answer->what), out);
}

void Conversation::give_table(const mysql::ResultTable& table, std::string& out) {
  const size_t before = out.size();
  front::ResultWriter answer = writer(out);
  answer.columns(definitions_of(table.columns), status);
  for (const auto& row : table.rows) answer.row(row);
  answer.end(status);
  if (answer.status()) return;
  const Error error = answer.status().error();
  out.resize(before);
  answer_error(error, out);
}

Conversation::Next Conversation::on_timer(std::string& out) {
  if (!waiting_) return closing_ ? Next::close : Next::need_bytes;
  waiting_ = false;
  const auto again = std::exchange(again_, nullptr);
  give(again(), out);
  return waiting_ ? Next::wait : take_packets(out);
}

void Conversation::handle_prepare(std::string_view payload, std::string& out) {
  auto command = protocol::StmtPrepare::decode(payload);
  if (!command) return answer_error(command.error(), out);
  if (prepared_.size() >= service_.limits.max_prepared_statements) {
    return answer_error(make_error(ErrorKind::limit, mysql::er::max_prepared_stmt_count_reached,
                                   fmt::format("Can't create more than {} prepared statements in one session",
                                               service_.limits.max_prepared_statements)),
                        out);
  }
  auto phrase = Phrase::read(command->sql);
  if (!phrase) return answer_error(phrase.error(), out);
  std::vector<mysql::ResultColumn> columns;
  // A session's own questions have no side effects but SET's, which is not to happen yet.
  ClientState trial = state_;
  if (auto answered = answer_client_question(*phrase, caller_, trial)) {
    if (!*answered) return answer_error(answered->error(), out);
    if (const auto* table = std::get_if<mysql::ResultTable>(&(*answered)->what)) columns = table->columns;
  } else {
    auto described = service_.answerer->describe(*phrase);
    if (!described) return answer_error(described.error(), out);
    columns = std::move(*described);
  }
  protocol::StmtPrepareOk head;
  head.statement_id = ++last_prepared_;
  head.parameters = phrase->parameters;
  head.columns = static_cast<uint16_t>(columns.size());
  auto prepared = std::make_unique<Prepared>();
  prepared->phrase = std::move(*phrase);
  prepared_[head.statement_id] = std::move(prepared);
  const std::vector<protocol::ColumnDefinition> parameters(head.parameters, front::parameter_definition());
  writer(out).prepared(head, parameters, definitions_of(columns), status);
}

void Conversation::handle_execute(std::string_view payload, std::string& out) {
  auto id = protocol::StmtExecute::statement_id_of(payload);
  if (!id) return answer_error(id.error(), out);
  const auto found = prepared_.find(*id == last_statement ? last_prepared_ : *id);
  if (found == prepared_.end()) return answer_error(unknown_statement(*id), out);
  Prepared& prepared = *found->second;
  protocol::ExecuteFacts facts;
  facts.parameters = prepared.phrase.parameters;
  facts.remembered = prepared.types;
  facts.long_data = prepared.long_data;
  auto execute = protocol::StmtExecute::decode(payload, capabilities_, facts);
  prepared.long_data.clear();
  prepared.long_data_bytes = 0;
  if (!execute) return answer_error(execute.error(), out);
  if (execute->new_types) prepared.types = execute->types;
  auto phrase = prepared.phrase.bind(execute->values);
  if (!phrase) return answer_error(phrase.error(), out);
  format_ = front::RowFormat::binary;
  answer_phrase(*phrase, out);
}

// Without an answer, whatever happens: what is too long is not kept, and EXECUTE then lacks a value.
void Conversation::handle_long_data(std::string_view payload) {
  auto command = protocol::StmtSendLongData::decode(payload);
  if (!command) return;
  const auto found = prepared_.find(command->statement_id);
  if (found == prepared_.end() || command->parameter >= found->second->phrase.parameters) return;
  Prepared& prepared = *found->second;
  prepared.long_data_bytes += command->bytes.size();
  if (prepared.long_data_bytes > service_.limits.max_packet) return;
  prepared.long_data.resize(prepared.phrase.parameters);
  auto& value = prepared.long_data[command->parameter];
  if (!value) value.emplace();
  value->append(command->bytes);
}

}  // namespace evenkeel::answer
