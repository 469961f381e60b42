#include "proxy/front/handshake.h"

#include <gtest/gtest.h>

#include "base/mysql/error_codes.h"
#include "proxy/protocol/auth/native_password.h"
#include "proxy/protocol/frame.h"
#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::front {
namespace {

namespace auth = protocol::auth;
namespace capability = protocol::capability;
namespace plugin = protocol::plugin;
using Next = ServerHandshake::Next;
using protocol::bytes;
using protocol::hex;

constexpr Capabilities client_bits = capability::protocol_41 | capability::secure_connection |
                                     capability::plugin_auth | capability::connect_with_db |
                                     capability::deprecate_eof;

auth::Nonce nonce_of(char c) {
  auth::Nonce nonce{};
  nonce.fill(static_cast<uint8_t>(c));
  return nonce;
}

std::shared_ptr<const auth::caching_sha2::RsaKey> test_key() {
  static const auto key = auth::caching_sha2::RsaKey::generate().value();
  return key;
}

// One login, played packet by packet: what the client says, what the server said.
class Conversation {
 public:
  explicit Conversation(HandshakeSettings settings = default_settings())
      : settings_(std::move(settings)), login_(settings_, 7, nonce_of('n')) {
    login_.set_client_host("10.0.0.1");
  }
  Conversation(const Login& current, HandshakeSettings settings)
      : settings_(std::move(settings)), login_(settings_, current, nonce_of('n'), nonce_of('f')) {}

  static HandshakeSettings default_settings() {
    HandshakeSettings settings;
    settings.server_version = "10.11.19-MariaDB";
    settings.capabilities = client_bits | capability::connect_attrs;
    return settings;
  }

  static protocol::HandshakeResponse41 response(std::string_view user, std::string_view plugin_name,
                                                std::string_view answer) {
    protocol::HandshakeResponse41 out;
    out.capabilities = client_bits;
    out.collation = 45;
    out.max_packet = 1 << 24;
    out.user = user;
    out.auth_response = answer;
    out.database = "shop";
    out.auth_plugin = plugin_name;
    return out;
  }

  Next start() { return take(login_.start(raw_)); }
  Next say(std::string_view payload) { return take(login_.on_packet(payload, raw_)); }
  Next user(const Verifiers* verifiers) { return take(login_.on_user(verifiers, raw_)); }
  Next change_user(std::string_view payload) { return take(login_.on_change_user(payload, raw_)); }
  void accept(const protocol::Ok& ok) {
    login_.accept(ok, raw_);
    take(Next::authenticated);
  }

  // The payloads of the packets that the last step wrote.
  const std::vector<std::string>& written() const { return written_; }
  uint16_t error_code() const {
    return written_.empty() ? uint16_t{0}
                            : protocol::Err::decode(written_.back()).value_or(protocol::Err{}).code;
  }
  ServerHandshake& machine() { return login_; }

 private:
  Next take(Next next) {
    written_.clear();
    protocol::FrameReader reader;
    reader.expect_sequence(static_cast<uint8_t>(raw_.empty() ? 0 : raw_[3]));
    std::string_view rest = raw_;
    while (!rest.empty()) {
      const auto read = reader.read_packet(rest);
      EXPECT_TRUE(read && read->complete);
      written_.emplace_back(read->payload);
      rest.remove_prefix(read->consumed);
    }
    if (!raw_.empty()) {
      EXPECT_EQ(reader.next_sequence(), login_.next_sequence()) << "sequence ids run on";
    }
    raw_.clear();
    return next;
  }

