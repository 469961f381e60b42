#include "proxy/session/tests/fake_instance.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "proxy/front/result_writer.h"
#include "proxy/protocol/command_messages.h"
#include "proxy/protocol/frame.h"
#include "proxy/protocol/statement_messages.h"

namespace evenkeel::session::testing {

using protocol::Command;
namespace cap = protocol::capability;

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::none:
      return "no fault";
    case Fault::err:
      return "ERR instead";
    case Fault::deadlock:
      return "deadlock instead";
    case Fault::lost_before:
      return "lost before the answer";
    case Fault::lost_within:
      return "lost within the answer";
    case Fault::lost_after:
      return "lost after the answer";
  }
  return "";
}

FakeConnection::FakeConnection(rule::InstanceId instance, exec::CapabilityClass kind, uint64_t thread)
    : connection(instance, kind, 3) {
  connection.capabilities = cap::protocol_41 | cap::transactions | cap::long_flag | cap::secure_connection |
                            cap::multi_results | cap::ps_multi_results | cap::plugin_auth;
  if (kind.deprecate_eof) connection.capabilities |= cap::deprecate_eof;
  if (kind.found_rows) connection.capabilities |= cap::found_rows;
  connection.server_thread = thread;
  connection.applied = std::make_shared<const exec::Variables>(
      std::vector<exec::Variables::Item>{{"character_set_client", "'utf8mb4'"},
                                         {"character_set_results", "'utf8mb4'"},
                                         {"collation_connection", "'utf8mb4_general_ci'"}});
  connection.owner = this;
}

uint16_t FakeConnection::status() const {
  uint16_t flags = autocommit_ ? mysql::server_status::autocommit : 0;
  if (in_transaction_) flags |= mysql::server_status::in_trans;
  return flags;
}

std::vector<Received> FakeConnection::take_commands() {
  std::vector<Received> commands;
  std::string_view bytes = connection.out;
  protocol::FrameReader reader;
  while (!bytes.empty()) {
    constexpr std::string_view empty_file("\0\0\0\2", 4);
    if (bytes.starts_with(empty_file)) {
      commands.push_back({Command::query, "(empty file)", "", 3});
      bytes.remove_prefix(empty_file.size());
      continue;
    }
    reader.expect_sequence(0);
    const auto read = reader.read_packet(bytes);
    if (!read || !read->complete) {
      commands.push_back({Command::sleep, "broken command bytes", "", 1});
      break;
    }
    bytes.remove_prefix(read->consumed);
    Received received;
    received.command = protocol::command_of(read->payload);
    switch (received.command) {
      case Command::query:
        received.sql = protocol::Query::decode(read->payload, connection.capabilities)->sql;
        received.text = received.sql;
        break;
      case Command::init_db:
        received.sql = protocol::InitDb::decode(read->payload)->database;
        received.text = "INIT_DB " + received.sql;
        break;
      case Command::stmt_prepare:
        received.sql = protocol::StmtPrepare::decode(read->payload)->sql;
        received.text = "PREPARE " + received.sql;
        break;
      case Command::stmt_close: {
        const uint32_t id = protocol::StmtClose::decode(read->payload)->statement_id;
        received.text = fmt::format("CLOSE #{}{}", id, prepared_.erase(id) == 1 ? "" : " (unknown)");
        break;
      }
      case Command::stmt_execute: {
        const uint32_t id = *protocol::StmtExecute::statement_id_of(read->payload);
        const auto known = prepared_.find(id);
        if (known == prepared_.end()) {
          received.text = fmt::format("EXECUTE #{} (unknown)", id);
          break;
        }
        protocol::ExecuteFacts facts;
        facts.parameters = known->second.second;
        const auto execute = protocol::StmtExecute::decode(read->payload, connection.capabilities, facts);
        received.sql = known->second.first;
        received.text = fmt::format("EXECUTE #{} (", id);
        if (execute) {
          for (size_t i = 0; i < execute->values.size(); ++i)
            received.text += (i > 0 ? ", " : "") + mysql::to_string(execute->values[i]);
        } else {
          received.text += execute.error().message;
        }
        received.text += ")";
        break;
      }
      default:
        received.text = protocol::to_string(received.command);
    }
    commands.push_back(std::move(received));
  }
  connection.out.clear();
  return commands;
}

