#include "proxy/exec/pass_reply.h"

#include <algorithm>
#include <string>

#include "base/limits.h"
#include "proxy/front/result_writer.h"
#include "proxy/protocol/messages.h"
#include "proxy/protocol/rows.h"

namespace evenkeel::exec {

using protocol::Part;

namespace {

// Status flags that tell of the statement; the rest is the session's.
constexpr uint16_t statement_flags = mysql::server_status::no_good_index_used |
                                     mysql::server_status::no_index_used | mysql::server_status::db_dropped;

// Without decoding the rest: it stands behind six names and a length byte.
uint16_t collation_of(std::string_view definition) {
  protocol::WireReader in(definition);
  for (int name = 0; name < 6; ++name) in.lenenc_string();
  in.int1();
  return in.int2();
}

}  // namespace

void PassReply::forward(std::string_view payload) {
  protocol::PacketWriter packets(port_.client_out(), facts_.sequence);
  packets.write_payload(payload);
  facts_.sequence = packets.next_sequence();
}

void PassReply::on_definition(Lane& lane, std::string_view payload) {
  if (plan_.restore.empty() && !reports_other_collation(collation_of(payload), state_.results_collation)) {
    forward(payload);
    return;
  }
  const auto capabilities = lane.connection().capabilities;
  auto column = protocol::ColumnDefinition::decode(payload, capabilities);
  if (!column) {
    set_error(column.error());
    return;
  }
  restore_definition(*column, plan_.restore, state_.results_collation);
  protocol::PacketWriter packets(port_.client_out(), facts_.sequence);
  packets.write(*column, capabilities);
  facts_.sequence = packets.next_sequence();
}

// A result that is not the last one of its answer (CALL): its end goes out at once.
void PassReply::end_of_result(Lane& lane, Part part, std::string_view payload) {
  const auto& tracker = lane.tracker();
  tally_.flags = tracker.status() & statement_flags;
  tally_.warnings = tracker.warnings();
  if (part == Part::ok) {
    tally_.affected_rows = tracker.affected_rows();
    tally_.insert_id = tracker.last_insert_id();
    tally_.message.clear();
    if (tracker.ok_has_more()) {
      if (auto ok = protocol::Ok::decode(payload, lane.connection().capabilities))
        tally_.message = ok->message;
    }
  }
  if (tracker.done()) return;
  const bool more = facts_.more_results;
  facts_.more_results = true;
  complete(tally_.insert_id, tally_.warnings);
  facts_.more_results = more;
}

void PassReply::on_part(Lane& lane, uint32_t, Part part, std::string_view payload) {
  switch (part) {
    case Part::column_count:
      rows_open_ = true;
      tally_.returned_rows = true;
      tally_.rows = 0;
      forward(payload);
      return;
    case Part::column_definition:
      on_definition(lane, payload);
      return;
    case Part::definitions_end: {
      front::ResultWriter answer(port_.client_out(), facts_.sequence, facts_.capabilities);
      answer.eof(state_.status());
      facts_.sequence = answer.next_sequence();
      splitter_.begin(lane.next_sequence());
      return;
    }
    case Part::rows_end:
      tally_.rows = lane.tracker().rows();
      [[fallthrough]];
    case Part::ok:
      end_of_result(lane, part, payload);
      return;
    case Part::local_infile:
      // The empty packet: no file. The instance then ends the statement with an error or an empty load.
      lane.connection().out.append(std::string_view("\0\0\0\2", 4));
      port_.flush(&lane.connection());
      set_error(unsupported("LOAD DATA LOCAL: files of the client are not passed on"));
      return;
    default:
      return;  // ERR is handled by the execution
  }
}

void PassReply::on_rows(Lane& lane, uint32_t, std::string_view frames) {
  if (plan_.cells.empty()) {
    relay(frames);
  } else {
    relay_restored(frames);
  }
  if (port_.client_is_slow() && !lane.paused && !stopped_) {
    lane.paused = true;
    paused_ = &lane;
    port_.pause(&lane.connection());
  }
}

void PassReply::on_drained() {
  if (paused_ == nullptr) return;
  paused_->paused = false;
  port_.resume(&paused_->connection());
  paused_ = nullptr;
}

// Sequence ids are renumbered frame by frame: another answer of the same command may stand before this one.
void PassReply::relay(std::string_view frames) {
  std::string& out = port_.client_out();
  while (!frames.empty()) {
    if (frame_left_ > 0) {
      const std::string_view piece = frames.substr(0, frame_left_);
      out.append(piece);
      frame_left_ -= static_cast<uint32_t>(piece.size());
      frames.remove_prefix(piece.size());
      continue;
    }
    if (stopped_ && !row_continues_) return;
    const auto header = protocol::parse_frame_header(frames);
    row_continues_ = header.length == limits::frame_payload_max;
    const size_t at = out.size();
    const std::string_view piece = frames.substr(0, protocol::frame_header_size + header.length);
    out.append(piece);
    out[at + 3] = static_cast<char>(facts_.sequence++);
    frame_left_ = static_cast<uint32_t>(protocol::frame_header_size + header.length - piece.size());
    frames.remove_prefix(piece.size());
  }
}

void PassReply::relay_restored(std::string_view frames) {
  if (stopped_) return;
  auto fed = splitter_.feed(frames, [&](std::string_view row) { restore_cells(row); });
  if (!fed) set_error(fed.error());
}

void PassReply::restore_cells(std::string_view row) {
  std::string restored;
  protocol::WireWriter out(restored);
  protocol::TextRow cells(row);
  uint16_t column = 0;
  for (protocol::Cell cell; cells.next(cell); ++column) {
    if (!cell) {
      out.null_mark();
      continue;
    }
    const auto change = std::find_if(plan_.cells.begin(), plan_.cells.end(), [&](const auto& wanted) {
      return wanted.column == column && cell->substr(0, wanted.from.size()) == wanted.from;
    });
    if (change == plan_.cells.end()) {
      out.lenenc_string(*cell);
    } else {
      out.lenenc_string(change->to + std::string(cell->substr(change->from.size())));
    }
  }
  forward(restored);
}

}  // namespace evenkeel::exec
