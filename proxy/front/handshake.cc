#include "proxy/front/handshake.h"

#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "proxy/protocol/auth/native_password.h"
#include "proxy/protocol/frame.h"

namespace evenkeel::front {
namespace {

namespace auth = protocol::auth;
namespace capability = protocol::capability;
namespace plugin = protocol::plugin;
using protocol::AuthMoreData;
using protocol::has;

constexpr Capabilities always_offered = capability::protocol_41 | capability::secure_connection |
                                        capability::plugin_auth | capability::plugin_auth_lenenc_data |
                                        capability::connect_with_db;

Error bad_handshake(std::string_view reason) {
  return make_error(ErrorKind::protocol, mysql::er::handshake, fmt::format("Bad handshake ({})", reason));
}

// A client without a password answers nothing, or one NUL to caching_sha2_password.
bool is_empty_response(std::string_view response) {
  return response.empty() || response == std::string_view("\0", 1);
}

}  // namespace

Verifiers verifiers_of(std::string_view password) {
  Verifiers out;
  out.no_password = password.empty();
  if (out.no_password) return out;
  out.native = auth::native_password::verifier_of(password);
  out.caching_sha2 = auth::caching_sha2::verifier_of(password);
  return out;
}

ServerHandshake::ServerHandshake(const HandshakeSettings& settings, uint32_t connection_id,
                                 const auth::Nonce& nonce)
    : settings_(settings), connection_id_(connection_id), nonce_(nonce), fresh_nonce_(nonce) {}

ServerHandshake::ServerHandshake(const HandshakeSettings& settings, const Login& current,
                                 const auth::Nonce& nonce, const auth::Nonce& fresh_nonce)
    : settings_(settings), change_user_(true), nonce_(nonce), fresh_nonce_(fresh_nonce) {
  login_.capabilities = current.capabilities;
  login_.max_packet = current.max_packet;
  login_.tls = current.tls;
  plugin_ = current.client_plugin;
}

template <typename Message>
void ServerHandshake::write(const Message& message, std::string& out) {
  protocol::PacketWriter packets(out, sequence_);
  packets.write(message, login_.capabilities | capability::protocol_41);
  sequence_ = packets.next_sequence();
}

ServerHandshake::Next ServerHandshake::start(std::string& out) {
  protocol::HandshakeV10 greeting;
  offered_ = (settings_.capabilities & ~capability::unsupported) | always_offered;
  if (settings_.tls_available) offered_ |= capability::ssl;
  greeting.server_version = settings_.server_version;
  greeting.connection_id = connection_id_;
  greeting.nonce = auth::view_of(nonce_);
  greeting.capabilities = offered_;
  greeting.collation = settings_.collation;
  greeting.status = settings_.status;
  greeting.auth_plugin = settings_.default_plugin;
  write(greeting, out);
  stage_ = Stage::response;
  return Next::need_packet;
}

ServerHandshake::Next ServerHandshake::on_packet(std::string_view payload, std::string& out) {
  ++sequence_;
  switch (stage_) {
    case Stage::response:
      if (!protocol::is_ssl_request(payload)) return on_response(payload, out);
      if (!settings_.tls_available) return fail_with(bad_handshake("TLS was not offered"), out);
      stage_ = Stage::tls;
      return Next::start_tls;
    case Stage::tls_response:
      return on_response(payload, out);
    case Stage::switched:
      return judge(payload, out);
    case Stage::full_auth:
      return on_full_auth(payload, out);
    case Stage::encrypted:
      return on_encrypted(payload, out);
    default:
      return fail_with(bad_handshake("a packet that was not asked for"), out);
  }
}

ServerHandshake::Next ServerHandshake::on_tls_started() {
  login_.tls = true;
  stage_ = Stage::tls_response;
  return Next::need_packet;
}

ServerHandshake::Next ServerHandshake::on_response(std::string_view payload, std::string& out) {
  Result<protocol::HandshakeResponse41> response = protocol::HandshakeResponse41::decode(payload, offered_);
  if (!response) return fail_with(bad_handshake(response.error().message), out);
  login_.capabilities = response->capabilities & offered_;
  if (settings_.tls_required && !login_.tls) {
    return fail_with(make_error(ErrorKind::auth, mysql::er::secure_transport_required,
                                "Connections using insecure transport are prohibited while "
                                "--require_secure_transport=ON."),
                     out);
  }
  login_.user = std::move(response->user);
  login_.database = std::move(response->database);
  login_.collation = response->collation;
  login_.max_packet = response->max_packet;
  login_.attributes = std::move(response->attributes);
  response_ = std::move(response->auth_response);
  // A client that names none and has secure_connection means this one.
  plugin_ =
      response->auth_plugin.empty() ? std::string(plugin::native_password) : std::move(response->auth_plugin);
  stage_ = Stage::user;
  return Next::look_up_user;
}

ServerHandshake::Next ServerHandshake::on_change_user(std::string_view payload, std::string& out) {
  sequence_ = 1;
  Result<protocol::ChangeUser> message = protocol::ChangeUser::decode(payload, login_.capabilities);
  if (!message) return fail_with(message.error(), out);
  login_.user = std::move(message->user);
  login_.database = std::move(message->database);
  login_.collation = message->collation;
  login_.attributes = std::move(message->attributes);
  response_ = std::move(message->auth_response);
  if (!message->auth_plugin.empty()) plugin_ = std::move(message->auth_plugin);
  stage_ = Stage::user;
  return Next::look_up_user;
}

ServerHandshake::Next ServerHandshake::on_user(const Verifiers* verifiers, std::string& out) {
  if (stage_ != Stage::user) return fail_with(internal_error("verifiers that were not asked for"), out);
  user_exists_ = verifiers != nullptr;
  if (user_exists_) {
    verifiers_ = *verifiers;
  } else if (settings_.default_plugin == plugin::native_password) {
    // No response fits these, and the conversation is the one of a user with a wrong password.
    verifiers_.native = auth::sha1({auth::view_of(nonce_)});
  } else {
    verifiers_.caching_sha2 = auth::sha256({auth::view_of(nonce_)});
  }
  const bool ask_password = plugin_ == plugin::caching_sha2_password && can_ask_password();
  if (!can_use(plugin_) && !ask_password) return switch_plugin(best_plugin(), out);
  // A client that was told to use another plugin than the greeting's has no challenge for it yet.
  const bool no_challenge =
      !change_user_ && plugin_ != settings_.default_plugin && is_empty_response(response_);
  if (no_challenge && !verifiers_.no_password) return switch_plugin(plugin_, out);
  return judge(response_, out);
}

bool ServerHandshake::can_use(std::string_view wanted) const {
  if (wanted == plugin::native_password) return verifiers_.native.has_value() || verifiers_.no_password;
  if (wanted == plugin::caching_sha2_password)
    return verifiers_.caching_sha2.has_value() || verifiers_.no_password;
  return false;
}

bool ServerHandshake::can_ask_password() const {
  return login_.tls || (settings_.rsa_before_switch && settings_.rsa_key != nullptr);
}

std::string_view ServerHandshake::best_plugin() const {
  if (can_use(settings_.default_plugin)) return settings_.default_plugin;
  return can_use(plugin::caching_sha2_password) ? plugin::caching_sha2_password : plugin::native_password;
}

ServerHandshake::Next ServerHandshake::switch_plugin(std::string_view to, std::string& out) {
  if (!has(login_.capabilities, capability::plugin_auth)) {
    return fail_with(
        make_error(ErrorKind::auth, mysql::er::not_supported_auth_mode,
                   "Client does not support authentication protocol requested by server; consider "
                   "upgrading MySQL client"),
        out);
  }
  plugin_ = std::string(to);
  nonce_ = fresh_nonce_;
  write(protocol::AuthSwitchRequest{plugin_, std::string(auth::view_of(nonce_))}, out);
  stage_ = Stage::switched;
  return Next::need_packet;
}

ServerHandshake::Next ServerHandshake::judge(std::string_view response, std::string& out) {
  if (is_empty_response(response)) return judge_empty(out);
  if (verifiers_.no_password) return deny(out, true);
  const std::string_view nonce = auth::view_of(nonce_);
  bool right = false;
  if (plugin_ == plugin::native_password) {
    right = verifiers_.native && auth::native_password::check(response, nonce, *verifiers_.native);
  } else if (verifiers_.caching_sha2) {
    right = auth::caching_sha2::check(response, nonce, *verifiers_.caching_sha2);
    if (right && user_exists_) write(AuthMoreData{{auth::caching_sha2::fast_auth_success}}, out);
  } else {
    write(AuthMoreData{{auth::caching_sha2::perform_full_auth}}, out);
    stage_ = Stage::full_auth;
    return Next::need_packet;
  }
  if (right && user_exists_) return authenticate();
  // The session's old challenge may not be the one that the client answered: it gets one more try.
  if (change_user_ && stage_ == Stage::user && has(login_.capabilities, capability::plugin_auth)) {
    return switch_plugin(best_plugin(), out);
  }
  return deny(out, true);
}

ServerHandshake::Next ServerHandshake::judge_empty(std::string& out) {
  if (user_exists_ && verifiers_.no_password) return authenticate();
  return deny(out, false);
}

ServerHandshake::Next ServerHandshake::on_full_auth(std::string_view payload, std::string& out) {
  if (login_.tls) {
    if (!payload.ends_with('\0')) return deny(out, true);
    return judge_password(std::string(payload.substr(0, payload.size() - 1)), out);
  }
  if (settings_.rsa_key == nullptr) return deny(out, true);
  // A client that knows the key already sends the password at once.
  if (payload != std::string_view(&auth::caching_sha2::request_public_key, 1))
    return on_encrypted(payload, out);
  write(AuthMoreData{settings_.rsa_key->public_pem()}, out);
  stage_ = Stage::encrypted;
  return Next::need_packet;
}

ServerHandshake::Next ServerHandshake::on_encrypted(std::string_view payload, std::string& out) {
  Result<std::string> password = settings_.rsa_key->decrypt_password(payload, auth::view_of(nonce_));
  if (!password) return deny(out, true);
  return judge_password(std::move(*password), out);
}

ServerHandshake::Next ServerHandshake::judge_password(std::string password, std::string& out) {
  bool right = false;
  if (verifiers_.caching_sha2) {
    right = auth::same_bytes(auth::view_of(auth::caching_sha2::verifier_of(password)),
                             auth::view_of(*verifiers_.caching_sha2));
  } else if (verifiers_.native) {
    right = auth::same_bytes(auth::view_of(auth::native_password::verifier_of(password)),
                             auth::view_of(*verifiers_.native));
  }
  auth::wipe(password);
  if (right && user_exists_) return authenticate();
  return deny(out, true);
}

ServerHandshake::Next ServerHandshake::authenticate() {
  login_.client_plugin = plugin_;
  response_.clear();
  stage_ = Stage::authenticated;
  return Next::authenticated;
}

ServerHandshake::Next ServerHandshake::deny(std::string& out, bool used_password) {
  return fail_with(make_error(ErrorKind::auth, mysql::er::access_denied,
                              fmt::format("Access denied for user '{}'@'{}' (using password: {})",
                                          login_.user, host_, used_password ? "YES" : "NO")),
                   out);
}

ServerHandshake::Next ServerHandshake::fail_with(Error error, std::string& out) {
  write(protocol::Err::from(error), out);
  error_ = std::move(error);
  stage_ = Stage::closed;
  return Next::failed;
}

void ServerHandshake::accept(const protocol::Ok& ok, std::string& out) { write(ok, out); }

void ServerHandshake::refuse(const Error& error, std::string& out) { fail_with(error, out); }

}  // namespace evenkeel::front