void FakeConnection::write(const Received& command, const Answer& answer) {
  protocol::PacketWriter packets(inbox, command.sequence);
  if (answer.kind == Answer::Kind::err) {
    protocol::Err err;
    err.code = answer.code;
    err.sqlstate = mysql::sqlstate_of(answer.code);
    err.message = answer.message;
    packets.write(err, connection.capabilities);
    return;
  }
  if (answer.kind == Answer::Kind::file) {
    packets.write(protocol::LocalInfileRequest{"x"}, connection.capabilities);
    return;
  }
  if (command.command == Command::stmt_prepare) {
    protocol::StmtPrepareOk head;
    head.statement_id = ++last_statement_;
    head.parameters = static_cast<uint16_t>(std::count(command.sql.begin(), command.sql.end(), '?'));
    head.columns = static_cast<uint16_t>(answer.columns.size());
    prepared_[head.statement_id] = {command.sql, head.parameters};
    const std::vector<protocol::ColumnDefinition> parameters(head.parameters, front::parameter_definition());
    front::ResultWriter writer(inbox, 1, connection.capabilities);
    writer.prepared(head, parameters, answer.columns, status());
    return;
  }
  const auto format =
      command.command == Command::stmt_execute ? front::RowFormat::binary : front::RowFormat::text;
  front::ResultWriter writer(inbox, command.sequence, connection.capabilities, format);
  if (answer.kind == Answer::Kind::rows) {
    writer.columns(answer.columns, status());
    for (const auto& row : answer.rows) writer.row(row);
    writer.end(status(), answer.warnings);
    return;
  }
  protocol::Ok ok;
  ok.affected_rows = answer.affected;
  ok.last_insert_id = answer.insert_id;
  ok.status = status();
  ok.warnings = answer.warnings;
  ok.message = answer.message;
  writer.ok(ok);
}

// What the command does to the transaction when it succeeds or fails.
void FakeConnection::apply(const Received& command, const Answer& answer) {
  const std::string& sql = command.sql;
  const auto begins = [&](std::string_view word) { return sql.starts_with(word); };
  if (answer.kind == Answer::Kind::err) {
    if (answer.code == mysql::er::lock_deadlock) {
      in_transaction_ = false;
      uncommitted_.clear();
      savepoints_.clear();
    }
    if (begins("CALL begin_and_fail")) in_transaction_ = true;
    return;
  }
  if (command.command == Command::stmt_prepare) return;
  constexpr std::string_view immediate = "EXECUTE IMMEDIATE '";
  if (begins(immediate)) {
    Received inner = command;
    inner.sql = sql.substr(immediate.size(), sql.size() - immediate.size() - 1);
    return apply(inner, answer);
  }
  if (begins("SET autocommit = ")) autocommit_ = sql.ends_with('1');
  const auto commit = [&] {
    committed.insert(committed.end(), uncommitted_.begin(), uncommitted_.end());
    uncommitted_.clear();
    savepoints_.clear();
    in_transaction_ = false;
  };
  if (begins("BEGIN") || begins("START TRANSACTION")) {
    commit();
    in_transaction_ = true;
  } else if (begins("COMMIT")) {
    commit();
  } else if (begins("ROLLBACK TO SAVEPOINT ")) {
    const std::string name = sql.substr(22);
    while (!savepoints_.empty() && savepoints_.back().first != name) savepoints_.pop_back();
    if (!savepoints_.empty()) uncommitted_.resize(savepoints_.back().second);
  } else if (begins("ROLLBACK")) {
    uncommitted_.clear();
    savepoints_.clear();
    in_transaction_ = false;
  } else if (begins("SAVEPOINT ")) {
    savepoints_.emplace_back(sql.substr(10), uncommitted_.size());
  } else if (begins("INSERT") || begins("UPDATE") || begins("DELETE") || begins("REPLACE")) {
    (in_transaction_ ? uncommitted_ : committed).push_back(sql);
  }
}

void FakeConnection::answer(const Received& command, const Answer& given, Fault fault) {
  if (ended || lost_after || protocol::has_no_answer(command.command)) return;
  Answer answer = given;
  if (fault == Fault::err || fault == Fault::deadlock) {
    answer = {};
    answer.kind = Answer::Kind::err;
    answer.code = fault == Fault::err ? mysql::er::dup_entry : mysql::er::lock_deadlock;
    answer.message = fault == Fault::err ? "Injected error" : "Deadlock found; try restarting transaction";
  }
  if (answer.kind == Answer::Kind::lose || fault == Fault::lost_before) {
    lost_after = true;
    return;
  }
  apply(command, answer);
  const size_t before = inbox.size();
  write(command, answer);
  if (fault == Fault::lost_within) inbox.resize(before + (inbox.size() - before) / 2);
  lost_after = fault == Fault::lost_within || fault == Fault::lost_after;
}

void FakeConnection::end() {
  ended = true;
  uncommitted_.clear();
  in_transaction_ = false;
  inbox.clear();
  taken = 0;
  held.clear();
}

}  // namespace evenkeel::session::testing
