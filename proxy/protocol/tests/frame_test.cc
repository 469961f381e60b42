#include "proxy/protocol/frame.h"

#include <gtest/gtest.h>

#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::protocol {
namespace {

constexpr size_t full = limits::frame_payload_max;

std::string pattern(size_t size) {
  std::string out(size, 'x');
  // Marks that show a byte out of place, also across frames.
  for (size_t i = 0; i < size; i += 4093) out[i] = static_cast<char>(i / 4093);
  return out;
}

TEST(FrameReader, OnePacket) {
  FrameReader reader;
  const std::string input = bytes("03 00 00 00 'abc' 01 00 00");
  const auto read = reader.read_packet(input);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->complete);
  EXPECT_EQ(read->payload, "abc");
  EXPECT_EQ(read->payload.data(), input.data() + 4) << "a view into the input";
  EXPECT_EQ(read->consumed, 7u);
  EXPECT_EQ(read->first_sequence, 0);
  EXPECT_EQ(read->last_sequence, 0);
  EXPECT_EQ(reader.next_sequence(), 1);
}

TEST(FrameReader, EmptyPacket) {
  FrameReader reader;
  const auto read = reader.read_packet(bytes("00 00 00 00"));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->complete);
  EXPECT_EQ(read->payload, "");
  EXPECT_EQ(read->consumed, 4u);
}

TEST(FrameReader, EveryPrefixAsksForMore) {
  const std::string input = bytes("05 00 00 00 'abcde'");
  for (size_t size = 0; size < input.size(); ++size) {
    FrameReader reader;
    const auto read = reader.read_packet(std::string_view(input).substr(0, size));
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->complete);
    EXPECT_EQ(read->consumed, 0u);
    EXPECT_EQ(read->missing, (size < 4 ? 4 : input.size()) - size);
    const auto whole = reader.read_packet(input);
    ASSERT_TRUE(whole && whole->complete);
    EXPECT_EQ(whole->payload, "abcde");
  }
}

TEST(FrameReader, JoinsLongPacketsAndTakesFramesOver) {
  for (const size_t size : {full - 1, full, 2 * full + 7}) {
    const std::string payload = pattern(size);
    std::string stream;
    PacketWriter writer(stream, 0);
    writer.write_payload(payload);
    const size_t frames = size / full + 1;
    EXPECT_EQ(stream.size(), size + 4 * frames);
    EXPECT_EQ(writer.next_sequence(), frames);

    FrameReader reader;
    std::string buffer;
    bool complete = false;
    // Arrives in pieces that do not fit the frames.
    for (size_t at = 0; at < stream.size() && !complete; at += 5'000'011) {
      buffer += stream.substr(at, 5'000'011);
      const auto read = reader.read_packet(buffer);
      ASSERT_TRUE(read);
      complete = read->complete;
      if (complete) {
        EXPECT_TRUE(read->payload == payload) << size;
        EXPECT_EQ(read->last_sequence, frames - 1);
      }
      buffer.erase(0, read->consumed);
      EXPECT_LT(buffer.size(), full + 4) << "whole frames are not left in the caller's buffer";
    }
    EXPECT_TRUE(complete) << size;
    EXPECT_TRUE(buffer.empty());
  }
}

