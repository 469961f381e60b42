#include "proxy/front/result_writer.h"

#include <gtest/gtest.h>

#include "base/mysql/types.h"
#include "proxy/protocol/response_tracker.h"
#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::front {
namespace {

namespace capability = protocol::capability;
using mysql::Value;
using protocol::bytes;
using protocol::hex;
using protocol::packet;
using protocol::ResponseShape;

constexpr Capabilities with_eof = capability::protocol_41;
constexpr Capabilities without_eof = capability::protocol_41 | capability::deprecate_eof;

// Whether the bytes are one whole answer of this shape, by the tracker that reads real servers.
bool is_whole_answer(const std::string& stream, ResponseShape shape, Capabilities capabilities) {
  protocol::ResponseRelay relay;
  relay.reset(shape, capabilities, 1);
  const auto run = relay.scan(stream);
  return run && run->done && run->bytes == stream.size();
}

TEST(ResultWriter, OneRow) {
  const std::vector<Value> row = {Value::int64(1), Value::string("a"), Value::null()};
  const std::vector<protocol::ColumnDefinition> columns = {column_for("1", row[0]), column_for("b", row[1]),
                                                           column_for("n", row[2])};
  std::string out;
  ResultWriter answer(out, 1, with_eof);
  answer.columns(columns, 2);
  answer.row(row);
  answer.end(2);
  EXPECT_TRUE(answer.status());
  const std::string expected =
      packet(bytes("03"), 1) +
      packet(bytes("03 'def' 00 00 00 01 '1' 00 0c 3f00 15000000 08 8100 00 0000"), 2) +
      packet(bytes("03 'def' 00 00 00 01 'b' 00 0c 2d00 04000000 fd 0000 1f 0000"), 3) +
      packet(bytes("03 'def' 00 00 00 01 'n' 00 0c 3f00 00000000 06 8000 00 0000"), 4) +
      packet(bytes("fe 0000 0200"), 5) + packet(bytes("01 '1' 01 'a' fb"), 6) +
      packet(bytes("fe 0000 0200"), 7);
  EXPECT_EQ(hex(out), hex(expected));
  EXPECT_EQ(answer.next_sequence(), 8);
  EXPECT_TRUE(is_whole_answer(out, ResponseShape::result, with_eof));
}

TEST(ResultWriter, WithoutEofAndBinary) {
  const std::vector<Value> row = {Value::int64(-1), Value::string("a"), Value::real(0.5)};
  const std::vector<protocol::ColumnDefinition> columns = {column_for("x", row[0]), column_for("y", row[1]),
                                                           column_for("z", row[2])};
  std::string out;
  ResultWriter answer(out, 1, without_eof, RowFormat::binary);
  answer.columns(columns, 2);
  answer.row(row);
  answer.row(std::vector<Value>{Value::null(), Value::null(), Value::null()});
  answer.end(2, 3);
  EXPECT_TRUE(answer.status());
  EXPECT_TRUE(is_whole_answer(out, ResponseShape::result, without_eof));
  EXPECT_NE(out.find(packet(bytes("00 00 ffffffffffffffff 01 'a' 000000000000e03f"), 5)), std::string::npos);
  EXPECT_TRUE(out.ends_with(packet(bytes("00 1c"), 6) + packet(bytes("fe 00 00 0200 0300"), 7)));
}

TEST(ResultWriter, SeveralAnswersInOne) {
  std::string out;
  ResultWriter answer(out, 1, with_eof);
  answer.columns(std::vector{column_for("a", Value::int64(1))}, 2);
  answer.end(2 | mysql::server_status::more_results);
  answer.ok(protocol::Ok{1, 0, 2, 0, "", {}, false});
  EXPECT_TRUE(is_whole_answer(out, ResponseShape::result, with_eof));
}

TEST(ResultWriter, OtherAnswers) {
  for (const Capabilities capabilities : {with_eof, without_eof}) {
    std::string out;
    ResultWriter(out, 1, capabilities).error(unsupported("no"));
    EXPECT_EQ(hex(out), hex(packet(bytes("ff d304 '#42000no'"), 1)));
    out.clear();
    ResultWriter(out, 1, capabilities).eof(2);
    EXPECT_TRUE(is_whole_answer(out, ResponseShape::ok_or_eof, capabilities));
    out.clear();
    const std::vector two = {parameter_definition(), parameter_definition()};
    const std::vector one = {column_for("a", Value::int64(1))};
    ResultWriter(out, 1, capabilities).prepared({5, 1, 2, 0}, two, one, 2);
    EXPECT_TRUE(is_whole_answer(out, ResponseShape::prepare, capabilities));
    out.clear();
    ResultWriter(out, 1, capabilities).prepared({5, 0, 0, 0}, {}, {}, 2);
    EXPECT_TRUE(is_whole_answer(out, ResponseShape::prepare, capabilities));
    out.clear();
    ResultWriter(out, 1, capabilities).field_list(one, 2);
    EXPECT_TRUE(is_whole_answer(out, ResponseShape::field_list, capabilities));
    out.clear();
    ResultWriter(out, 1, capabilities).text("Uptime: 1");
    EXPECT_TRUE(is_whole_answer(out, ResponseShape::text, capabilities));
  }
}

TEST(ResultWriter, ARowThatDoesNotFitIsAnErrorAndNotSent) {
  std::string out;
  ResultWriter answer(out, 1, with_eof, RowFormat::binary);
  answer.columns(std::vector{column_for("a", Value::int64(1))}, 2);
  const std::string before = out;
  answer.row(std::vector<Value>{Value::string("x")});
  EXPECT_EQ(out, before);
  EXPECT_FALSE(answer.status());
  std::string other;
  ResultWriter narrow(other, 1, with_eof);
  narrow.columns(std::vector{column_for("a", Value::int64(1))}, 2);
  narrow.row(std::vector<Value>{});
  EXPECT_FALSE(narrow.status());
}

}  // namespace
}  // namespace evenkeel::front
