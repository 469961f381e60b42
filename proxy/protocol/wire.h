// The fields that packets are made of: little-endian integers, length-encoded integers and strings, NUL-ended
// strings. Both ends keep their first error, so that a message's body needs no error plumbing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::protocol {

// "Malformed packet" naming the message: kind protocol, code 1835.
Error malformed(std::string_view message);

// Reads fields from the front of a payload. Never reads out of bounds: after the first field that is not
// there, all reads give 0 or an empty view and ok() is false. Views are into the payload.
class WireReader {
 public:
  explicit WireReader(std::string_view payload)
      : at_(payload.data()), end_(payload.data() + payload.size()) {}

  uint8_t int1() { return static_cast<uint8_t>(fixed<1>()); }
  uint16_t int2() { return static_cast<uint16_t>(fixed<2>()); }
  uint32_t int3() { return static_cast<uint32_t>(fixed<3>()); }
  uint32_t int4() { return static_cast<uint32_t>(fixed<4>()); }
  uint64_t int6() { return fixed<6>(); }
  uint64_t int8() { return fixed<8>(); }
  // 0xfb (NULL) and 0xff are no lengths: an error.
  uint64_t lenenc_int() {
    if (at_ == end_) return fail_read();
    const auto first = static_cast<uint8_t>(*at_++);
    if (first < 0xfb) return first;
    switch (first) {
      case 0xfc:
        return fixed<2>();
      case 0xfd:
        return fixed<3>();
      case 0xfe:
        return fixed<8>();
      default:
        return fail_read();
    }
  }
  // A length of eight bytes is read as servers read it, by its low four: no packet is longer, and Node's
  // mysql2 sends something else in the high ones.
  std::string_view lenenc_string() { return bytes(lenenc_int() & 0xffffffff); }
  // nullopt for the NULL mark 0xfb of text rows.
  std::optional<std::string_view> nullable_lenenc_string() {
    if (at_ != end_ && static_cast<uint8_t>(*at_) == 0xfb) {
      ++at_;
      return std::nullopt;
    }
    return lenenc_string();
  }
  std::string_view bytes(uint64_t count) {
    if (count > left()) {
      fail_read();
      return {};
    }
    const std::string_view out(at_, static_cast<size_t>(count));
    at_ += count;
    return out;
  }
  // Without its NUL; an error when there is none.
  std::string_view nul_string() {
    const void* nul = at_ == end_ ? nullptr : std::memchr(at_, 0, left());
    if (nul == nullptr) {
      fail_read();
      return {};
    }
    const std::string_view out(at_, static_cast<size_t>(static_cast<const char*>(nul) - at_));
    at_ += out.size() + 1;
    return out;
  }
  std::string_view rest() { return bytes(left()); }
  void skip(uint64_t count) { bytes(count); }
  // The next byte, not taken; 0 at the end.
  uint8_t peek() const { return at_ == end_ ? 0 : static_cast<uint8_t>(*at_); }

  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool at_end() const { return at_ == end_; }
  bool ok() const { return ok_; }
  // For what a message finds wrong itself: the reader then behaves as after a missing field.
  void set_bad() { fail_read(); }

 private:
  template <size_t N>
  uint64_t fixed() {
    if (left() < N) return fail_read();
    uint64_t out = 0;
    for (size_t i = 0; i < N; ++i) out |= static_cast<uint64_t>(static_cast<uint8_t>(at_[i])) << (8 * i);
    at_ += N;
    return out;
  }
  uint64_t fail_read() {
    ok_ = false;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

// Appends fields to the caller's string. After the first error all writes are no-ops.
class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}

  void int1(uint64_t v) { fixed<1>(v); }
  void int2(uint64_t v) { fixed<2>(v); }
  void int3(uint64_t v) { fixed<3>(v); }
  void int4(uint64_t v) { fixed<4>(v); }
  void int6(uint64_t v) { fixed<6>(v); }
  void int8(uint64_t v) { fixed<8>(v); }
  void lenenc_int(uint64_t v);
  void lenenc_string(std::string_view text) {
    lenenc_int(text.size());
    bytes(text);
  }
  void null_mark() { int1(0xfb); }
  void bytes(std::string_view text) {
    if (!failed_) out_.append(text);
  }
  void zeros(size_t count) {
    if (!failed_) out_.append(count, '\0');
  }
  // An error when `text` holds a NUL.
  void nul_string(std::string_view text);
  // One length byte; an error above 255 bytes.
  void short_string(std::string_view text);

  std::string& out() { return out_; }
  bool ok() const { return !failed_; }
  Status status() const;
  void set_error(Error error) {
    if (!failed_) failed_ = std::move(error);
  }

 private:
  template <size_t N>
  void fixed(uint64_t v) {
    if (failed_) return;
    char field[N];
    for (size_t i = 0; i < N; ++i) field[i] = static_cast<char>(v >> (8 * i));
    out_.append(field, N);
  }

  std::string& out_;
  std::optional<Error> failed_;
};

}  // namespace evenkeel::protocol
