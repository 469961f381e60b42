// The messages of the login. Plain values that own their text; decode takes a packet's payload, encode
// appends one to the writer. Every decode refuses what is short, and none trusts a length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "proxy/protocol/capabilities.h"
#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

namespace plugin {
inline constexpr std::string_view native_password = "mysql_native_password";
inline constexpr std::string_view caching_sha2_password = "caching_sha2_password";
inline constexpr std::string_view clear_password = "mysql_clear_password";
}  // namespace plugin

// The server's greeting (protocol version 10), the first packet of a connection.
struct HandshakeV10 {
  std::string server_version;
  uint32_t connection_id = 0;
  std::string nonce;  // the 20 bytes of the challenge, without the NUL that follows them
  Capabilities capabilities = 0;
  uint8_t collation = 0;
  uint16_t status = 0;
  std::string auth_plugin;

  bool operator==(const HandshakeV10&) const = default;
  static Result<HandshakeV10> decode(std::string_view payload);
  // `negotiated` is not used: the greeting carries its own.
  void encode(WireWriter& out, Capabilities negotiated = 0) const;
};

// Asks for TLS instead of sending HandshakeResponse41; that follows when TLS stands, with the next sequence
// id.
struct SslRequest {
  Capabilities capabilities = 0;
  uint32_t max_packet = 0;
  uint8_t collation = 0;

  bool operator==(const SslRequest&) const = default;
  static Result<SslRequest> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities negotiated = 0) const;
};
// A response of exactly 32 bytes that carries capability::ssl is a SslRequest.
bool is_ssl_request(std::string_view payload);

using ConnectAttributes = std::vector<std::pair<std::string, std::string>>;
// Bytes of all names and values together, as in MySQL's server; longer ones are refused.
inline constexpr size_t connect_attributes_max = 65'536;
// One length-encoded string of length-encoded names and values; also at the end of COM_CHANGE_USER.
ConnectAttributes decode_attributes(WireReader& in);
void encode_attributes(WireWriter& out, const ConnectAttributes& attributes);

struct HandshakeResponse41 {
  Capabilities capabilities = 0;  // as the client sent them; mask by what was offered before use
  uint32_t max_packet = 0;
  uint8_t collation = 0;
  std::string user;
  std::string auth_response;
  std::string database;     // empty unless capability::connect_with_db
  std::string auth_plugin;  // empty unless capability::plugin_auth
  ConnectAttributes attributes;
  uint8_t zstd_level = 0;  // read and ignored

  bool operator==(const HandshakeResponse41&) const = default;
  // `offered`: what the greeting announced; a field is there only when both sides have its bit.
  static Result<HandshakeResponse41> decode(std::string_view payload, Capabilities offered);
  void encode(WireWriter& out, Capabilities negotiated = 0) const;
};

// 0xfe + plugin + nonce: use another plugin.
struct AuthSwitchRequest {
  std::string plugin;
  std::string nonce;  // without the trailing NUL that servers append

  bool operator==(const AuthSwitchRequest&) const = default;
  static Result<AuthSwitchRequest> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities negotiated = 0) const;
};

// 0x01 + plugin's own bytes.
struct AuthMoreData {
  std::string bytes;

  bool operator==(const AuthMoreData&) const = default;
  static Result<AuthMoreData> decode(std::string_view payload);
  void encode(WireWriter& out, Capabilities negotiated = 0) const;
};

}  // namespace evenkeel::protocol
