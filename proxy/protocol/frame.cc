#include "proxy/protocol/frame.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::protocol {
namespace {

constexpr size_t full = limits::frame_payload_max;

void put_header(char* at, size_t length, uint8_t sequence) {
  at[0] = static_cast<char>(length);
  at[1] = static_cast<char>(length >> 8);
  at[2] = static_cast<char>(length >> 16);
  at[3] = static_cast<char>(sequence);
}

Error out_of_order(uint8_t expected, uint8_t got) {
  return make_error(ErrorKind::protocol, mysql::er::net_packets_out_of_order,
                    fmt::format("Got packets out of order: expected {}, got {}", expected, got));
}

}  // namespace

FrameHeader parse_frame_header(std::string_view bytes) {
  WireReader in(bytes);
  FrameHeader header;
  header.length = in.int3();
  header.sequence = in.int1();
  return header;
}

Status FrameReader::check(const FrameHeader& header) {
  if (header.sequence != sequence_) return fail(out_of_order(sequence_, header.sequence));
  if (joined_.size() + header.length > packet_max_) {
    return fail(make_error(ErrorKind::limit, mysql::er::net_packet_too_large,
                           "Got a packet bigger than 'max_allowed_packet' bytes"));
  }
  return {};
}

Result<PacketRead> FrameReader::read_packet(std::string_view input) {
  if (failed_) return fail(*failed_);
  if (release_joined_) {
    std::string().swap(joined_);
    release_joined_ = false;
  }
  PacketRead read;
  for (;;) {
    const std::string_view rest = input.substr(read.consumed);
    if (rest.size() < frame_header_size) {
      read.missing = frame_header_size - rest.size();
      return read;
    }
    const FrameHeader header = parse_frame_header(rest);
    if (Status ok = check(header); !ok) {
      failed_ = ok.error();
      return fail(*failed_);
    }
    const size_t whole = frame_header_size + header.length;
    if (rest.size() < whole) {
      read.missing = whole - rest.size();
      return read;
    }
    const std::string_view payload = rest.substr(frame_header_size, header.length);
    if (!joining_) first_sequence_ = header.sequence;
    read.consumed += whole;
    ++sequence_;
    if (header.length == full) {
      joined_.append(payload);
      joining_ = true;
      continue;
    }
    read.complete = true;
    read.first_sequence = first_sequence_;
    read.last_sequence = header.sequence;
    if (joining_) {
      joined_.append(payload);
      read.payload = joined_;
      release_joined_ = true;
      joining_ = false;
    } else {
      read.payload = payload;
    }
    return read;
  }
}

Result<std::optional<FramePiece>> FrameStream::next(std::string_view input, size_t prefix) {
  FramePiece piece;
  if (left_ == 0) {
    if (input.size() < frame_header_size) return std::nullopt;
    const FrameHeader header = parse_frame_header(input);
    if (header.sequence != sequence_) return fail(out_of_order(sequence_, header.sequence));
    const size_t there = input.size() - frame_header_size;
    if (!continues_ && there < std::min<size_t>(header.length, prefix)) return std::nullopt;
    piece.header = input.substr(0, frame_header_size);
    piece.starts_packet = !continues_;
    input.remove_prefix(frame_header_size);
    current_ = header.sequence;
    length_ = left_ = header.length;
    ++sequence_;
  } else if (input.empty()) {
    return std::nullopt;
  }
  piece.sequence = current_;
  piece.frame_length = length_;
  piece.payload = input.substr(0, left_);
  left_ -= static_cast<uint32_t>(piece.payload.size());
  piece.ends_frame = left_ == 0;
  continues_ = length_ == full;
  piece.ends_packet = piece.ends_frame && !continues_;
  return piece;
}

WireWriter& PacketWriter::begin() {
  start_ = out_.size();
  body_.zeros(frame_header_size);
  return body_;
}

void PacketWriter::end() {
  if (!body_.ok()) {
    out_.resize(start_);
    return;
  }
  const size_t payload = out_.size() - start_ - frame_header_size;
  const size_t splits = payload / full;
  if (splits > 0) {
    // Room for the headers of the later frames; the payloads move back, the last one first.
    out_.resize(out_.size() + splits * frame_header_size);
    for (size_t i = splits; i > 0; --i) {
      char* from = out_.data() + start_ + frame_header_size + i * full;
      const size_t length = std::min(full, payload - i * full);
      std::memmove(from + i * frame_header_size, from, length);
    }
  }
  for (size_t i = 0; i <= splits; ++i) {
    put_header(out_.data() + start_ + i * (full + frame_header_size), std::min(full, payload - i * full),
               sequence_++);
  }
}

void PacketWriter::write_payload(std::string_view payload) {
  begin().bytes(payload);
  end();
}

}  // namespace evenkeel::protocol
