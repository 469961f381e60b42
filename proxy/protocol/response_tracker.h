// Knows where a backend's answer ends without decoding its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "proxy/protocol/capabilities.h"
#include "proxy/protocol/commands.h"
#include "proxy/protocol/frame.h"

namespace evenkeel::protocol {

// Which shape of answer a command has.
enum class ResponseShape : uint8_t {
  result,      // QUERY, STMT_EXECUTE, PROCESS_INFO: results, one or more, each OK or rows; or ERR
  prepare,     // STMT_PREPARE
  ok,          // PING, INIT_DB, RESET_CONNECTION, CHANGE_USER after its login, STMT_RESET, PROCESS_KILL …
  ok_or_eof,   // SET_OPTION, DEBUG: EOF or OK
  field_list,  // FIELD_LIST: definitions until EOF
  rows,        // STMT_FETCH: rows until EOF
  text,        // STATISTICS: one packet of text, or ERR
  none,        // QUIT, STMT_CLOSE, STMT_SEND_LONG_DATA
};
ResponseShape shape_of(Command command);

// What a packet of an answer is.
enum class Part : uint8_t {
  ok,
  err,
  column_count,
  column_definition,
  definitions_end,  // the EOF behind column (or parameter) definitions
  row,
  rows_end,  // EOF, or OK with 0xfe
  local_infile,
  prepare_ok,
  parameter_definition,
  text,
};
std::string_view to_string(Part part);

// A plain small machine; no memory of its own. Feed it each packet's first bytes, in order:
//
//   ResponseTracker tracker(ResponseShape::result, capabilities);
//   while (!tracker.done()) { part = tracker.on_packet(prefix, length); … }
class ResponseTracker {
 public:
  // Bytes of a packet's front that on_packet must see (or all of it when it is shorter).
  static constexpr size_t prefix_size = 32;

  ResponseTracker() = default;
  ResponseTracker(ResponseShape shape, Capabilities capabilities) { reset(shape, capabilities); }
  void reset(ResponseShape shape, Capabilities capabilities);

  // `prefix`: the first min(prefix_size, frame_length) bytes, or more; `frame_length`: length of the packet's
  // first frame. Errors (kind protocol): a packet that cannot stand here. The connection is then of no more
  // use.
  Result<Part> on_packet(std::string_view prefix, size_t frame_length);

  bool done() const { return state_ == State::done; }
  // After Part::local_infile: the server now reads the file, and answers after the empty packet.
  bool wants_file() const { return state_ == State::after_file; }
  // Rows come next (or their end).
  bool in_rows() const { return state_ == State::rows; }
  // ERR ended the answer.
  bool failed() const { return failed_; }

  // From the last OK or EOF.
  uint16_t status() const { return status_; }
  uint16_t warnings() const { return warnings_; }
  // From the last OK: of a write, or of a CALL's end.
  uint64_t affected_rows() const { return affected_rows_; }
  uint64_t last_insert_id() const { return last_insert_id_; }
  // Whether that OK has bytes behind its fixed part (a message or session changes): worth decoding whole.
  bool ok_has_more() const { return ok_has_more_; }
  // From the last ERR.
  uint16_t error_code() const { return error_code_; }
  // Of the result being read; from prepare_ok: columns() and parameters() as prepared.
  uint64_t columns() const { return columns_; }
  uint16_t parameters() const { return parameters_; }
  uint32_t statement_id() const { return statement_id_; }
  // Rows of the result being read, and results begun, this answer.
  uint64_t rows() const { return rows_; }
  uint32_t results() const { return results_; }

 private:
  enum class State : uint8_t {
    head,
    definitions,
    definitions_eof,
    rows,
    after_file,
    prepare_head,
    parameter_definitions,
    parameter_eof,
    prepared_definitions,
    prepared_eof,
    ok,
    ok_or_eof,
    field_list,
    text,
    done,
  };

  Result<Part> on_head(std::string_view prefix, size_t frame_length);
  Result<Part> on_prepare_head(std::string_view prefix);
  Result<Part> on_definition(State after, Part part);
  Result<Part> on_definitions_eof(std::string_view prefix, size_t frame_length);
  Result<Part> on_row(std::string_view prefix, size_t frame_length);
  Result<Part> on_ok(std::string_view prefix, size_t frame_length);
  Result<Part> on_err(std::string_view prefix);
  bool read_ok(std::string_view prefix, size_t frame_length);
  bool read_eof(std::string_view prefix);
  void end_of_result();
  void after_parameters();

  State state_ = State::done;
  bool deprecate_eof_ = false;
  bool failed_ = false;
  bool ok_has_more_ = false;
  uint16_t status_ = 0;
  uint16_t warnings_ = 0;
  uint16_t error_code_ = 0;
  uint16_t parameters_ = 0;
  uint32_t statement_id_ = 0;
  uint32_t results_ = 0;
  uint64_t columns_ = 0;
  uint64_t left_ = 0;  // definitions to come
  uint64_t rows_ = 0;
  uint64_t affected_rows_ = 0;
  uint64_t last_insert_id_ = 0;
};

// Frames and tracker in one, for relaying an answer undecoded: says how many bytes at the front of the input
// may go to the client as they are.
//
//   ResponseRelay relay; relay.reset(shape, capabilities, 1);
//   auto run = relay.scan(input);              // input: what was read from the instance
//   forward input[0, run->bytes); drop them; stop at run->done
class ResponseRelay {
 public:
  struct Run {
    size_t bytes = 0;  // of the answer, from the front of the input
    bool done = false;
    // scan_to_part only: the part that the last packet is, whose frame begins at `at` in the input.
    std::optional<Part> part;
    size_t at = 0;
    uint32_t frame_length = 0;
  };

  // `sequence`: the id that the answer's first frame must carry.
  void reset(ResponseShape shape, Capabilities capabilities, uint8_t sequence);
  // Takes all of the answer that is there, also the front of a frame that is not complete (but for a packet's
  // first ResponseTracker::prefix_size bytes, which are waited for). Stops at the answer's end and at
  // Part::local_infile.
  Result<Run> scan(std::string_view input);
  // Takes packets until one that is no row stands whole at the front (single frames only), and takes that one
  // too: run.part names it. Rows before it are in run.bytes. No part: all there is was taken, more is needed.
  Result<Run> scan_to_part(std::string_view input);

  const ResponseTracker& tracker() const { return tracker_; }
  uint8_t next_sequence() const { return frames_.next_sequence(); }

 private:
  FrameStream frames_;
  ResponseTracker tracker_;
};

// Rewrites the sequence ids of the whole frames in `frames` to run on from `sequence`; returns the next one.
// For relaying an answer behind packets that the proxy wrote itself. Partial frames must begin at a header.
uint8_t renumber(char* frames, size_t size, uint8_t sequence);

}  // namespace evenkeel::protocol
