// The login of a client, seen from the server's side, as a machine without IO: packets in, bytes to write and
// the next step out. Also COM_CHANGE_USER, which is the same conversation without a greeting.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/protocol/auth/caching_sha2.h"
#include "proxy/protocol/auth/digest.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::front {

using protocol::Capabilities;

// What is known of a user's password: the verifiers that exist. An account without a password says so.
struct Verifiers {
  std::optional<protocol::auth::Sha1Digest> native;          // SHA1(SHA1(password))
  std::optional<protocol::auth::Sha256Digest> caching_sha2;  // SHA256(SHA256(password))
  bool no_password = false;
};
// Both, from the password itself (or no_password when it is empty).
Verifiers verifiers_of(std::string_view password);

// Of a listener; immutable, shared by its connections, must outlive their logins.
struct HandshakeSettings {
  std::string server_version;  // the backend's own: clients choose their variables by it
  Capabilities capabilities =
      0;  // to offer; plugin_auth and secure_connection are always added, ssl by tls_available
  uint8_t collation = 45;
  uint16_t status = 2;  // mysql::server_status::autocommit
  bool tls_available = false;
  bool tls_required = false;
  // The plugin of the greeting, and of users that do not exist.
  std::string default_plugin{protocol::plugin::caching_sha2_password};
  // For the RSA exchange of clients without TLS; null: not offered.
  std::shared_ptr<const protocol::auth::caching_sha2::RsaKey> rsa_key;
  // A user with the native verifier alone, a client that speaks caching_sha2_password, and no TLS: ask for
  // the password encrypted with rsa_key (most clients must be told to do that) instead of switching the
  // plugin (which the newest clients no longer have). With TLS the full path is always taken.
  bool rsa_before_switch = false;
};

// Give this to the FrameReader until a login is done: no message of it is longer.
inline constexpr size_t login_packet_max = 128 * 1024;

// The outcome.
struct Login {
  std::string user;
  std::string database;
  Capabilities capabilities = 0;  // agreed: what the client sent, masked by what was offered
  uint16_t collation = 0;         // as the client sent it; 0 when COM_CHANGE_USER left it out
  uint32_t max_packet = 0;
  std::string client_plugin;  // the plugin that proved the password
  protocol::ConnectAttributes attributes;
  bool tls = false;
};

// One login. Owned by the session; one thread.
//
//   ServerHandshake login(settings, connection_id, nonce);
//   step = login.start(out);
//   loop: write `out`; switch (step)
//     need_packet:   read a packet with sequence login.next_sequence(); step = login.on_packet(payload, out)
//     start_tls:     all further bytes are TLS; step = login.on_tls_started()
//     look_up_user:  step = login.on_user(verifiers of login.login().user or null, out)
//     authenticated: check login.login().database, then login.accept(...) or login.refuse(...)
//     failed:        the ERR is in `out` already; write it and close; login.error() says why, for the log
class ServerHandshake {
 public:
  enum class Next : uint8_t { need_packet, start_tls, look_up_user, authenticated, failed };

  // A new connection.
  ServerHandshake(const HandshakeSettings& settings, uint32_t connection_id,
                  const protocol::auth::Nonce& nonce);
  // COM_CHANGE_USER on a session: `nonce` is the one of its last login (nonce_in_use()), `fresh_nonce` a new
  // one, used when the password has to be asked for again. Continue with on_change_user.
  ServerHandshake(const HandshakeSettings& settings, const Login& current, const protocol::auth::Nonce& nonce,
                  const protocol::auth::Nonce& fresh_nonce);

  // Writes the greeting.
  Next start(std::string& out);
  // Instead of start: the COM_CHANGE_USER packet.
  Next on_change_user(std::string_view payload, std::string& out);

  Next on_packet(std::string_view payload, std::string& out);
  Next on_tls_started();
  // `verifiers`: null when there is no such user, which then takes the same path as a wrong password.
  Next on_user(const Verifiers* verifiers, std::string& out);
  // For the texts of error 1045: 'user'@'host'. Call before on_packet.
  void set_client_host(std::string host) { host_ = std::move(host); }

  // After `authenticated`: the final packet.
  void accept(const protocol::Ok& ok, std::string& out);
  void refuse(const Error& error, std::string& out);

  // The sequence id that the client's next packet must carry.
  uint8_t next_sequence() const { return sequence_; }
  const Login& login() const { return login_; }
  const Error& error() const { return error_; }
  const protocol::auth::Nonce& nonce_in_use() const { return nonce_; }

 private:
  enum class Stage : uint8_t {
    greeting,
    response,      // waiting for SslRequest or HandshakeResponse41
    tls,           // waiting for TLS to stand
    tls_response,  // waiting for HandshakeResponse41 inside TLS
    user,          // waiting for the verifiers
    switched,      // waiting for the answer to AuthSwitchRequest
    full_auth,     // waiting for the password or the request for the key
    encrypted,     // waiting for the encrypted password
    authenticated,
    closed,
  };

  Next on_response(std::string_view payload, std::string& out);
  Next on_full_auth(std::string_view payload, std::string& out);
  Next on_encrypted(std::string_view payload, std::string& out);
  Next switch_plugin(std::string_view to, std::string& out);
  Next judge(std::string_view response, std::string& out);
  Next judge_empty(std::string& out);
  Next judge_password(std::string password, std::string& out);
  Next authenticate();
  Next deny(std::string& out, bool used_password);
  Next fail_with(Error error, std::string& out);
  std::string_view best_plugin() const;
  bool can_use(std::string_view plugin) const;
  bool can_ask_password() const;
  template <typename Message>
  void write(const Message& message, std::string& out);

  const HandshakeSettings& settings_;
  Stage stage_ = Stage::greeting;
  bool change_user_ = false;
  uint8_t sequence_ = 0;
  uint32_t connection_id_ = 0;
  Capabilities offered_ = 0;
  protocol::auth::Nonce nonce_{};
  protocol::auth::Nonce fresh_nonce_{};
  std::string host_ = "localhost";
  std::string plugin_;    // in use
  std::string response_;  // the client's first answer, kept until the verifiers are there
  Verifiers verifiers_;
  bool user_exists_ = false;
  Login login_;
  Error error_;
};

}  // namespace evenkeel::front
