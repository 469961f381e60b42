#include "proxy/protocol/response_tracker.h"

#include <gtest/gtest.h>

#include "proxy/protocol/messages.h"
#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::protocol {
namespace {

namespace cap = capability;

constexpr Capabilities with_eof = cap::protocol_41;
constexpr Capabilities without_eof = cap::protocol_41 | cap::deprecate_eof;

const std::string definition = bytes("03 'def' 00 00 00 01 'a' 00 0c 3f00 14000000 08 0000 00 0000");
const std::string ok = bytes("00 02 07 0200 0100");
const std::string ok_more = bytes("00 01 00 0a00 0000");
const std::string err = bytes("ff 2604 '#23000Duplicate'");
const std::string eof = bytes("fe 0000 0200");
const std::string eof_more = bytes("fe 0000 0a00");
const std::string eof_cursor = bytes("fe 0000 4200");
const std::string ok_end = bytes("fe 00 00 0200 0000");
const std::string row = bytes("01 '1'");
const std::string binary_row = bytes("00 00 0100000000000000");

struct Step {
  std::string payload;
  Part part;
};

struct Script {
  const char* name;
  ResponseShape shape;
  Capabilities capabilities;
  std::vector<Step> steps;
};

const Step count1{bytes("01"), Part::column_count};
const Step definition1{definition, Part::column_definition};

std::vector<Script> scripts() {
  const auto big_row = Step{bytes("fe") + std::string(limits::frame_payload_max, 'x'), Part::row};
  return {
      {"OK", ResponseShape::result, with_eof, {{ok, Part::ok}}},
      {"ERR", ResponseShape::result, with_eof, {{err, Part::err}}},
      {"rows with EOF",
       ResponseShape::result,
       with_eof,
       {count1,
        definition1,
        {eof, Part::definitions_end},
        {row, Part::row},
        {row, Part::row},
        {eof, Part::rows_end}}},
      {"rows without EOF",
       ResponseShape::result,
       without_eof,
       {count1, definition1, {row, Part::row}, {ok_end, Part::rows_end}}},
      {"no rows", ResponseShape::result, without_eof, {count1, definition1, {ok_end, Part::rows_end}}},
      {"an empty string and a NULL as first cell",
       ResponseShape::result,
       with_eof,
       {count1,
        definition1,
        {eof, Part::definitions_end},
        {bytes("00"), Part::row},
        {bytes("fb"), Part::row},
        {eof, Part::rows_end}}},
      {"a row whose first cell is longer than a frame",
       ResponseShape::result,
       without_eof,
       {count1, definition1, big_row, {ok_end, Part::rows_end}}},
      {"binary rows",
       ResponseShape::result,
       with_eof,
       {count1, definition1, {eof, Part::definitions_end}, {binary_row, Part::row}, {eof, Part::rows_end}}},
      {"an error among the rows",
       ResponseShape::result,
       without_eof,
       {count1, definition1, {row, Part::row}, {err, Part::err}}},
      {"several results",
       ResponseShape::result,
       with_eof,
       {{ok_more, Part::ok},
        count1,
        definition1,
        {eof, Part::definitions_end},
        {row, Part::row},
        {eof_more, Part::rows_end},
        {ok, Part::ok}}},
      {"several results, the second an error",
       ResponseShape::result,
       with_eof,
       {{ok_more, Part::ok}, {err, Part::err}}},
      {"a cursor",
       ResponseShape::result,
       with_eof,
       {count1, definition1, {eof_cursor, Part::definitions_end}}},
      {"a cursor without EOF",
       ResponseShape::result,
       without_eof,
       {count1, definition1, {bytes("fe 00 00 4200 0000"), Part::rows_end}}},
      {"LOCAL INFILE",
       ResponseShape::result,
       with_eof,
       {{bytes("fb '/x'"), Part::local_infile}, {ok, Part::ok}}},
      {"LOCAL INFILE refused",
       ResponseShape::result,
       with_eof,
       {{bytes("fb '/x'"), Part::local_infile}, {err, Part::err}}},
      {"prepare, nothing",
       ResponseShape::prepare,
       with_eof,
       {{bytes("00 01000000 0000 0000 00 0000"), Part::prepare_ok}}},
      {"prepare, both",
       ResponseShape::prepare,
       with_eof,
       {{bytes("00 01000000 0100 0200 00 0000"), Part::prepare_ok},
        {definition, Part::parameter_definition},
        {definition, Part::parameter_definition},
        {eof, Part::definitions_end},
        {definition, Part::column_definition},
        {eof, Part::definitions_end}}},
      {"prepare, both, without EOF",
       ResponseShape::prepare,
       without_eof,
       {{bytes("00 01000000 0100 0100 00 0000"), Part::prepare_ok},
        {definition, Part::parameter_definition},
        {definition, Part::column_definition}}},
      {"prepare, columns",
       ResponseShape::prepare,
       with_eof,
       {{bytes("00 01000000 0100 0000 00 0000"), Part::prepare_ok},
        {definition, Part::column_definition},
        {eof, Part::definitions_end}}},
      {"prepare, parameters, without EOF",
       ResponseShape::prepare,
       without_eof,
       {{bytes("00 01000000 0000 0100 00 0000"), Part::prepare_ok},
        {definition, Part::parameter_definition}}},
      {"prepare fails", ResponseShape::prepare, with_eof, {{err, Part::err}}},
      {"ping", ResponseShape::ok, with_eof, {{ok, Part::ok}}},
      {"set option", ResponseShape::ok_or_eof, with_eof, {{eof, Part::rows_end}}},
      {"set option without EOF", ResponseShape::ok_or_eof, without_eof, {{ok_end, Part::ok}}},
      {"field list", ResponseShape::field_list, with_eof, {definition1, definition1, {eof, Part::rows_end}}},
      {"field list without EOF",
       ResponseShape::field_list,
       without_eof,
       {definition1, {ok_end, Part::rows_end}}},
      {"fetch", ResponseShape::rows, with_eof, {{binary_row, Part::row}, {eof_cursor, Part::rows_end}}},
      {"statistics", ResponseShape::text, with_eof, {{"Uptime: 1", Part::text}}},
  };
}

TEST(ResponseTracker, KnowsEachPartAndTheEnd) {
  for (const Script& script : scripts()) {
    SCOPED_TRACE(script.name);
    ResponseTracker tracker(script.shape, script.capabilities);
    for (size_t i = 0; i < script.steps.size(); ++i) {
      ASSERT_FALSE(tracker.done()) << i;
      const std::string& payload = script.steps[i].payload;
      const size_t frame = std::min(payload.size(), limits::frame_payload_max);
      // The least that it may be given.
      const auto part =
          tracker.on_packet(std::string_view(payload).substr(0, ResponseTracker::prefix_size), frame);
      ASSERT_TRUE(part) << i << " " << part.error().message;
      EXPECT_EQ(to_string(*part), to_string(script.steps[i].part)) << i;
    }
    EXPECT_TRUE(tracker.done());
    EXPECT_FALSE(tracker.on_packet(ok, ok.size())) << "nothing may stand behind the end";
  }
}

std::string stream_of(const Script& script) {
  std::string stream;
  PacketWriter writer(stream, 1);
  for (const Step& step : script.steps) writer.write_payload(step.payload);
  return stream;
}

TEST(ResponseRelay, PassesExactlyTheAnswerWhateverTheReads) {
  for (const Script& script : scripts()) {
    const bool big = stream_of(script).size() > 100'000;
    for (const size_t piece : {size_t{1}, size_t{3}, size_t{7}, size_t{50}, size_t{1} << 22}) {
      if (big && piece < 1000) continue;
      SCOPED_TRACE(script.name);
      const std::string stream = stream_of(script);
      const std::string with_next = stream + "next answer";
      ResponseRelay relay;
      relay.reset(script.shape, script.capabilities, 1);
      std::string buffer;
      std::string passed;
      bool done = false;
      for (size_t at = 0; at < with_next.size() && !done; at += piece) {
        buffer += with_next.substr(at, piece);
        for (;;) {
          const auto run = relay.scan(buffer);
          ASSERT_TRUE(run) << run.error().message;
          passed += buffer.substr(0, run->bytes);
          buffer.erase(0, run->bytes);
          done = run->done;
          if (done || !run->part) break;
        }
      }
      EXPECT_TRUE(done);
      EXPECT_TRUE(passed == stream) << hex(passed.substr(0, 100));
    }
  }
}

TEST(ResponseRelay, StopsAtEachPartThatIsNoRow) {
  for (const Script& script : scripts()) {
    SCOPED_TRACE(script.name);
    const std::string stream = stream_of(script);
    if (stream.size() > 100'000) continue;
    ResponseRelay relay;
    relay.reset(script.shape, script.capabilities, 1);
    std::vector<Part> parts;
    std::string buffer;
    std::string passed;
    bool done = false;
    for (size_t at = 0; at < stream.size(); ++at) {
      buffer += stream[at];
      for (;;) {
        const auto run = relay.scan_to_part(buffer);
        ASSERT_TRUE(run) << run.error().message;
        if (run->part) {
          parts.push_back(*run->part);
          const FrameHeader header = parse_frame_header(std::string_view(buffer).substr(run->at));
          EXPECT_EQ(run->at + 4 + header.length, run->bytes) << "the part's frame is whole";
        }
        passed += buffer.substr(0, run->bytes);
        buffer.erase(0, run->bytes);
        done = run->done;
        if (done || !run->part) break;
      }
    }
    std::vector<Part> expected;
    for (const Step& step : script.steps) {
      if (step.part != Part::row) expected.push_back(step.part);
    }
    EXPECT_EQ(parts, expected);
    EXPECT_TRUE(passed == stream);
    EXPECT_TRUE(done);
  }
}

TEST(ResponseTracker, KeepsTheFactsOfOkAndErr) {
  ResponseTracker tracker(ResponseShape::result, with_eof);
  ASSERT_TRUE(tracker.on_packet(ok, ok.size()));
  EXPECT_EQ(tracker.affected_rows(), 2u);
  EXPECT_EQ(tracker.last_insert_id(), 7u);
  EXPECT_EQ(tracker.status(), 2);
  EXPECT_EQ(tracker.warnings(), 1);
  EXPECT_FALSE(tracker.ok_has_more());
  const std::string longer = ok + bytes("03 'abc'");
  tracker.reset(ResponseShape::result, with_eof);
  ASSERT_TRUE(tracker.on_packet(longer, longer.size()));
  EXPECT_TRUE(tracker.ok_has_more());
  tracker.reset(ResponseShape::result, with_eof);
  ASSERT_TRUE(tracker.on_packet(err, err.size()));
  EXPECT_TRUE(tracker.failed());
  EXPECT_EQ(tracker.error_code(), 1062);
}

TEST(ResponseTracker, RefusesWhatCannotStand) {
  struct Bad {
    const char* name;
    ResponseShape shape;
    Capabilities capabilities;
    std::vector<std::string> before;
    std::string payload;
  };
  const Bad rows[] = {
      {"an empty head", ResponseShape::result, with_eof, {}, ""},
      {"EOF as head", ResponseShape::result, with_eof, {}, eof},
      {"no columns", ResponseShape::result, with_eof, {}, bytes("fc 0000")},
      {"short OK", ResponseShape::result, with_eof, {}, bytes("00 00 00 02")},
      {"a row instead of EOF", ResponseShape::result, with_eof, {bytes("01"), definition}, row},
      {"short EOF", ResponseShape::result, with_eof, {bytes("01"), definition}, bytes("fe 00")},
      {"rows behind LOCAL INFILE", ResponseShape::result, with_eof, {bytes("fb 'x'")}, bytes("01")},
      {"a row for ping", ResponseShape::ok, with_eof, {}, row},
      {"EOF for ping", ResponseShape::ok, with_eof, {}, eof},
      {"short prepare", ResponseShape::prepare, with_eof, {}, bytes("00 01000000")},
      {"short ERR", ResponseShape::result, with_eof, {}, bytes("ff 01")},
      {"anything for nothing", ResponseShape::none, with_eof, {}, ok},
  };
  for (const Bad& bad : rows) {
    ResponseTracker tracker(bad.shape, bad.capabilities);
    for (const std::string& payload : bad.before)
      ASSERT_TRUE(tracker.on_packet(payload, payload.size())) << bad.name;
    const auto part = tracker.on_packet(bad.payload, bad.payload.size());
    ASSERT_FALSE(part) << bad.name;
    EXPECT_EQ(part.error().kind, ErrorKind::protocol) << bad.name;
  }
}

TEST(ResponseTracker, ShapesOfCommands) {
  EXPECT_EQ(shape_of(Command::query), ResponseShape::result);
  EXPECT_EQ(shape_of(Command::stmt_prepare), ResponseShape::prepare);
  EXPECT_EQ(shape_of(Command::stmt_close), ResponseShape::none);
  EXPECT_EQ(shape_of(Command::ping), ResponseShape::ok);
  EXPECT_EQ(shape_of(Command::statistics), ResponseShape::text);
}

TEST(Renumber, RunsOnAndWraps) {
  std::string frames = packet("a", 1) + packet("bb", 2) + packet("", 3);
  EXPECT_EQ(renumber(frames.data(), frames.size(), 254), 1);
  EXPECT_EQ(hex(frames), hex(packet("a", 254) + packet("bb", 255) + packet("", 0)));
}

}  // namespace
}  // namespace evenkeel::protocol
