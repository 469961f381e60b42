// Frames from arbitrary bytes in arbitrary pieces: whole packets, pieces for relaying, and the tracker over
// them.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proxy/protocol/frame.h"
#include "proxy/protocol/response_tracker.h"

namespace {

using namespace evenkeel::protocol;

void read_packets(std::string_view input, size_t piece) {
  FrameReader reader(1 << 20);
  std::string buffer;
  while (!input.empty()) {
    buffer += input.substr(0, piece);
    input.remove_prefix(std::min(piece, input.size()));
    for (;;) {
      const auto read = reader.read_packet(buffer);
      if (!read) return;
      buffer.erase(0, read->consumed);
      if (!read->complete) break;
      // The next command may start anew.
      reader.expect_sequence(read->last_sequence);
      reader.expect_sequence(buffer.size() > 3 ? static_cast<uint8_t>(buffer[3]) : 0);
    }
  }
}

// What is relayed must be a prefix of the input, to the byte.
void relay(std::string_view input, ResponseShape shape, Capabilities capabilities, bool parts) {
  ResponseRelay relay;
  relay.reset(shape, capabilities, input.size() > 3 ? static_cast<uint8_t>(input[3]) : 0);
  size_t at = 0;
  for (size_t steps = 0; steps <= input.size() + 1; ++steps) {
    const auto run = parts ? relay.scan_to_part(input.substr(at)) : relay.scan(input.substr(at));
    if (!run || run->done) return;
    at += run->bytes;
    if (at > input.size()) std::abort();
    if (run->bytes == 0) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  read_packets(input, 1 + bytes[0] % 64);
  const auto shape = static_cast<ResponseShape>(bytes[1] % 8);
  const Capabilities capabilities =
      capability::protocol_41 | ((bytes[1] & 0x80) != 0 ? capability::deprecate_eof : 0);
  relay(input, shape, capabilities, false);
  relay(input, shape, capabilities, true);
  return 0;
}