  HandshakeSettings settings_;
  ServerHandshake login_;
  std::string raw_;
  std::vector<std::string> written_;
};

std::string nonce_text(char c = 'n') { return std::string(20, c); }
std::string sha2_answer(std::string_view password, char c = 'n') {
  return auth::caching_sha2::respond(password, nonce_text(c));
}
std::string native_answer(std::string_view password, char c = 'n') {
  return auth::native_password::respond(password, nonce_text(c));
}

const Verifiers both = verifiers_of("secret");
const Verifiers native_only{auth::native_password::verifier_of("secret"), std::nullopt, false};
const Verifiers sha2_only{std::nullopt, auth::caching_sha2::verifier_of("secret"), false};

TEST(ServerHandshake, GreetingOffersWhatIsConfigured) {
  Conversation talk;
  EXPECT_EQ(talk.start(), Next::need_packet);
  ASSERT_EQ(talk.written().size(), 1u);
  const auto greeting = protocol::HandshakeV10::decode(talk.written()[0]);
  ASSERT_TRUE(greeting);
  EXPECT_EQ(greeting->server_version, "10.11.19-MariaDB");
  EXPECT_EQ(greeting->connection_id, 7u);
  EXPECT_EQ(greeting->nonce, nonce_text());
  EXPECT_EQ(greeting->auth_plugin, "caching_sha2_password");
  EXPECT_FALSE(protocol::has(greeting->capabilities, capability::ssl));
  EXPECT_EQ(talk.machine().next_sequence(), 1);
}

TEST(ServerHandshake, NeverOffersWhatIsNotSpoken) {
  HandshakeSettings settings = Conversation::default_settings();
  settings.capabilities = ~Capabilities{0};
  Conversation talk(settings);
  talk.start();
  const auto greeting = protocol::HandshakeV10::decode(talk.written()[0]);
  ASSERT_TRUE(greeting);
  EXPECT_EQ(greeting->capabilities & capability::unsupported, 0u);
}

TEST(ServerHandshake, CachingSha2FastPath) {
  Conversation talk;
  talk.start();
  const auto response = Conversation::response("app", plugin::caching_sha2_password, sha2_answer("secret"));
  EXPECT_EQ(talk.say(payload_of(response)), Next::look_up_user);
  EXPECT_EQ(talk.machine().login().user, "app");
  EXPECT_EQ(talk.user(&both), Next::authenticated);
  EXPECT_EQ(talk.written(), std::vector<std::string>{bytes("01 03")});
  talk.accept(protocol::Ok{0, 0, 2, 0, "", {}, false});
  EXPECT_EQ(talk.written(), std::vector<std::string>{bytes("00 00 00 0200 0000")});
  EXPECT_EQ(talk.machine().next_sequence(), 4);
  const Login& login = talk.machine().login();
  EXPECT_EQ(login.database, "shop");
  EXPECT_EQ(login.collation, 45);
  EXPECT_EQ(login.max_packet, 1u << 24);
  EXPECT_EQ(login.capabilities, client_bits);
  EXPECT_EQ(login.client_plugin, plugin::caching_sha2_password);
  EXPECT_FALSE(login.tls);
}

TEST(ServerHandshake, NativeWithoutASwitch) {
  Conversation talk;
  talk.start();
  talk.say(payload_of(Conversation::response("app", plugin::native_password, native_answer("secret"))));
  EXPECT_EQ(talk.user(&both), Next::authenticated);
  EXPECT_TRUE(talk.written().empty());
}

TEST(ServerHandshake, SwitchesToThePluginThatTheUserHas) {
  struct Case {
    std::string_view first;
    const Verifiers* verifiers;
    std::string_view wanted;
    std::string answer;
  };
  const Case cases[] = {
      {plugin::caching_sha2_password, &native_only, plugin::native_password, native_answer("secret")},
      {plugin::native_password, &sha2_only, plugin::caching_sha2_password, sha2_answer("secret")},
      {"dialog", &both, plugin::caching_sha2_password, sha2_answer("secret")},
  };
  for (const Case& c : cases) {
    Conversation talk;
    talk.start();
    talk.say(payload_of(Conversation::response("app", c.first, "whatever")));
    EXPECT_EQ(talk.user(c.verifiers), Next::need_packet);
    const auto request = protocol::AuthSwitchRequest::decode(talk.written().at(0));
    ASSERT_TRUE(request);
    EXPECT_EQ(request->plugin, c.wanted);
    EXPECT_EQ(request->nonce, nonce_text());
    EXPECT_EQ(talk.say(c.answer), Next::authenticated) << c.first;
  }
}

TEST(ServerHandshake, AWrongAnswerAfterASwitchIsDenied) {
  Conversation talk;
  talk.start();
  talk.say(payload_of(Conversation::response("app", plugin::caching_sha2_password, "")));
  talk.user(&native_only);
  EXPECT_EQ(talk.say(native_answer("guess")), Next::failed);
  EXPECT_EQ(talk.error_code(), 1045);
}

TEST(ServerHandshake, UnknownUserAndWrongPasswordLookTheSame) {
  for (const std::string_view name : {plugin::caching_sha2_password, plugin::native_password}) {
    std::vector<std::vector<std::string>> seen;
    HandshakeSettings settings = Conversation::default_settings();
    settings.default_plugin = name;
    const Verifiers only = name == plugin::native_password ? native_only : sha2_only;
    for (const Verifiers* verifiers : {&only, static_cast<const Verifiers*>(nullptr)}) {
      Conversation talk(settings);
      talk.start();
      const std::string answer =
          name == plugin::native_password ? native_answer("guess") : sha2_answer("guess");
      EXPECT_EQ(talk.say(payload_of(Conversation::response("app", name, answer))), Next::look_up_user);
      EXPECT_EQ(talk.user(verifiers), Next::failed);
      seen.push_back(talk.written());
      EXPECT_EQ(talk.machine().error().message,
                "Access denied for user 'app'@'10.0.0.1' (using password: YES)");
    }
    EXPECT_EQ(seen[0], seen[1]);
  }
}

TEST(ServerHandshake, EmptyPasswords) {
  Verifiers none;
  none.no_password = true;
  for (const std::string& answer : {std::string(), std::string(1, '\0')}) {
    Conversation talk;
    talk.start();
    talk.say(payload_of(Conversation::response("app", plugin::caching_sha2_password, answer)));
    EXPECT_EQ(talk.user(&none), Next::authenticated);
    Conversation denied;
    denied.start();
    denied.say(payload_of(Conversation::response("app", plugin::caching_sha2_password, answer)));
    EXPECT_EQ(denied.user(&both), Next::failed);
    EXPECT_EQ(denied.machine().error().message,
              "Access denied for user 'app'@'10.0.0.1' (using password: NO)");
    Conversation nobody;
    nobody.start();
    nobody.say(payload_of(Conversation::response("app", plugin::caching_sha2_password, answer)));
    EXPECT_EQ(nobody.user(nullptr), Next::failed);
  }
  Conversation with_password;
  with_password.start();
  with_password.say(payload_of(Conversation::response("app", plugin::native_password, native_answer("x"))));
  EXPECT_EQ(with_password.user(&none), Next::failed);
}

TEST(ServerHandshake, FullPathOverTls) {
  HandshakeSettings settings = Conversation::default_settings();
  settings.tls_available = true;
  for (const bool right : {true, false}) {
    Conversation talk(settings);
    talk.start();
    auto response = Conversation::response("app", plugin::caching_sha2_password, sha2_answer("secret"));
    response.capabilities |= capability::ssl;
    EXPECT_EQ(talk.say(payload_of(protocol::SslRequest{response.capabilities, 1 << 24, 45})),
              Next::start_tls);
    EXPECT_EQ(talk.machine().next_sequence(), 2);
    EXPECT_EQ(talk.machine().on_tls_started(), Next::need_packet);
    EXPECT_EQ(talk.say(payload_of(response)), Next::look_up_user);
    EXPECT_EQ(talk.user(&native_only), Next::need_packet)
        << "no verifier for the fast path: the password is asked for";
    EXPECT_EQ(talk.written(), std::vector<std::string>{bytes("01 04")});
    EXPECT_EQ(talk.say(std::string(right ? "secret" : "guess") + '\0'),
              right ? Next::authenticated : Next::failed);
    EXPECT_TRUE(talk.machine().login().tls);
  }
}

TEST(ServerHandshake, FullPathByRsa) {
  HandshakeSettings settings = Conversation::default_settings();
  settings.rsa_key = test_key();
  settings.rsa_before_switch = true;
  for (const bool knows_key : {false, true}) {
    for (const char* password : {"secret", "guess"}) {
      Conversation talk(settings);
      talk.start();
      talk.say(
          payload_of(Conversation::response("app", plugin::caching_sha2_password, sha2_answer(password))));
      EXPECT_EQ(talk.user(&native_only), Next::need_packet);
      EXPECT_EQ(talk.written(), std::vector<std::string>{bytes("01 04")});
      if (!knows_key) {
        EXPECT_EQ(talk.say(bytes("02")), Next::need_packet);
        EXPECT_EQ(talk.written().at(0), "\x01" + test_key()->public_pem());
      }
      const std::string cipher = test_key()->encrypt_password(password, nonce_text()).value();
      EXPECT_EQ(talk.say(cipher), password == std::string("secret") ? Next::authenticated : Next::failed);
    }
  }
  Conversation garbage(settings);
  garbage.start();
  garbage.say(
      payload_of(Conversation::response("app", plugin::caching_sha2_password, sha2_answer("secret"))));
  garbage.user(&native_only);
  EXPECT_EQ(garbage.say("secret"), Next::failed) << "a password in the clear outside TLS";
  EXPECT_EQ(garbage.error_code(), 1045);
}

TEST(ServerHandshake, TlsRequired) {
  HandshakeSettings settings = Conversation::default_settings();
  settings.tls_available = settings.tls_required = true;
  Conversation talk(settings);
  talk.start();
  EXPECT_EQ(talk.say(payload_of(Conversation::response("app", plugin::native_password, "x"))), Next::failed);
  EXPECT_EQ(talk.error_code(), 3159);
}

TEST(ServerHandshake, BrokenPackets) {
  const std::string whole =
      payload_of(Conversation::response("app", plugin::caching_sha2_password, sha2_answer("secret")));
  for (size_t size = 0; size < whole.size(); ++size) {
    Conversation talk;
    talk.start();
    const std::string cut(whole.data(), size);
    const Next next = talk.say(cut);
    // Some clients leave out the fields at the end.
    if (next == Next::look_up_user) continue;
    EXPECT_EQ(next, Next::failed);
    EXPECT_EQ(talk.error_code(), 1043);
  }
  Conversation tls;
  tls.start();
  EXPECT_EQ(tls.say(payload_of(protocol::SslRequest{capability::ssl | client_bits, 0, 45})), Next::failed)
      << "TLS was not offered";
}

TEST(ServerHandshake, NoPacketIsTakenOutOfTurn) {
  Conversation talk;
  talk.start();
  talk.say(payload_of(Conversation::response("app", plugin::native_password, native_answer("secret"))));
  EXPECT_EQ(talk.say("early"), Next::failed) << "while the user is looked up";
  Conversation twice;
  twice.start();
  twice.say("x");
  EXPECT_EQ(twice.say("x"), Next::failed) << "after a failure";
  Conversation never_asked;
  EXPECT_EQ(never_asked.user(&both), Next::failed);
}

TEST(ServerHandshake, AClientWithoutPlugins) {
  auto response = Conversation::response("app", "", native_answer("secret"));
  response.capabilities &= ~capability::plugin_auth;
  Conversation talk;
  talk.start();
  talk.say(payload_of(response));
  EXPECT_EQ(talk.user(&both), Next::authenticated);
  Conversation cannot;
  cannot.start();
  cannot.say(payload_of(response));
  EXPECT_EQ(cannot.user(&sha2_only), Next::failed);
  EXPECT_EQ(cannot.error_code(), 1251);
}

TEST(ServerHandshake, TheSessionMayStillRefuse) {
  Conversation talk;
  talk.start();
  talk.say(payload_of(Conversation::response("app", plugin::native_password, native_answer("secret"))));
  ASSERT_EQ(talk.user(&both), Next::authenticated);
  std::string out;
  talk.machine().refuse(make_error(ErrorKind::statement, mysql::er::bad_db, "Unknown database 'shop'"), out);
  EXPECT_EQ(hex(out.substr(0, 13)), hex(bytes("20 00 00 02 ff 1904 '#42000'")));
}

protocol::ChangeUser change(std::string_view answer, std::string_view plugin_name) {
  return {"other", std::string(answer), "d2", 45, std::string(plugin_name), {}};
}

TEST(ChangeUser, AnswersToTheOldChallengeOrToAFreshOne) {
  Login current;
  current.capabilities = client_bits;
  current.client_plugin = plugin::native_password;
  Conversation direct(current, Conversation::default_settings());
  EXPECT_EQ(
      direct.change_user(payload_of(change(native_answer("secret"), plugin::native_password), client_bits)),
      Next::look_up_user);
  EXPECT_EQ(direct.user(&both), Next::authenticated);
  EXPECT_EQ(direct.machine().login().user, "other");
  EXPECT_EQ(direct.machine().login().database, "d2");
  EXPECT_EQ(direct.machine().next_sequence(), 1);

  Conversation again(current, Conversation::default_settings());
  again.change_user(payload_of(change("stale", plugin::native_password), client_bits));
  EXPECT_EQ(again.user(&both), Next::need_packet);
  const auto request = protocol::AuthSwitchRequest::decode(again.written().at(0));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->nonce, nonce_text('f'));
  EXPECT_EQ(again.machine().next_sequence(), 2);
  EXPECT_EQ(again.say(sha2_answer("secret", 'f')), Next::authenticated);
  EXPECT_EQ(again.machine().nonce_in_use(), nonce_of('f'));

  Conversation wrong(current, Conversation::default_settings());
  wrong.change_user(payload_of(change("stale", plugin::native_password), client_bits));
  wrong.user(&both);
  EXPECT_EQ(wrong.say(sha2_answer("guess", 'f')), Next::failed) << "one try is all";
  EXPECT_EQ(wrong.error_code(), 1045);

  Conversation unknown(current, Conversation::default_settings());
  unknown.change_user(payload_of(change("stale", plugin::native_password), client_bits));
  EXPECT_EQ(unknown.user(nullptr), Next::need_packet);
  EXPECT_EQ(unknown.say(sha2_answer("secret", 'f')), Next::failed);

  Conversation broken(current, Conversation::default_settings());
  EXPECT_EQ(broken.change_user(bytes("11 'u'")), Next::failed);
}

}  // namespace
}  // namespace evenkeel::front
