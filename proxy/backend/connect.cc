#include "proxy/backend/connect.h"

#include <charconv>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "proxy/protocol/auth/native_password.h"
#include "proxy/protocol/frame.h"

namespace evenkeel::backend {
namespace {

namespace auth = protocol::auth;
namespace capability = protocol::capability;
namespace plugin = protocol::plugin;
namespace er = mysql::er;
using protocol::has;

// MariaDB puts this in front so that old replicas do not take version 10 for version 1.
constexpr std::string_view replication_prefix = "5.5.5-";
constexpr Capabilities always_wanted = capability::protocol_41 | capability::secure_connection |
                                       capability::plugin_auth | capability::transactions |
                                       capability::long_flag;

struct CapabilityName {
  Capabilities bit;
  std::string_view name;
};
constexpr CapabilityName capability_names[] = {
    {capability::found_rows, "CLIENT_FOUND_ROWS"},
    {capability::connect_with_db, "CLIENT_CONNECT_WITH_DB"},
    {capability::local_files, "CLIENT_LOCAL_FILES"},
    {capability::protocol_41, "CLIENT_PROTOCOL_41"},
    {capability::ssl, "CLIENT_SSL"},
    {capability::transactions, "CLIENT_TRANSACTIONS"},
    {capability::secure_connection, "CLIENT_SECURE_CONNECTION"},
    {capability::multi_statements, "CLIENT_MULTI_STATEMENTS"},
    {capability::multi_results, "CLIENT_MULTI_RESULTS"},
    {capability::ps_multi_results, "CLIENT_PS_MULTI_RESULTS"},
    {capability::plugin_auth, "CLIENT_PLUGIN_AUTH"},
    {capability::connect_attrs, "CLIENT_CONNECT_ATTRS"},
    {capability::session_track, "CLIENT_SESSION_TRACK"},
    {capability::deprecate_eof, "CLIENT_DEPRECATE_EOF"},
    {capability::query_attributes, "CLIENT_QUERY_ATTRIBUTES"},
    {capability::mariadb_extended_metadata, "MARIADB_CLIENT_EXTENDED_METADATA"},
};

std::string names_of(Capabilities bits) {
  std::string out;
  for (const auto& [bit, name] : capability_names) {
    if (!has(bits, bit)) continue;
    if (!out.empty()) out += ", ";
    out += name;
    bits &= ~bit;
  }
  if (bits == 0) return out;
  return out + (out.empty() ? "" : ", ") + fmt::format("bits {:#x}", bits);
}

mysql::Flavour flavour_of(std::string_view version, bool has_prefix) {
  const bool maria = has_prefix || version.find("MariaDB") != std::string_view::npos;
  return maria ? mysql::Flavour::mariadb : mysql::Flavour::mysql;
}

}  // namespace

uint32_t version_id_of(std::string_view version) {
  uint32_t parts[3] = {};
  const char* at = version.data();
  const char* end = at + version.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return 0;
    const auto [next, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc() || parts[i] > 99) return 0;
    at = next;
  }
  return parts[0] * 10'000 + parts[1] * 100 + parts[2];
}

ClientHandshake::ClientHandshake(const ConnectSettings& settings) : settings_(settings) {}

ClientHandshake::Next ClientHandshake::on_packet(std::string_view payload, std::string& out) {
  ++sequence_;
  switch (stage_) {
    case Stage::greeting:
      return on_greeting(payload, out);
    case Stage::reply:
    case Stage::server_key:
    case Stage::final_reply:
      return on_reply(payload, out);
    case Stage::tls:
    case Stage::closed:
      break;
  }
  return fail_with(er::connect_to_foreign_data_source, "a packet that was not asked for");
}

ClientHandshake::Next ClientHandshake::on_greeting(std::string_view payload, std::string& out) {
  if (protocol::is_err(payload)) return on_reply(payload, out);
  Result<protocol::HandshakeV10> greeting = protocol::HandshakeV10::decode(payload);
  if (!greeting) return fail_with(er::connect_to_foreign_data_source, greeting.error().message);
  std::string_view version = greeting->server_version;
  const bool prefixed =
      version.starts_with(replication_prefix) && version.find("MariaDB") != std::string_view::npos;
  if (prefixed) version.remove_prefix(replication_prefix.size());
  facts_.version = version;
  facts_.version_id = version_id_of(version);
  facts_.flavour = flavour_of(version, prefixed);
  facts_.connection_id = greeting->connection_id;
  facts_.offered = greeting->capabilities;
  facts_.collation = greeting->collation;
  facts_.status = greeting->status;
  nonce_ = std::move(greeting->nonce);
  plugin_ =
      greeting->auth_plugin.empty() ? std::string(plugin::native_password) : std::move(greeting->auth_plugin);
  if (Status chosen = choose_capabilities(); !chosen) return fail_with(chosen.error());
  if (!has(facts_.capabilities, capability::ssl)) return send_response(out);
  protocol::SslRequest request{facts_.capabilities, settings_.max_packet, settings_.collation};
  protocol::PacketWriter packets(out, sequence_);
  packets.write(request, facts_.capabilities);
  sequence_ = packets.next_sequence();
  stage_ = Stage::tls;
  return Next::start_tls;
}

