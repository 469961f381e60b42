#include "proxy/backend/connect.h"

#include <gtest/gtest.h>

#include "proxy/front/handshake.h"
#include "proxy/protocol/auth/native_password.h"
#include "proxy/protocol/frame.h"
#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::backend {
namespace {

namespace auth = protocol::auth;
namespace capability = protocol::capability;
namespace plugin = protocol::plugin;
using Next = ClientHandshake::Next;
using protocol::bytes;
using protocol::hex;
using protocol::payload_of;

ConnectSettings settings_for(std::string_view password = "apppw") {
  ConnectSettings settings;
  settings.instance = "north";
  settings.user = "app";
  settings.password = password;
  settings.desired = capability::deprecate_eof | capability::session_track | capability::multi_statements |
                     capability::multi_results | capability::ps_multi_results;
  return settings;
}

// The greetings of real servers.
const std::string mariadb_greeting = bytes(
    "0a '5.5.5-10.11.19-MariaDB-0+deb12u1' 00 0a000000 '[pA2sram' 00 fef7 2d 0200 ff81 15 000000000000 "
    "1d000000 "
    "23603c493a27545074777773 00 'mysql_native_password' 00");
const std::string mysql_greeting = bytes(
    "0a '9.7.4-2' 00 0b000000 4a7a1a2b7f1b630b 00 ffff ff 0200 ffdf 15 00000000000000000000 "
    "030b46436b7b775460391e5e 00 'caching_sha2_password' 00");
// The answers that real clients gave to these challenges, password 'apppw'.
const std::string native_answer = bytes("5c1a609a480075bc3f613ce7171fdc7e752ca2da");
const std::string sha2_answer = bytes("8df2626cb49e28c7af16a136270837d3792f4ae1bd2cfbe317ec2dc69a602d08");
const std::string ok = bytes("00 00 00 0200 0000");

class Conversation {
 public:
  explicit Conversation(ConnectSettings settings) : settings_(std::move(settings)), login_(settings_) {}

  Next say(std::string_view payload) { return take(login_.on_packet(payload, raw_)); }
  Next tls() { return take(login_.on_tls_started(raw_)); }
  // The payload of the one packet that the last step wrote; empty when it wrote none.
  const std::string& written() const { return written_; }
  ClientHandshake& machine() { return login_; }
  protocol::HandshakeResponse41 response() const {
    return protocol::HandshakeResponse41::decode(written_, ~Capabilities{0})
        .value_or(protocol::HandshakeResponse41{});
  }

 private:
  Next take(Next next) {
    written_.clear();
    if (!raw_.empty()) {
      protocol::FrameReader reader;
      reader.expect_sequence(static_cast<uint8_t>(raw_[3]));
      const auto read = reader.read_packet(raw_);
      EXPECT_TRUE(read && read->complete && read->consumed == raw_.size());
      written_ = read->payload;
      EXPECT_EQ(reader.next_sequence(), login_.next_sequence());
      raw_.clear();
    }
    return next;
  }