TEST(FrameReader, RefusesAWrongSequenceForGood) {
  FrameReader reader;
  const auto read = reader.read_packet(bytes("01 00 00 01 'a'"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, 1156);
  EXPECT_EQ(read.error().sqlstate, "08S01");
  EXPECT_FALSE(reader.read_packet(bytes("01 00 00 00 'a'"))) << "the error stays";
}

TEST(FrameReader, RefusesATooLongPacketFromItsHeader) {
  FrameReader reader(10);
  EXPECT_TRUE(reader.read_packet(bytes("0a 00 00 00")));
  FrameReader other(10);
  const auto read = other.read_packet(bytes("0b 00 00 00"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, 1153);
  EXPECT_EQ(read.error().kind, ErrorKind::limit);
}

TEST(FrameReader, TheLimitCountsAllFrames) {
  std::string stream;
  PacketWriter(stream, 0).write_payload(pattern(full + 1));
  FrameReader exact(full + 1);
  ASSERT_TRUE(exact.read_packet(stream));
  FrameReader short_of_one(full);
  EXPECT_FALSE(short_of_one.read_packet(stream));
}

TEST(FrameReader, SequenceWraps) {
  FrameReader reader;
  reader.expect_sequence(255);
  ASSERT_TRUE(reader.read_packet(bytes("00 00 00 ff")));
  EXPECT_EQ(reader.next_sequence(), 0);
}

TEST(FrameStream, GivesPartsAsTheyArrive) {
  std::string stream = bytes("06 00 00 01 'abcdef'") + bytes("01 00 00 02 'g'");
  FrameStream frames;
  frames.expect_sequence(1);
  auto piece = frames.next(std::string_view(stream).substr(0, 3));
  ASSERT_TRUE(piece);
  EXPECT_FALSE(*piece);
  piece = frames.next(std::string_view(stream).substr(0, 6), 3);
  ASSERT_TRUE(piece);
  EXPECT_FALSE(*piece) << "three bytes of payload were asked for";
  piece = frames.next(std::string_view(stream).substr(0, 6), 2);
  ASSERT_TRUE(piece && *piece);
  EXPECT_EQ((*piece)->payload, "ab");
  EXPECT_EQ((*piece)->header, bytes("06 00 00 01"));
  EXPECT_TRUE((*piece)->starts_packet);
  EXPECT_FALSE((*piece)->ends_frame);
  EXPECT_FALSE(frames.at_packet_start());
  stream.erase(0, 6);
  piece = frames.next(stream);
  ASSERT_TRUE(piece && *piece);
  EXPECT_EQ((*piece)->payload, "cdef");
  EXPECT_TRUE((*piece)->header.empty());
  EXPECT_FALSE((*piece)->starts_packet);
  EXPECT_TRUE((*piece)->ends_packet);
  EXPECT_TRUE(frames.at_packet_start());
  stream.erase(0, 4);
  piece = frames.next(stream);
  ASSERT_TRUE(piece && *piece);
  EXPECT_EQ((*piece)->payload, "g");
  EXPECT_EQ((*piece)->sequence, 2);
}

TEST(FrameStream, AFullFrameContinuesAlsoWhenTheNextIsEmpty) {
  std::string stream;
  PacketWriter(stream, 0).write_payload(pattern(full));
  FrameStream frames;
  auto piece = frames.next(stream);
  ASSERT_TRUE(piece && *piece);
  EXPECT_TRUE((*piece)->ends_frame);
  EXPECT_FALSE((*piece)->ends_packet);
  EXPECT_FALSE(frames.at_packet_start());
  piece = frames.next(std::string_view(stream).substr(full + 4));
  ASSERT_TRUE(piece && *piece);
  EXPECT_FALSE((*piece)->starts_packet);
  EXPECT_TRUE((*piece)->ends_packet);
  EXPECT_EQ((*piece)->frame_length, 0u);
}

TEST(FrameStream, RefusesAWrongSequence) {
  FrameStream frames;
  EXPECT_FALSE(frames.next(bytes("01 00 00 05 'a'")));
}

TEST(PacketWriter, AppendsAndNumbers) {
  std::string out = "before";
  PacketWriter writer(out, 254);
  writer.write_payload("a");
  writer.write_payload("");
  writer.write_payload("bc");
  EXPECT_EQ(hex(out), hex("before" + bytes("01 00 00 fe 'a' 00 00 00 ff 02 00 00 00 'bc'")));
  EXPECT_TRUE(writer.status());
}

TEST(PacketWriter, TheFirstErrorStaysAndItsPacketIsTakenOut) {
  std::string out;
  PacketWriter writer(out, 0);
  writer.write_payload("good");
  writer.begin().nul_string(std::string_view("a\0b", 3));
  writer.end();
  writer.write_payload("later");
  EXPECT_EQ(hex(out), hex(bytes("04 00 00 00 'good'")));
  ASSERT_FALSE(writer.status());
  EXPECT_EQ(writer.status().error().kind, ErrorKind::protocol);
}

}  // namespace
}  // namespace evenkeel::protocol
