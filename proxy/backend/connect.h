// The login of the proxy at an instance, as a machine without IO: packets in, bytes to write and the next
// step out. MariaDB 10.x/11.x and MySQL 5.7/8/9; mysql_native_password and caching_sha2_password.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/mysql/flavour.h"
#include "base/result.h"
#include "proxy/protocol/auth/caching_sha2.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::backend {

using protocol::Capabilities;

enum class TlsUse : uint8_t {
  off,
  preferred,  // when the instance offers it
  required,   // else an error
};

// Of a pool; immutable, shared by its connections, must outlive their logins.
struct ConnectSettings {
  std::string instance;  // its name, for messages
  std::string user;
  std::string password;
  std::string database;  // may be empty
  // Wanted: used as far as the instance offers them. protocol_41, plugin_auth and secure_connection are
  // always added, connect_with_db by `database`, connect_attrs by `attributes`, ssl by `tls`.
  Capabilities desired = 0;
  // Without one of these the login fails, naming it.
  Capabilities required = 0;
  uint8_t collation = 45;  // of the wire's one byte; another by SET NAMES afterwards
  uint32_t max_packet = 1 << 30;
  protocol::ConnectAttributes attributes;
  TlsUse tls = TlsUse::off;
  // caching_sha2_password without TLS: `server_key` if given, else the key that the instance sends, if
  // allowed (a man in the middle could send his own).
  std::shared_ptr<const protocol::auth::caching_sha2::RsaKey> server_key;
  bool ask_server_key = false;
};

// What the greeting and the login told.
struct ServerFacts {
  std::string version;      // as sent, but for MariaDB's "5.5.5-" in front
  uint32_t version_id = 0;  // 101119, 90704
  mysql::Flavour flavour = mysql::Flavour::mysql;
  uint32_t connection_id = 0;
  Capabilities offered = 0;
  Capabilities capabilities = 0;  // agreed
  uint8_t collation = 0;          // the server's default
  uint16_t status = 0;            // from the final OK
  bool tls = false;
  std::string plugin;  // that proved the password
};

// "8.0.36-28" -> 80036; 0 when it does not begin with three numbers.
uint32_t version_id_of(std::string_view version);

// One login. Owned by the backend connection; one thread.
//
//   ClientHandshake login(settings);
//   step = need_packet
//   loop: write `out`; switch (step)
//     need_packet: read a packet with sequence login.next_sequence(); step = login.on_packet(payload, out)
//     start_tls:   write `out`, then all further bytes are TLS; step = login.on_tls_started(out)
//     done:        login.facts()
//     failed:      login.error(); close
class ClientHandshake {
 public:
  enum class Next : uint8_t { need_packet, start_tls, done, failed };

  explicit ClientHandshake(const ConnectSettings& settings);

  Next on_packet(std::string_view payload, std::string& out);
  Next on_tls_started(std::string& out);

  uint8_t next_sequence() const { return sequence_; }
  const ServerFacts& facts() const { return facts_; }
  // Kind backend, with the instance's own number and text when it refused; messages name the instance.
  const Error& error() const { return error_; }

 private:
  enum class Stage : uint8_t { greeting, tls, reply, server_key, final_reply, closed };

  Next on_greeting(std::string_view payload, std::string& out);
  Status choose_capabilities();
  Next send_response(std::string& out);
  Next on_reply(std::string_view payload, std::string& out);
  Next on_auth_switch(std::string_view payload, std::string& out);
  Next on_more(std::string_view payload, std::string& out);
  Next on_ok(std::string_view payload);
  Next send_full_password(std::string& out);
  Next send_encrypted(const protocol::auth::caching_sha2::RsaKey& key, std::string& out);
  Result<std::string> respond() const;
  Next fail_with(Error error);
  Next fail_with(uint16_t code, std::string message);
  void send(std::string_view payload, std::string& out);

  const ConnectSettings& settings_;
  Stage stage_ = Stage::greeting;
  uint8_t sequence_ = 0;
  std::string nonce_;
  std::string plugin_;
  ServerFacts facts_;
  Error error_;
};

}  // namespace evenkeel::backend
