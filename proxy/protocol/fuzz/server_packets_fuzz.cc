// Every packet that a server may send, and rows in both formats. What decodes must encode and decode to the
// same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/protocol/messages.h"
#include "proxy/protocol/rows.h"

namespace {

using namespace evenkeel;
using namespace evenkeel::protocol;

template <typename Message, typename Decode>
void round_trip(std::string_view payload, Capabilities capabilities, Decode decode) {
  const Result<Message> first = decode(payload);
  if (!first) return;
  std::string encoded;
  WireWriter out(encoded);
  first->encode(out, capabilities);
  if (!out.ok()) return;
  const Result<Message> second = decode(encoded);
  if (!second || !(*second == *first)) std::abort();
}

template <typename Message>
void plain(std::string_view payload, Capabilities capabilities) {
  round_trip<Message>(payload, capabilities, [](std::string_view p) { return Message::decode(p); });
}

// Not compared: the state flag follows what is sent.
void decode_ok(std::string_view payload, Capabilities capabilities) {
  const auto ok = Ok::decode(payload, capabilities);
  if (!ok) return;
  std::string encoded;
  WireWriter out(encoded);
  ok->encode(out, capabilities);
  const auto again = Ok::decode(encoded, capabilities);
  if (!again || again->affected_rows != ok->affected_rows || again->message != ok->message) std::abort();
}

void rows(std::string_view payload, const std::vector<WireType>& types) {
  const std::vector<uint8_t> decimals(types.size(), 31);
  std::string text;
  if (text_row_of_binary(text, payload, types, decimals)) {
    std::string binary;
    (void)binary_row_of_text(binary, text, types);
  }
  std::string binary;
  if (binary_row_of_text(binary, payload, types)) {
    std::string back;
    if (!text_row_of_binary(back, binary, types, decimals)) std::abort();
  }
  size_t i = 0;
  TextRow row(payload);
  for (Cell cell; row.next(cell) && i < types.size(); ++i) (void)value_of_text(cell, types[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size < 2) return 0;
  const size_t count = std::min<size_t>(bytes[1] % 8, size - 2);
  const std::string_view payload(reinterpret_cast<const char*>(bytes) + 2 + count, size - 2 - count);
  Capabilities capabilities = capability::protocol_41;
  if ((bytes[0] & 1) != 0) capabilities |= capability::session_track;
  if ((bytes[0] & 2) != 0) capabilities |= capability::mariadb_extended_metadata;

  decode_ok(payload, capabilities);
  (void)HandshakeV10::decode(payload);
  plain<Err>(payload, capabilities);
  plain<Eof>(payload, capabilities);
  plain<AuthSwitchRequest>(payload, capabilities);
  plain<AuthMoreData>(payload, capabilities);
  plain<LocalInfileRequest>(payload, capabilities);
  plain<ColumnCount>(payload, capabilities);
  plain<StmtPrepareOk>(payload, capabilities);
  round_trip<ColumnDefinition>(payload, capabilities,
                               [&](std::string_view p) { return ColumnDefinition::decode(p, capabilities); });
  std::vector<WireType> types;
  for (size_t i = 0; i < count; ++i) {
    types.push_back({static_cast<mysql::ColumnType>(bytes[2 + i]), (bytes[0] & 4) != 0});
  }
  rows(payload, types);
  return 0;
}
