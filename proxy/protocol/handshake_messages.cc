#include "proxy/protocol/handshake_messages.h"

#include <algorithm>

namespace evenkeel::protocol {
namespace {

constexpr size_t nonce_first_part = 8;

// Bits above 31 travel only between peers that both left long_password off.
Capabilities join_capabilities(uint32_t lower, uint32_t upper) {
  Capabilities out = lower;
  if (!has(out, capability::long_password)) out |= static_cast<Capabilities>(upper) << 32;
  return out;
}

uint32_t upper_capabilities(Capabilities all) {
  return has(all, capability::long_password) ? 0 : static_cast<uint32_t>(all >> 32);
}

void write_response_head(WireWriter& out, Capabilities capabilities, uint32_t max_packet, uint8_t collation) {
  out.int4(capabilities & 0xffffffff);
  out.int4(max_packet);
  out.int1(collation);
  out.zeros(19);
  out.int4(upper_capabilities(capabilities));
}

template <typename Message>
void read_response_head(WireReader& in, Message& message) {
  const uint32_t lower = in.int4();
  message.max_packet = in.int4();
  message.collation = in.int1();
  in.skip(19);
  message.capabilities = join_capabilities(lower, in.int4());
}

}  // namespace

ConnectAttributes decode_attributes(WireReader& in) {
  ConnectAttributes attributes;
  const std::string_view all = in.lenenc_string();
  if (all.size() > connect_attributes_max) in.set_bad();
  WireReader pairs(in.ok() ? all : std::string_view());
  while (pairs.ok() && !pairs.at_end()) {
    const std::string_view name = pairs.lenenc_string();
    const std::string_view value = pairs.lenenc_string();
    if (pairs.ok()) attributes.emplace_back(name, value);
  }
  if (!pairs.ok()) in.set_bad();
  return attributes;
}

void encode_attributes(WireWriter& out, const ConnectAttributes& attributes) {
  std::string all;
  WireWriter pairs(all);
  for (const auto& [name, value] : attributes) {
    pairs.lenenc_string(name);
    pairs.lenenc_string(value);
  }
  out.lenenc_string(all);
}

Result<HandshakeV10> HandshakeV10::decode(std::string_view payload) {
  WireReader in(payload);
  HandshakeV10 greeting;
  if (in.int1() != 10) return fail(malformed("greeting (protocol version is not 10)"));
  greeting.server_version = in.nul_string();
  greeting.connection_id = in.int4();
  greeting.nonce = in.bytes(nonce_first_part);
  in.skip(1);
  uint32_t lower = in.int2();
  // Servers before 4.1 end here.
  greeting.collation = in.int1();
  greeting.status = in.int2();
  lower |= static_cast<uint32_t>(in.int2()) << 16;
  const uint8_t nonce_length = in.int1();
  in.skip(6);
  greeting.capabilities = join_capabilities(lower, in.int4());
  if (has(greeting.capabilities, capability::secure_connection)) {
    // At least 13 bytes, the last of them NUL.
    const size_t second =
        std::max<size_t>(13, nonce_length > nonce_first_part ? nonce_length - nonce_first_part : 0);
    std::string_view part = in.bytes(second);
    if (part.ends_with('\0')) part.remove_suffix(1);
    greeting.nonce += part;
  }
  if (has(greeting.capabilities, capability::plugin_auth)) {
    // Some servers leave out the NUL behind the name.
    const std::string_view name = in.rest();
    greeting.auth_plugin = name.substr(0, name.find('\0'));
  }
  if (!in.ok()) return fail(malformed("greeting"));
  return greeting;
}

void HandshakeV10::encode(WireWriter& out, Capabilities) const {
  const bool plugins = has(capabilities, capability::plugin_auth);
  out.int1(10);
  out.nul_string(server_version);
  out.int4(connection_id);
  out.bytes(std::string_view(nonce).substr(0, nonce_first_part));
  out.zeros(1);
  out.int2(capabilities & 0xffff);
  out.int1(collation);
  out.int2(status);
  out.int2((capabilities >> 16) & 0xffff);
  out.int1(plugins ? nonce.size() + 1 : 0);
  out.zeros(6);
  out.int4(upper_capabilities(capabilities));
  if (has(capabilities, capability::secure_connection)) {
    if (nonce.size() < nonce_first_part + 12)
      return out.set_error(malformed("greeting with a nonce below 20 bytes"));
    out.bytes(std::string_view(nonce).substr(nonce_first_part));
    out.zeros(1);
  }
  if (plugins) out.nul_string(auth_plugin);
}

Result<SslRequest> SslRequest::decode(std::string_view payload) {
  WireReader in(payload);
  SslRequest request;
  read_response_head(in, request);
  if (!in.ok() || !in.at_end() || !has(request.capabilities, capability::ssl))
    return fail(malformed("SSL request"));
  return request;
}

void SslRequest::encode(WireWriter& out, Capabilities) const {
  write_response_head(out, capabilities, max_packet, collation);
}

bool is_ssl_request(std::string_view payload) {
  return payload.size() == 32 && has(WireReader(payload).int4(), capability::ssl);
}

Result<HandshakeResponse41> HandshakeResponse41::decode(std::string_view payload, Capabilities offered) {
  WireReader in(payload);
  HandshakeResponse41 response;
  read_response_head(in, response);
  if (!has(response.capabilities, capability::protocol_41)) {
    return fail(malformed("handshake response (clients before 4.1 are not supported)"));
  }
  const Capabilities both = response.capabilities & offered;
  response.user = in.nul_string();
  if (has(both, capability::plugin_auth_lenenc_data)) {
    response.auth_response = in.lenenc_string();
  } else if (has(both, capability::secure_connection)) {
    response.auth_response = in.bytes(in.int1());
  } else {
    response.auth_response = in.nul_string();
  }
  // Some clients end here although they announced more.
  if (has(both, capability::connect_with_db) && !in.at_end()) response.database = in.nul_string();
  if (has(both, capability::plugin_auth) && !in.at_end()) {
    response.auth_plugin = in.nul_string();
  }
  if (has(both, capability::connect_attrs) && !in.at_end()) response.attributes = decode_attributes(in);
  if (has(both, capability::zstd_compression) && !in.at_end()) response.zstd_level = in.int1();
  if (!in.ok()) return fail(malformed("handshake response"));
  return response;
}

void HandshakeResponse41::encode(WireWriter& out, Capabilities) const {
  write_response_head(out, capabilities, max_packet, collation);
  out.nul_string(user);
  if (has(capabilities, capability::plugin_auth_lenenc_data)) {
    out.lenenc_string(auth_response);
  } else if (has(capabilities, capability::secure_connection)) {
    out.short_string(auth_response);
  } else {
    out.nul_string(auth_response);
  }
  if (has(capabilities, capability::connect_with_db)) out.nul_string(database);
  if (has(capabilities, capability::plugin_auth)) out.nul_string(auth_plugin);
  if (has(capabilities, capability::connect_attrs)) encode_attributes(out, attributes);
  if (has(capabilities, capability::zstd_compression)) out.int1(zstd_level);
}

Result<AuthSwitchRequest> AuthSwitchRequest::decode(std::string_view payload) {
  WireReader in(payload);
  AuthSwitchRequest request;
  if (in.int1() != 0xfe) return fail(malformed("authentication switch request"));
  request.plugin = in.nul_string();
  std::string_view nonce = in.rest();
  if (nonce.ends_with('\0')) nonce.remove_suffix(1);
  request.nonce = nonce;
  if (!in.ok()) return fail(malformed("authentication switch request"));
  return request;
}

void AuthSwitchRequest::encode(WireWriter& out, Capabilities) const {
  out.int1(0xfe);
  out.nul_string(plugin);
  out.bytes(nonce);
  out.zeros(1);
}

Result<AuthMoreData> AuthMoreData::decode(std::string_view payload) {
  WireReader in(payload);
  AuthMoreData more;
  if (in.int1() != 0x01) return fail(malformed("authentication packet"));
  more.bytes = in.rest();
  return more;
}

void AuthMoreData::encode(WireWriter& out, Capabilities) const {
  out.int1(0x01);
  out.bytes(bytes);
}

}  // namespace evenkeel::protocol
