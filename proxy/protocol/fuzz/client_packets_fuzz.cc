// Every packet that a client may send. What decodes must encode, and decode to the same again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/protocol/messages.h"

namespace {

using namespace evenkeel;
using namespace evenkeel::protocol;

// Values that hold NaN are not equal to themselves only as numbers; Value compares bits, so that this holds
// for all.
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
void plain(std::string_view payload) {
  round_trip<Message>(payload, 0, [](std::string_view p) { return Message::decode(p); });
}

void execute(std::string_view payload, Capabilities capabilities, uint16_t parameters) {
  std::vector<WireType> remembered(parameters, WireType{mysql::ColumnType::datetime, false});
  const auto first = StmtExecute::decode(payload, capabilities, {parameters, remembered, {}});
  if (!first) return;
  if (first->values.size() != parameters || first->types.size() != parameters) std::abort();
  std::string encoded;
  WireWriter out(encoded);
  first->encode(out, capabilities);
  if (!out.ok()) return;
  const auto second = StmtExecute::decode(encoded, capabilities, {parameters, {}, {}});
  if (!second || second->values != first->values || second->types != first->types) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size < 2) return 0;
  const std::string_view payload(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  Capabilities capabilities = capability::protocol_41 | capability::secure_connection |
                              capability::plugin_auth | capability::connect_attrs |
                              capability::connect_with_db;
  if ((bytes[0] & 1) != 0) capabilities |= capability::query_attributes;
  if ((bytes[0] & 2) != 0) capabilities |= capability::plugin_auth_lenenc_data;
  if ((bytes[0] & 4) != 0) capabilities &= ~capability::secure_connection;

  round_trip<Query>(payload, capabilities,
                    [&](std::string_view p) { return Query::decode(p, capabilities); });
  round_trip<ChangeUser>(payload, capabilities,
                         [&](std::string_view p) { return ChangeUser::decode(p, capabilities); });
  (void)HandshakeResponse41::decode(payload, capabilities);
  plain<SslRequest>(payload);
  plain<PlainCommand>(payload);
  plain<InitDb>(payload);
  plain<FieldList>(payload);
  plain<SetOption>(payload);
  plain<ProcessKill>(payload);
  plain<StmtPrepare>(payload);
  plain<StmtSendLongData>(payload);
  plain<StmtClose>(payload);
  plain<StmtReset>(payload);
  plain<StmtFetch>(payload);
  execute(payload, capabilities, bytes[1] % 20);
  return 0;
}
