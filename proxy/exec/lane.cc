#include "proxy/exec/lane.h"

#include <utility>

#include "proxy/protocol/command_messages.h"
#include "proxy/protocol/frame.h"
#include "proxy/protocol/statement_messages.h"

namespace evenkeel::exec {

using protocol::PacketWriter;
using protocol::Part;
using protocol::ResponseShape;

void Lane::arm() { relay_.reset(steps_.front().shape, connection_->capabilities, steps_.front().sequence); }

void Lane::push(Purpose purpose, uint32_t unit, ResponseShape shape, uint8_t sequence) {
  steps_.push_back(Step{purpose, unit, shape, sequence});
  ++connection_->awaited;
  if (steps_.size() == 1) arm();
}

void Lane::query(std::string_view sql, Purpose purpose, uint32_t unit) {
  PacketWriter packets(connection_->out, 0);
  packets.write(protocol::Query{sql, {}}, connection_->capabilities);
  push(purpose, unit, ResponseShape::result, packets.next_sequence());
}

void Lane::init_db(std::string_view database) {
  PacketWriter packets(connection_->out, 0);
  packets.write(protocol::InitDb{database}, connection_->capabilities);
  push(Purpose::state, 0, ResponseShape::ok, packets.next_sequence());
}

void Lane::prepare(std::string_view sql, Purpose purpose, uint32_t unit) {
  PacketWriter packets(connection_->out, 0);
  packets.write(protocol::StmtPrepare{sql}, connection_->capabilities);
  push(purpose, unit, ResponseShape::prepare, packets.next_sequence());
}

void Lane::execute(uint32_t server_statement, std::span<const mysql::Value> values, uint32_t unit) {
  PacketWriter packets(connection_->out, 0);
  protocol::encode_execute(packets.begin(), server_statement, 0, values, connection_->capabilities);
  packets.end();
  push(Purpose::unit, unit, ResponseShape::result, packets.next_sequence());
}

void Lane::close_statement(uint32_t server_statement) {
  PacketWriter packets(connection_->out, 0);
  packets.write(protocol::StmtClose{server_statement}, connection_->capabilities);
}

Status Lane::feed(std::string_view bytes, LaneEvents& events) {
  // The usual case: nothing is left over and the answer is taken from the read buffer where it stands.
  if (partial_.empty()) {
    auto taken = take(bytes, events);
    if (!taken) return fail(taken.error());
    partial_.assign(bytes.substr(*taken));
    return {};
  }
  partial_.append(bytes);
  std::string input = std::move(partial_);
  partial_.clear();
  auto taken = take(input, events);
  if (!taken) return fail(taken.error());
  partial_.insert(0, std::string_view(input).substr(*taken));
  return {};
}

Result<size_t> Lane::take(std::string_view input, LaneEvents& events) {
  size_t taken = 0;
  while (taken < input.size()) {
    if (steps_.empty()) {
      // An unasked-for packet: the server says goodbye (1053, 1927 …) before it closes.
      connection_->retire = true;
      return input.size();
    }
    const std::string_view rest = input.substr(taken);
    auto run = relay_.scan_to_part(rest);
    if (!run) {
      connection_->retire = true;
      return fail(run.error());
    }
    const Step step = steps_.front();
    const size_t rows = run->part ? run->at : run->bytes;
    if (rows > 0) events.on_rows(*this, step, rest.substr(0, rows));
    if (!run->part) return taken + run->bytes;
    const std::string_view payload = rest.substr(run->at + protocol::frame_header_size, run->frame_length);
    taken += run->bytes;
    if (*run->part == Part::ok || *run->part == Part::rows_end) {
      const uint16_t status = relay_.tracker().status();
      connection_->in_transaction = (status & mysql::server_status::in_trans) != 0;
      connection_->autocommit = (status & mysql::server_status::autocommit) != 0;
      // A statement of the client's changed the server's session (a procedure that SETs): what this program
      // believes of the connection is no longer so, and the next user must not have it.
      const bool by_client = step.purpose == Purpose::unit;
      if (by_client && (status & mysql::server_status::session_state_changed) != 0)
        connection_->retire = true;
    }
    events.on_part(*this, step, *run->part, payload);
    if (!relay_.tracker().done()) continue;
    const bool failed = relay_.tracker().failed();
    steps_.pop_front();
    --connection_->awaited;
    // The tracker still tells of this answer.
    events.on_step_done(*this, step, failed);
    if (!steps_.empty()) arm();
  }
  return taken;
}

std::deque<Step> Lane::abandon() {
  partial_.clear();
  return std::exchange(steps_, {});
}

}  // namespace evenkeel::exec