Status ClientHandshake::choose_capabilities() {
  Capabilities wanted = settings_.desired | settings_.required | always_wanted;
  Capabilities required = (settings_.required & ~capability::unsupported) | capability::protocol_41 |
                          capability::secure_connection;
  constexpr Capabilities by_settings =
      capability::connect_with_db | capability::connect_attrs | capability::ssl | capability::long_password;
  wanted &= ~(by_settings | capability::unsupported);
  wanted |= capability::plugin_auth_lenenc_data;
  if (!settings_.database.empty()) required |= capability::connect_with_db;
  if (!settings_.attributes.empty()) wanted |= capability::connect_attrs;
  if (settings_.tls != TlsUse::off) wanted |= capability::ssl;
  if (settings_.tls == TlsUse::required) required |= capability::ssl;
  // MariaDB reads this bit as "the peer is MySQL" and then hides its own ones.
  if (facts_.flavour == mysql::Flavour::mysql) wanted |= capability::long_password;
  wanted |= required;
  facts_.capabilities = wanted & facts_.offered;
  const Capabilities missing = required & ~facts_.offered;
  if (missing == 0) return {};
  const bool no_tls = missing == capability::ssl;
  return fail(make_error(ErrorKind::backend,
                         no_tls ? er::connect_to_foreign_data_source : er::connect_to_foreign_data_source,
                         no_tls ? "TLS is required and the server does not offer it"
                                : fmt::format("the server does not offer {}", names_of(missing))));
}

ClientHandshake::Next ClientHandshake::on_tls_started(std::string& out) {
  if (stage_ != Stage::tls)
    return fail_with(er::connect_to_foreign_data_source, "TLS that was not asked for");
  facts_.tls = true;
  return send_response(out);
}

Result<std::string> ClientHandshake::respond() const {
  if (plugin_ == plugin::native_password) return auth::native_password::respond(settings_.password, nonce_);
  if (plugin_ == plugin::caching_sha2_password)
    return auth::caching_sha2::respond(settings_.password, nonce_);
  return fail(
      make_error(ErrorKind::backend, er::connect_to_foreign_data_source,
                 fmt::format("the account asks for the authentication plugin '{}'; mysql_native_password and "
                             "caching_sha2_password are supported",
                             plugin_)));
}

ClientHandshake::Next ClientHandshake::send_response(std::string& out) {
  // The server's default may be a plugin that is not known here, and the account's another: then it will
  // switch.
  if (plugin_ != plugin::native_password && plugin_ != plugin::caching_sha2_password) {
    plugin_ = plugin::native_password;
  }
  const Result<std::string> response = respond();
  if (!response) return fail_with(response.error());
  protocol::HandshakeResponse41 message;
  message.capabilities = facts_.capabilities;
  message.max_packet = settings_.max_packet;
  message.collation = settings_.collation;
  message.user = settings_.user;
  message.auth_response = *response;
  message.database = settings_.database;
  message.auth_plugin = plugin_;
  message.attributes = settings_.attributes;
  protocol::PacketWriter packets(out, sequence_);
  packets.write(message, facts_.capabilities);
  if (Status written = packets.status(); !written) return fail_with(written.error());
  sequence_ = packets.next_sequence();
  stage_ = Stage::reply;
  return Next::need_packet;
}

ClientHandshake::Next ClientHandshake::on_reply(std::string_view payload, std::string& out) {
  if (payload.empty()) return fail_with(er::connect_to_foreign_data_source, "an empty packet in the login");
  switch (static_cast<uint8_t>(payload[0])) {
    case 0x00:
      return on_ok(payload);
    case 0x01:
      return on_more(payload, out);
    case 0xfe:
      return on_auth_switch(payload, out);
    case 0xff: {
      const Result<protocol::Err> err = protocol::Err::decode(payload);
      if (!err) return fail_with(er::connect_to_foreign_data_source, err.error().message);
      return fail_with(err->to_error());
    }
    default:
      return fail_with(er::connect_to_foreign_data_source, "a packet of the login that is not understood");
  }
}

