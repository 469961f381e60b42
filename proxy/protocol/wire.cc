#include "proxy/protocol/wire.h"

#include <fmt/format.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::protocol {

Error malformed(std::string_view message) {
  return make_error(ErrorKind::protocol, mysql::er::malformed_packet,
                    fmt::format("Malformed packet: {}", message));
}

void WireWriter::lenenc_int(uint64_t v) {
  if (v < 0xfb) return int1(v);
  if (v <= 0xffff) {
    int1(0xfc);
    return int2(v);
  }
  if (v <= 0xffffff) {
    int1(0xfd);
    return int3(v);
  }
  int1(0xfe);
  int8(v);
}

void WireWriter::nul_string(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    return set_error(malformed("a NUL inside a NUL-terminated string cannot be sent"));
  }
  bytes(text);
  int1(0);
}

void WireWriter::short_string(std::string_view text) {
  if (text.size() > 0xff)
    return set_error(malformed("more than 255 bytes behind a one-byte length cannot be sent"));
  int1(text.size());
  bytes(text);
}

Status WireWriter::status() const {
  if (failed_) return fail(*failed_);
  return {};
}

}  // namespace evenkeel::protocol