  ConnectSettings settings_;
  ClientHandshake login_;
  std::string raw_;
  std::string written_;
};

TEST(ClientHandshake, AtMariaDb) {
  ConnectSettings settings = settings_for();
  settings.database = "d";
  settings.attributes = {{"program_name", "evenkeel"}};
  Conversation talk(settings);
  EXPECT_EQ(talk.machine().next_sequence(), 0);
  EXPECT_EQ(talk.say(mariadb_greeting), Next::need_packet);
  const auto response = talk.response();
  EXPECT_EQ(response.user, "app");
  EXPECT_EQ(hex(response.auth_response), hex(native_answer));
  EXPECT_EQ(response.auth_plugin, plugin::native_password);
  EXPECT_EQ(response.database, "d");
  EXPECT_EQ(response.attributes, settings.attributes);
  EXPECT_FALSE(protocol::has(response.capabilities, capability::long_password))
      << "MariaDB's own bits would be hidden";
  EXPECT_EQ(talk.machine().next_sequence(), 2);
  EXPECT_EQ(talk.say(ok), Next::done);
  const ServerFacts& facts = talk.machine().facts();
  EXPECT_EQ(facts.version, "10.11.19-MariaDB-0+deb12u1");
  EXPECT_EQ(facts.version_id, 101119u);
  EXPECT_EQ(facts.flavour, mysql::Flavour::mariadb);
  EXPECT_EQ(facts.connection_id, 10u);
  EXPECT_EQ(facts.collation, 45);
  EXPECT_EQ(facts.status, 2);
  EXPECT_EQ(facts.capabilities, response.capabilities);
  EXPECT_TRUE(protocol::has(facts.capabilities, settings.desired));
  EXPECT_FALSE(facts.tls);
}

TEST(ClientHandshake, AtMySqlFastPath) {
  Conversation talk(settings_for());
  EXPECT_EQ(talk.say(mysql_greeting), Next::need_packet);
  EXPECT_EQ(hex(talk.response().auth_response), hex(sha2_answer));
  EXPECT_EQ(talk.response().auth_plugin, plugin::caching_sha2_password);
  EXPECT_EQ(talk.response().attributes, protocol::ConnectAttributes{});
  EXPECT_EQ(talk.say(bytes("01 03")), Next::need_packet);
  EXPECT_EQ(talk.written(), "");
  EXPECT_EQ(talk.say(ok), Next::done);
  EXPECT_EQ(talk.machine().facts().flavour, mysql::Flavour::mysql);
  EXPECT_EQ(talk.machine().facts().version_id, 90704u);
  EXPECT_EQ(talk.machine().facts().plugin, plugin::caching_sha2_password);
}

TEST(ClientHandshake, NeverAgreesToWhatIsNotSpoken) {
  ConnectSettings settings = settings_for();
  settings.desired = ~Capabilities{0};
  for (const std::string& greeting : {mariadb_greeting, mysql_greeting}) {
    Conversation talk(settings);
    EXPECT_EQ(talk.say(greeting), Next::need_packet);
    EXPECT_EQ(talk.response().capabilities & (capability::unsupported | capability::ssl), 0u);
  }
}

TEST(ClientHandshake, FullPathOverTls) {
  ConnectSettings settings = settings_for();
  settings.tls = TlsUse::required;
  Conversation talk(settings);
  EXPECT_EQ(talk.say(mysql_greeting), Next::start_tls);
  EXPECT_TRUE(protocol::is_ssl_request(talk.written()));
  EXPECT_EQ(talk.tls(), Next::need_packet);
  EXPECT_EQ(hex(talk.response().auth_response), hex(sha2_answer));
  EXPECT_EQ(talk.machine().next_sequence(), 3);
  EXPECT_EQ(talk.say(bytes("01 04")), Next::need_packet);
  EXPECT_EQ(hex(talk.written()), hex(bytes("'apppw' 00")));
  EXPECT_EQ(talk.say(ok), Next::done);
  EXPECT_TRUE(talk.machine().facts().tls);
}

TEST(ClientHandshake, FullPathByRsa) {
  const auto key = auth::caching_sha2::RsaKey::generate().value();
  const std::string nonce = bytes("4a7a1a2b7f1b630b 030b46436b7b775460391e5e");
  for (const bool pinned : {false, true}) {
    ConnectSettings settings = settings_for();
    settings.ask_server_key = !pinned;
    if (pinned) settings.server_key = auth::caching_sha2::RsaKey::from_public_pem(key->public_pem()).value();
    Conversation talk(settings);
    talk.say(mysql_greeting);
    EXPECT_EQ(talk.say(bytes("01 04")), Next::need_packet);
    if (!pinned) {
      EXPECT_EQ(hex(talk.written()), "02");
      EXPECT_EQ(talk.say("\x01" + key->public_pem()), Next::need_packet);
    }
    EXPECT_EQ(key->decrypt_password(talk.written(), nonce).value(), "apppw");
    EXPECT_EQ(talk.say(ok), Next::done);
  }
}

TEST(ClientHandshake, SwitchesThePlugin) {
  Conversation talk(settings_for());
  talk.say(mariadb_greeting);
  const std::string nonce(20, 'z');
  EXPECT_EQ(talk.say(payload_of(protocol::AuthSwitchRequest{"caching_sha2_password", nonce})),
            Next::need_packet);
  EXPECT_EQ(talk.written(), auth::caching_sha2::respond("apppw", nonce));
  EXPECT_EQ(talk.say(bytes("01 03")), Next::need_packet);
  EXPECT_EQ(talk.say(ok), Next::done);
  Conversation native(settings_for());
  native.say(mysql_greeting);
  EXPECT_EQ(native.say(payload_of(protocol::AuthSwitchRequest{"mysql_native_password", nonce})),
            Next::need_packet);
  EXPECT_EQ(native.written(), auth::native_password::respond("apppw", nonce));
}

struct Failure {
  const char* name;
  ConnectSettings settings;
  std::vector<std::string> said;  // the last one fails
  uint16_t code;
  const char* text;  // in the message
};

ConnectSettings with(ConnectSettings settings, TlsUse tls, Capabilities required) {
  settings.tls = tls;
  settings.required = required;
  return settings;
}

TEST(ClientHandshake, Failures) {
  const std::string switch_again = payload_of(protocol::AuthSwitchRequest{"mysql_native_password", "n"});
  const Failure cases[] = {
      {"too many connections",
       settings_for(),
       {bytes("ff 1004 'Too many connections'")},
       1040,
       "Too many connections"},
      {"a greeting that is none", settings_for(), {bytes("09 'x' 00")}, 1429, "greeting"},
      {"TLS not offered",
       with(settings_for(), TlsUse::required, 0),
       {mariadb_greeting},
       1429,
       "TLS is required"},
      {"a capability not offered",
       with(settings_for(), TlsUse::off, capability::query_attributes),
       {mariadb_greeting},
       1429,
       "CLIENT_QUERY_ATTRIBUTES"},
      {"denied",
       settings_for(),
       {mariadb_greeting, bytes("ff 1504 '#28000Access denied'")},
       1045,
       "Access denied"},
      {"a plugin not known",
       settings_for(),
       {mariadb_greeting, payload_of(protocol::AuthSwitchRequest{"client_ed25519", "n"})},
       1429,
       "client_ed25519"},
      {"old passwords", settings_for(), {mariadb_greeting, bytes("fe")}, 1429, "before MySQL 4.1"},
      {"two switches", settings_for(), {mariadb_greeting, switch_again, switch_again}, 1429, "second switch"},
      {"full path without TLS or key", settings_for(), {mysql_greeting, bytes("01 04")}, 1429, "public key"},
      {"an unknown step of caching_sha2",
       settings_for(),
       {mysql_greeting, bytes("01 07")},
       1429,
       "caching_sha2"},
      {"a step that native has not",
       settings_for(),
       {mariadb_greeting, bytes("01 04")},
       1429,
       "mysql_native_password"},
      {"an empty packet", settings_for(), {mariadb_greeting, ""}, 1429, "empty"},
      {"a row", settings_for(), {mariadb_greeting, bytes("05 'hello'")}, 1429, "not understood"},
      {"a cut OK", settings_for(), {mariadb_greeting, bytes("00 00")}, 1429, "OK"},
      {"anything after the end", settings_for(), {mariadb_greeting, ok, ok}, 1429, "not asked for"},
  };
  for (const Failure& c : cases) {
    SCOPED_TRACE(c.name);
    Conversation talk(c.settings);
    for (size_t i = 0; i + 1 < c.said.size(); ++i) ASSERT_NE(talk.say(c.said[i]), Next::failed);
    EXPECT_EQ(talk.say(c.said.back()), Next::failed);
    const Error& error = talk.machine().error();
    EXPECT_EQ(error.kind, ErrorKind::backend);
    EXPECT_EQ(error.code, c.code);
    EXPECT_NE(error.message.find(c.text), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("instance north"), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find("apppw"), std::string::npos) << "no password in messages";
  }
}

TEST(ClientHandshake, EveryCutOfAGreetingIsRefused) {
  for (size_t size = 0; size + 1 < mysql_greeting.size(); ++size) {
    const std::string cut(mysql_greeting.data(), size);
    Conversation talk(settings_for());
    const Next next = talk.say(cut);
    // The plugin's name may be cut, then the default answer is tried.
    if (size < mysql_greeting.size() - 22) {
      EXPECT_EQ(next, Next::failed) << size;
    }
  }
}

TEST(ClientHandshake, ABadKeyOfTheServer) {
  ConnectSettings settings = settings_for();
  settings.ask_server_key = true;
  Conversation talk(settings);
  talk.say(mysql_greeting);
  talk.say(bytes("01 04"));
  EXPECT_EQ(talk.say("\x01not a key"), Next::failed);
  EXPECT_EQ(talk.machine().error().code, 1429);
}

// The two machines of this program against each other: every way in, right and wrong passwords.
TEST(BothMachines, AgreeOnEveryWayIn) {
  const auto key = auth::caching_sha2::RsaKey::generate().value();
  auth::Nonce nonce{};
  nonce.fill('q');
  const front::Verifiers whole = front::verifiers_of("apppw");
  const front::Verifiers native{whole.native, std::nullopt, false};
  const front::Verifiers sha2{std::nullopt, whole.caching_sha2, false};
  for (const front::Verifiers* verifiers :
       {&whole, &native, &sha2, static_cast<const front::Verifiers*>(nullptr)}) {
    for (const std::string_view first : {plugin::native_password, plugin::caching_sha2_password}) {
      for (const bool tls : {false, true}) {
        for (const char* password : {"apppw", "guess", ""}) {
          front::HandshakeSettings server_settings;
          server_settings.server_version = "8.0.36";
          server_settings.default_plugin = first;
          server_settings.tls_available = tls;
          server_settings.rsa_key = key;
          server_settings.rsa_before_switch = true;
          ConnectSettings client_settings = settings_for(password);
          client_settings.ask_server_key = true;
          client_settings.tls = TlsUse::preferred;
          front::ServerHandshake server(server_settings, 1, nonce);
          ClientHandshake client(client_settings);
          std::string to_client;
          std::string to_server;
          auto server_step = server.start(to_client);
          Next client_step = Next::need_packet;
          for (int i = 0; i < 30 && client_step != Next::done && client_step != Next::failed; ++i) {
            protocol::FrameReader reader;
            if (server_step == front::ServerHandshake::Next::look_up_user) {
              server_step = server.on_user(verifiers, to_client);
            } else if (server_step == front::ServerHandshake::Next::authenticated && to_client.empty()) {
              server.accept(protocol::Ok{0, 0, 2, 0, "", {}, false}, to_client);
            } else if (!to_client.empty()) {
              reader.expect_sequence(client.next_sequence());
              const auto read = reader.read_packet(to_client);
              ASSERT_TRUE(read && read->complete);
              client_step = client.on_packet(read->payload, to_server);
              to_client.erase(0, read->consumed);
            } else if (!to_server.empty()) {
              reader.expect_sequence(server.next_sequence());
              const auto read = reader.read_packet(to_server);
              ASSERT_TRUE(read && read->complete);
              server_step = server.on_packet(read->payload, to_client);
              to_server.erase(0, read->consumed);
              if (server_step == front::ServerHandshake::Next::start_tls) {
                ASSERT_EQ(client_step, Next::start_tls);
                server_step = server.on_tls_started();
                client_step = client.on_tls_started(to_server);
              }
            }
          }
          const bool right = verifiers != nullptr && password == std::string_view("apppw");
          EXPECT_EQ(client_step, right ? Next::done : Next::failed)
              << first << " tls " << tls << " '" << password << "' " << client.error().message;
          if (right) {
            EXPECT_EQ(client.facts().tls, tls);
          } else {
            EXPECT_EQ(client.error().code, 1045);
          }
        }
      }
    }
  }
}

TEST(VersionId, OfText) {
  EXPECT_EQ(version_id_of("8.0.36-28"), 80036u);
  EXPECT_EQ(version_id_of("10.11.19-MariaDB"), 101119u);
  EXPECT_EQ(version_id_of("9.7.4"), 90704u);
  EXPECT_EQ(version_id_of("9.7"), 0u);
  EXPECT_EQ(version_id_of(""), 0u);
  EXPECT_EQ(version_id_of("x.y.z"), 0u);
}

}  // namespace
}  // namespace evenkeel::backend