ClientHandshake::Next ClientHandshake::on_auth_switch(std::string_view payload, std::string& out) {
  if (stage_ != Stage::reply)
    return fail_with(er::connect_to_foreign_data_source, "a second switch of the plugin");
  if (payload.size() == 1) {
    return fail_with(er::connect_to_foreign_data_source,
                     "the account has a password in the format before MySQL 4.1");
  }
  Result<protocol::AuthSwitchRequest> request = protocol::AuthSwitchRequest::decode(payload);
  if (!request) return fail_with(er::connect_to_foreign_data_source, request.error().message);
  plugin_ = std::move(request->plugin);
  nonce_ = std::move(request->nonce);
  const Result<std::string> response = respond();
  if (!response) return fail_with(response.error());
  send(*response, out);
  // One switch is all that a server does.
  stage_ = Stage::final_reply;
  return Next::need_packet;
}

ClientHandshake::Next ClientHandshake::on_more(std::string_view payload, std::string& out) {
  if (plugin_ != plugin::caching_sha2_password) {
    return fail_with(er::connect_to_foreign_data_source,
                     fmt::format("a packet that {} does not have", plugin_));
  }
  const std::string_view bytes = payload.substr(1);
  if (stage_ == Stage::server_key) {
    const auto key = auth::caching_sha2::RsaKey::from_public_pem(bytes);
    if (!key) return fail_with(er::connect_to_foreign_data_source, "the server's public key cannot be read");
    return send_encrypted(**key, out);
  }
  if (bytes.size() != 1)
    return fail_with(er::connect_to_foreign_data_source, "a packet of caching_sha2_password");
  if (bytes[0] == auth::caching_sha2::fast_auth_success) return Next::need_packet;
  if (bytes[0] != auth::caching_sha2::perform_full_auth) {
    return fail_with(er::connect_to_foreign_data_source, "a packet of caching_sha2_password");
  }
  return send_full_password(out);
}

ClientHandshake::Next ClientHandshake::send_full_password(std::string& out) {
  if (facts_.tls) {
    std::string password = settings_.password;
    password += '\0';
    send(password, out);
    auth::wipe(password);
    stage_ = Stage::final_reply;
    return Next::need_packet;
  }
  if (settings_.server_key != nullptr) return send_encrypted(*settings_.server_key, out);
  if (!settings_.ask_server_key) {
    return fail_with(
        er::connect_to_foreign_data_source,
        "caching_sha2_password needs TLS, the server's public key, or leave to ask the server for it");
  }
  send({&auth::caching_sha2::request_public_key, 1}, out);
  stage_ = Stage::server_key;
  return Next::need_packet;
}

ClientHandshake::Next ClientHandshake::send_encrypted(const auth::caching_sha2::RsaKey& key,
                                                      std::string& out) {
  const Result<std::string> cipher = key.encrypt_password(settings_.password, nonce_);
  if (!cipher) return fail_with(cipher.error());
  send(*cipher, out);
  stage_ = Stage::final_reply;
  return Next::need_packet;
}

ClientHandshake::Next ClientHandshake::on_ok(std::string_view payload) {
  const Result<protocol::Ok> ok = protocol::Ok::decode(payload, facts_.capabilities);
  if (!ok) return fail_with(er::connect_to_foreign_data_source, ok.error().message);
  facts_.status = ok->status;
  facts_.plugin = plugin_;
  stage_ = Stage::closed;
  return Next::done;
}

ClientHandshake::Next ClientHandshake::fail_with(uint16_t code, std::string message) {
  return fail_with(make_error(ErrorKind::backend, code, std::move(message)));
}

ClientHandshake::Next ClientHandshake::fail_with(Error error) {
  error_ = std::move(error);
  error_.kind = ErrorKind::backend;
  error_.message =
      fmt::format("instance {}: login as '{}': {}", settings_.instance, settings_.user, error_.message);
  stage_ = Stage::closed;
  return Next::failed;
}

void ClientHandshake::send(std::string_view payload, std::string& out) {
  protocol::PacketWriter packets(out, sequence_);
  packets.write_payload(payload);
  sequence_ = packets.next_sequence();
}

}  // namespace evenkeel::backend
