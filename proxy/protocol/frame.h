// Bytes <-> packets. A frame is three bytes of length, one of sequence, and at most 2^24-1 bytes of payload;
// a packet is the payload of one frame, or of several when all but the last are full. Nothing here performs
// IO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "proxy/protocol/capabilities.h"
#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

inline constexpr size_t frame_header_size = 4;
// What MySQL allows at most; a session's own limit is a setting.
inline constexpr size_t packet_size_max = size_t{1} << 30;

struct FrameHeader {
  uint32_t length = 0;  // bytes of payload
  uint8_t sequence = 0;
  bool operator==(const FrameHeader&) const = default;
};

// `bytes` must hold at least frame_header_size bytes.
FrameHeader parse_frame_header(std::string_view bytes);

// What read_packet found at the front of the input.
struct PacketRead {
  bool complete = false;
  // Bytes to drop from the front of the input, also when not complete (full frames of a long packet are taken
  // over as they arrive, so that a long packet is never held twice).
  size_t consumed = 0;
  // complete: the whole payload. A view into the input for a packet of one frame, else into the reader; it
  // dies when the input moves or at the next call.
  std::string_view payload;
  uint8_t first_sequence = 0;  // of the packet's first frame
  uint8_t last_sequence = 0;   // of its last; an answer starts at last_sequence + 1
  // Not complete: at least so many more bytes are needed behind `consumed` (a hint for the read).
  size_t missing = 0;
};

// Joins frames to packets. One for each direction of a connection.
//
//   auto read = reader.read_packet(buffer);
//   if (!read) close with read.error();
//   if (read->complete) use(read->payload);
//   buffer.remove_prefix(read->consumed);
class FrameReader {
 public:
  // `packet_max`: payload bytes of one packet, all frames together.
  explicit FrameReader(size_t packet_max = packet_size_max) : packet_max_(packet_max) {}

  // Errors: 1153 (limit: packet larger than packet_max), 1156 (protocol: sequence not the expected one).
  // After an error the connection must be closed: every further call gives the same error.
  Result<PacketRead> read_packet(std::string_view input);

  // The sequence id that the next frame must carry. Commands start at 0: call expect_sequence(0) before each.
  void expect_sequence(uint8_t sequence) { sequence_ = sequence; }
  uint8_t next_sequence() const { return sequence_; }
  // In the middle of a packet of several frames.
  bool joining() const { return joining_; }
  void set_packet_max(size_t packet_max) { packet_max_ = packet_max; }

 private:
  Status check(const FrameHeader& header);

  size_t packet_max_;
  uint8_t sequence_ = 0;
  uint8_t first_sequence_ = 0;
  bool joining_ = false;
  bool release_joined_ = false;
  std::string joined_;
  std::optional<Error> failed_;
};

// A run of bytes of one frame as they stand in the input.
struct FramePiece {
  std::string_view header;   // the frame's 4 header bytes, empty when the piece continues a frame
  std::string_view payload;  // as much of the frame's payload as is there, from where the last piece ended
  uint8_t sequence = 0;
  bool starts_packet = false;  // payload begins with the packet's first byte
  bool ends_frame = false;     // payload ends the frame
  bool ends_packet = false;    // … and the packet
  uint32_t frame_length =
      0;  // payload bytes of the frame; 0xffffff when the packet continues in the next one
};

// For relaying without joining and without waiting for whole packets. Views only, no memory of its own.
class FrameStream {
 public:
  // The next piece, which the caller drops from the input (header.size() + payload.size() bytes). Nothing
  // when more bytes are needed: fewer than 4 header bytes, or, at a packet's start, fewer than min(frame
  // length, prefix) payload bytes; `prefix` serves those who must look at a packet's first bytes. Error 1156
  // when a sequence id is out of order.
  Result<std::optional<FramePiece>> next(std::string_view input, size_t prefix = 1);

  void expect_sequence(uint8_t sequence) { sequence_ = sequence; }
  uint8_t next_sequence() const { return sequence_; }
  // Between two packets: nothing of a packet was given out that is not complete.
  bool at_packet_start() const { return left_ == 0 && !continues_; }

 private:
  uint8_t sequence_ = 0;
  uint8_t current_ = 0;     // sequence of the frame being given out
  uint32_t length_ = 0;     // its length
  uint32_t left_ = 0;       // its payload bytes not yet given out
  bool continues_ = false;  // the next frame belongs to the packet before it
};

// Appends packets to the caller's buffer: no memory of its own. Headers are reserved first and patched at the
// end; a packet longer than a frame is split there.
//
//   PacketWriter packets(out, 1);
//   packets.write(ok, capabilities);               // any message with encode(WireWriter&, Capabilities)
//   WireWriter& body = packets.begin(); body.int1(0); …; packets.end();
//   if (!packets.status()) …
class PacketWriter {
 public:
  // `sequence`: id of the first frame written.
  PacketWriter(std::string& out, uint8_t sequence) : out_(out), body_(out), sequence_(sequence) {}

  WireWriter& begin();
  void end();
  template <typename Message>
  void write(const Message& message, Capabilities capabilities) {
    message.encode(begin(), capabilities);
    end();
  }
  void write_payload(std::string_view payload);

  uint8_t next_sequence() const { return sequence_; }
  // The first error of any field written (a string too long for its length byte, a NUL in a NUL-ended
  // string). A packet that failed is taken out of the buffer, and all later ones are no-ops.
  Status status() const { return body_.status(); }

 private:
  std::string& out_;
  WireWriter body_;
  size_t start_ = 0;
  uint8_t sequence_;
};

}  // namespace evenkeel::protocol
