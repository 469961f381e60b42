// The client of a script: takes answers apart and checks them.
#include <utility>

#include "proxy/protocol/messages.h"
#include "proxy/protocol/rows.h"
#include "proxy/session/tests/answer_text.h"
#include "proxy/session/tests/script.h"

namespace evenkeel::session::testing {

using protocol::Part;

// The client takes what is there and understands it.
void Script::read_answers() {
  answer_bytes_ += client_out_;
  client_out_.clear();
  std::string_view bytes = answer_bytes_;
  while (!bytes.empty()) {
    if (commands_.empty()) {
      complain("an answer that nobody asked for");
      break;
    }
    Command& command = commands_.front();
    protocol::FrameReader reader;
    reader.expect_sequence(command.sequence);
    const auto read = reader.read_packet(bytes);
    if (!read) {
      complain("client: " + read.error().message + " in: " + command.text);
      bytes = {};
      break;
    }
    if (!read->complete) break;
    command.sequence = static_cast<uint8_t>(read->last_sequence + 1);
    on_packet(command, read->payload);
    bytes.remove_prefix(read->consumed);
    if (!commands_.empty() && &commands_.front() == &command && command.tracker.done()) {
      check_nothing_stayed(command);
      say("= " + command.text);
      client_answers_.push_back(std::move(command.text));
      commands_.pop_front();
    }
  }
  answer_bytes_ = std::string(bytes);
}

// A write that is told to have failed has left nothing behind, unless the answer says that this is not known.
void Script::check_nothing_stayed(const Command& command) {
  size_t committed = 0;
  for (const auto& connection : connections_) committed += connection->committed.size();
  const size_t before = std::exchange(committed_, committed);
  if (!command.is_write || !command.text.starts_with("ERR ")) return;
  for (const std::string_view code : {"ERR 1180 ", "ERR 1430 ", "ERR 1317 ", "ERR 3024 "})
    if (command.text.starts_with(code)) return;
  if (committed > before) complain("a write failed but is durable: " + command.text);
}

void Script::on_packet(Command& command, std::string_view payload) {
  const auto part = command.tracker.on_packet(payload, payload.size());
  if (!part) {
    complain("client: " + part.error().message);
    commands_.pop_front();
    return;
  }
  if (*part == Part::column_count) {
    command.types.clear();
    command.decimals.clear();
  }
  if (*part == Part::column_definition) {
    const auto column = protocol::ColumnDefinition::decode(payload, login_.capabilities);
    command.types.push_back(column->wire_type());
    command.decimals.push_back(column->decimals);
  }
  std::string row(payload);
  if (*part == Part::row && command.binary) {
    row.clear();
    if (!protocol::text_row_of_binary(row, payload, command.types, command.decimals))
      complain("client: a binary row that cannot be read");
  }
  append_part(command.text, *part, *part == Part::row ? row : payload, login_.capabilities);
}

}  // namespace evenkeel::session::testing
