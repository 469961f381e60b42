#include "proxy/protocol/response_tracker.h"

#include <fmt/format.h>

#include "base/mysql/types.h"
#include "proxy/protocol/response_messages.h"

namespace evenkeel::protocol {
namespace {

constexpr uint8_t ok_byte = 0x00;
constexpr uint8_t local_infile_byte = 0xfb;
constexpr uint8_t eof_byte = 0xfe;
constexpr uint8_t err_byte = 0xff;
// A server allows 4096 columns; the wire more.
constexpr uint64_t columns_max = 0xffff;

uint8_t first_of(std::string_view prefix) { return prefix.empty() ? 0 : static_cast<uint8_t>(prefix[0]); }

Error cannot_stand(std::string_view where) {
  return malformed(fmt::format("answer of an instance, at {}", where));
}

}  // namespace

ResponseShape shape_of(Command command) {
  switch (command) {
    case Command::query:
    case Command::stmt_execute:
    case Command::process_info:
      return ResponseShape::result;
    case Command::stmt_prepare:
      return ResponseShape::prepare;
    case Command::set_option:
    case Command::debug:
      return ResponseShape::ok_or_eof;
    case Command::field_list:
      return ResponseShape::field_list;
    case Command::stmt_fetch:
      return ResponseShape::rows;
    case Command::statistics:
      return ResponseShape::text;
    case Command::quit:
    case Command::stmt_close:
    case Command::stmt_send_long_data:
      return ResponseShape::none;
    default:
      return ResponseShape::ok;
  }
}

std::string_view to_string(Part part) {
  switch (part) {
    case Part::ok:
      return "OK";
    case Part::err:
      return "ERR";
    case Part::column_count:
      return "column count";
    case Part::column_definition:
      return "column definition";
    case Part::definitions_end:
      return "end of definitions";
    case Part::row:
      return "row";
    case Part::rows_end:
      return "end of rows";
    case Part::local_infile:
      return "LOCAL INFILE request";
    case Part::prepare_ok:
      return "prepare OK";
    case Part::parameter_definition:
      return "parameter definition";
    case Part::text:
      return "text";
  }
  return "unknown part";
}

void ResponseTracker::reset(ResponseShape shape, Capabilities capabilities) {
  *this = ResponseTracker();
  deprecate_eof_ = has(capabilities, capability::deprecate_eof);
  switch (shape) {
    case ResponseShape::result:
      state_ = State::head;
      break;
    case ResponseShape::prepare:
      state_ = State::prepare_head;
      break;
    case ResponseShape::ok:
      state_ = State::ok;
      break;
    case ResponseShape::ok_or_eof:
      state_ = State::ok_or_eof;
      break;
    case ResponseShape::field_list:
      state_ = State::field_list;
      break;
    case ResponseShape::rows:
      state_ = State::rows;
      break;
    case ResponseShape::text:
      state_ = State::text;
      break;
    case ResponseShape::none:
      state_ = State::done;
      break;
  }
}

Result<Part> ResponseTracker::on_packet(std::string_view prefix, size_t frame_length) {
  const uint8_t first = first_of(prefix);
  // ERR may stand in place of any packet but a definition, and no row or definition begins with 0xff.
  if (first == err_byte && !prefix.empty() && state_ != State::done) return on_err(prefix);
  switch (state_) {
    case State::rows:
      return on_row(prefix, frame_length);
    case State::head:
    case State::after_file:
      return on_head(prefix, frame_length);
    case State::definitions:
      return on_definition(deprecate_eof_ ? State::rows : State::definitions_eof, Part::column_definition);
    case State::definitions_eof:
    case State::parameter_eof:
    case State::prepared_eof:
      return on_definitions_eof(prefix, frame_length);
    case State::prepare_head:
      return on_prepare_head(prefix);
    case State::parameter_definitions:
      if (left_ == 1 && deprecate_eof_) {
        after_parameters();
        return Part::parameter_definition;
      }
      return on_definition(State::parameter_eof, Part::parameter_definition);
    case State::prepared_definitions:
      return on_definition(deprecate_eof_ ? State::done : State::prepared_eof, Part::column_definition);
    case State::ok:
      return on_ok(prefix, frame_length);
    case State::ok_or_eof:
      // An OK has at least seven bytes.
      if (first == eof_byte && frame_length < 7) {
        if (!read_eof(prefix)) return fail(cannot_stand("EOF"));
        state_ = State::done;
        return Part::rows_end;
      }
      return on_ok(prefix, frame_length);
    case State::field_list:
      if (first != eof_byte) return Part::column_definition;
      return on_row(prefix, frame_length);
    case State::text:
      state_ = State::done;
      return Part::text;
    case State::done:
      break;
  }
  return fail(cannot_stand("a packet behind its end"));
}

Result<Part> ResponseTracker::on_head(std::string_view prefix, size_t frame_length) {
  const uint8_t first = first_of(prefix);
  if (prefix.empty()) return fail(cannot_stand("an empty packet"));
  if (state_ == State::head) ++results_;
  if (first == ok_byte) {
    if (!read_ok(prefix, frame_length)) return fail(cannot_stand("OK"));
    end_of_result();
    return Part::ok;
  }
  if (state_ == State::after_file) return fail(cannot_stand("the end of LOCAL INFILE"));
  if (first == local_infile_byte) {
    state_ = State::after_file;
    return Part::local_infile;
  }
  WireReader in(prefix);
  columns_ = in.lenenc_int();
  if (!in.ok() || columns_ == 0 || columns_ > columns_max || frame_length > 9)
    return fail(cannot_stand("column count"));
  rows_ = 0;
  left_ = columns_;
  state_ = State::definitions;
  return Part::column_count;
}

Result<Part> ResponseTracker::on_prepare_head(std::string_view prefix) {
  const Result<StmtPrepareOk> ok = StmtPrepareOk::decode(prefix);
  if (!ok) return fail(ok.error());
  statement_id_ = ok->statement_id;
  columns_ = ok->columns;
  parameters_ = ok->parameters;
  warnings_ = ok->warnings;
  left_ = parameters_;
  if (parameters_ > 0) {
    state_ = State::parameter_definitions;
  } else {
    after_parameters();
  }
  return Part::prepare_ok;
}

void ResponseTracker::after_parameters() {
  left_ = columns_;
  state_ = columns_ > 0 ? State::prepared_definitions : State::done;
}

Result<Part> ResponseTracker::on_definition(State after, Part part) {
  if (--left_ == 0) state_ = after;
  return part;
}

Result<Part> ResponseTracker::on_definitions_eof(std::string_view prefix, size_t frame_length) {
  if (first_of(prefix) != eof_byte || frame_length >= 9 || !read_eof(prefix)) {
    return fail(cannot_stand("the EOF behind definitions"));
  }
  if (state_ == State::parameter_eof) {
    after_parameters();
  } else if (state_ == State::prepared_eof) {
    state_ = State::done;
  } else if ((status_ & mysql::server_status::cursor_exists) != 0) {
    // The rows are fetched by COM_STMT_FETCH.
    end_of_result();
  } else {
    state_ = State::rows;
  }
  return Part::definitions_end;
}

Result<Part> ResponseTracker::on_row(std::string_view prefix, size_t frame_length) {
  const Capabilities mode = deprecate_eof_ ? capability::deprecate_eof : 0;
  if (prefix.empty() || !is_end_of_rows(first_of(prefix), frame_length, mode)) {
    if (state_ == State::field_list) return fail(cannot_stand("the end of definitions"));
    ++rows_;
    return Part::row;
  }
  const bool read = deprecate_eof_ ? read_ok(prefix, frame_length) : read_eof(prefix);
  if (!read) return fail(cannot_stand("the end of rows"));
  end_of_result();
  return Part::rows_end;
}

Result<Part> ResponseTracker::on_ok(std::string_view prefix, size_t frame_length) {
  const uint8_t first = first_of(prefix);
  const bool ok = first == ok_byte || (first == eof_byte && deprecate_eof_);
  if (!ok || !read_ok(prefix, frame_length)) return fail(cannot_stand("OK"));
  state_ = State::done;
  return Part::ok;
}

Result<Part> ResponseTracker::on_err(std::string_view prefix) {
  WireReader in(prefix);
  in.skip(1);
  error_code_ = in.int2();
  if (!in.ok()) return fail(cannot_stand("ERR"));
  failed_ = true;
  state_ = State::done;
  return Part::err;
}

bool ResponseTracker::read_ok(std::string_view prefix, size_t frame_length) {
  WireReader in(prefix);
  in.skip(1);
  affected_rows_ = in.lenenc_int();
  last_insert_id_ = in.lenenc_int();
  status_ = in.int2();
  warnings_ = in.int2();
  ok_has_more_ = frame_length > prefix.size() - in.left();
  return in.ok();
}

bool ResponseTracker::read_eof(std::string_view prefix) {
  WireReader in(prefix);
  in.skip(1);
  warnings_ = in.int2();
  status_ = in.int2();
  return in.ok();
}

void ResponseTracker::end_of_result() {
  state_ = (status_ & mysql::server_status::more_results) != 0 ? State::head : State::done;
}

void ResponseRelay::reset(ResponseShape shape, Capabilities capabilities, uint8_t sequence) {
  frames_ = FrameStream();
  frames_.expect_sequence(sequence);
  tracker_.reset(shape, capabilities);
}

Result<ResponseRelay::Run> ResponseRelay::scan(std::string_view input) {
  Run run;
  bool ends = tracker_.done();
  while (!run.done) {
    if (ends && frames_.at_packet_start()) {
      run.done = true;
      break;
    }
    const auto piece = frames_.next(input.substr(run.bytes), ResponseTracker::prefix_size);
    if (!piece) return fail(piece.error());
    if (!*piece) break;
    if ((*piece)->starts_packet) {
      const Result<Part> part = tracker_.on_packet((*piece)->payload, (*piece)->frame_length);
      if (!part) return fail(part.error());
      ends = tracker_.done();
      if (*part == Part::local_infile) run.part = *part;
      run.at = run.bytes;
      run.frame_length = (*piece)->frame_length;
    }
    run.bytes += (*piece)->header.size() + (*piece)->payload.size();
    if (run.part && frames_.at_packet_start()) break;
  }
  return run;
}

Result<ResponseRelay::Run> ResponseRelay::scan_to_part(std::string_view input) {
  Run run;
  if (tracker_.done() && frames_.at_packet_start()) run.done = true;
  while (!run.done) {
    const std::string_view rest = input.substr(run.bytes);
    if (frames_.at_packet_start() && rest.size() >= frame_header_size) {
      const FrameHeader header = parse_frame_header(rest);
      const bool is_row = tracker_.in_rows() && rest.size() > frame_header_size &&
                          first_of(rest.substr(frame_header_size)) < eof_byte;
      if (!is_row && rest.size() < frame_header_size + header.length) break;
    }
    const auto piece = frames_.next(rest, ResponseTracker::prefix_size);
    if (!piece) return fail(piece.error());
    if (!*piece) break;
    const size_t at = run.bytes;
    run.bytes += (*piece)->header.size() + (*piece)->payload.size();
    if (!(*piece)->starts_packet) {
      run.done = tracker_.done() && frames_.at_packet_start();
      continue;
    }
    const Result<Part> part = tracker_.on_packet((*piece)->payload, (*piece)->frame_length);
    if (!part) return fail(part.error());
    if (*part == Part::row) continue;
    run.part = *part;
    run.at = at;
    run.frame_length = (*piece)->frame_length;
    run.done = tracker_.done() && frames_.at_packet_start();
    break;
  }
  return run;
}

uint8_t renumber(char* frames, size_t size, uint8_t sequence) {
  size_t at = 0;
  while (at + frame_header_size <= size) {
    const FrameHeader header = parse_frame_header({frames + at, frame_header_size});
    frames[at + 3] = static_cast<char>(sequence++);
    at += frame_header_size + header.length;
  }
  return sequence;
}

}  // namespace evenkeel::protocol
