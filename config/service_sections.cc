// The services that the program itself offers: `ids` (the id service) and `admin`.
#include <algorithm>
#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/limits.h"
#include "config/sections.h"
#include "config/verifiers.h"

namespace evenkeel::config {
namespace {

using namespace std::chrono_literals;
using answer::Account;
using answer::Rights;

const Choices<Rights>& rights_choices() {
  static const Choices<Rights> choices = {{"read", Rights::read}, {"operate", Rights::operate}};
  return choices;
}

void read_token_secret(const Place& place, http::Token& out) {
  std::string secret;
  read_secret(place, secret);
  if (secret.empty() && !place.node().text.empty()) return;
  // Shorter ones are guessed.
  constexpr size_t shortest = 16;
  if (secret.size() < shortest) {
    return place.expected(
        fmt::format("the name of an environment variable that holds at least {} characters", shortest), true);
  }
  unsigned int size = 0;
  EVP_Digest(secret.data(), secret.size(), out.digest.data(), &size, EVP_sha256(), nullptr);
}

void read_accounts(const Place& place, const Section<Account>& section, std::vector<Account>& out) {
  read_list(place, section, out, check_verifiers<Account>, true);
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (out[i].name == out[j].name)
        place.item(i).fault(fmt::format("a second user with the name {}", out[i].name));
    }
  }
}

bool is_loopback(const std::string& address) { return address == "::1" || address.starts_with("127."); }

// Passwords and tokens cross the network with every request.
void check_http_listener(const Place& place, net::Listener& listener) {
  if (listener.tls.mode == net::TlsSettings::Mode::off && !is_loopback(listener.address)) {
    place.fault(
        "HTTP without TLS is served on loopback addresses only: passwords and tokens travel with every "
        "request");
  }
}

void read_http_listeners(const Place& place, HttpConfig& out) {
  read_listeners(place, out.listeners);
  for (size_t i = 0; i < out.listeners.size() && i < place.node().items.size(); ++i) {
    check_http_listener(place.item(i), out.listeners[i]);
  }
}

void check_key_space(const Place& place, ids::KeySpace& space) {
  const auto& known = place.reading().generators;
  if (std::find(known.begin(), known.end(), space.generator) == known.end()) {
    place.fault(fmt::format("generator {} is unknown; known are {}", space.generator,
                            known.empty() ? "none" : join_names(known)));
  }
  const bool plain = std::all_of(space.name.begin(), space.name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (!plain)
    place.fault(fmt::format("key space \"{}\": letters, digits, _ - and . are allowed", space.name));
}

void read_key_spaces(const Place& place, std::vector<ids::KeySpace>& out) {
  read_list(place, key_space_section(), out, check_key_space, true);
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (out[i].name == out[j].name)
        place.item(i).fault(fmt::format("a second key space with the name {}", out[i].name));
    }
  }
}

}  // namespace

const Section<Account>& service_user_section() {
  static const Section<Account> section = {
      "service_user",
      {
          {"name", [](const Place& place, Account& out) { read(place, out.name); }, true},
          {"password", read_password<Account>},
          {"native_verifier", read_native_verifier<Account>},
          {"sha2_verifier", read_sha2_verifier<Account>},
          {"hosts", read_hosts<Account>},
      }};
  return section;
}

const Section<http::Token>& service_token_section() {
  static const Section<http::Token> section = {
      "service_token",
      {
          {"name", [](const Place& place, http::Token& out) { read(place, out.name); }, true},
          {"secret", read_token_secret, true},
      }};
  return section;
}

const Section<Account>& admin_user_section() {
  static const Section<Account> section = [] {
    Section<Account> with_rights = service_user_section();
    with_rights.name = "admin_user";
    with_rights.fields.push_back({"rights", [](const Place& place, Account& out) {
                                    read_choice(place, out.rights, rights_choices());
                                  }});
    return with_rights;
  }();
  return section;
}

const Section<http::Token>& admin_token_section() {
  static const Section<http::Token> section = [] {
    Section<http::Token> with_rights = service_token_section();
    with_rights.name = "admin_token";
    with_rights.fields.push_back({"rights", [](const Place& place, http::Token& out) {
                                    read_choice(place, out.rights, rights_choices());
                                  }});
    return with_rights;
  }();
  return section;
}

const Section<AdminConfig>& admin_section() {
  static const Section<AdminConfig> section = {
      "admin",
      {
          {"listeners", [](const Place& place, AdminConfig& out) { read_listeners(place, out.listeners); }},
          {"http",
           [](const Place& place, AdminConfig& out) { read_section(place, http_section(), out.http); }},
          {"users", [](const Place& place,
                       AdminConfig& out) { read_accounts(place, admin_user_section(), out.users); }},
          {"tokens",
           [](const Place& place, AdminConfig& out) {
             read_list(place, admin_token_section(), out.http.settings.tokens);
           }},
      }};
  return section;
}

void read_admin(const Place& place, AdminConfig& out) {
  out.given = true;
  read_section(place, admin_section(), out);
  if (place.node().kind != Node::Kind::map) return;
  if (out.listeners.empty() && out.http.listeners.empty()) {
    place.fault("listeners or http.listeners: at least one of them is needed");
  }
  if (!out.listeners.empty() && out.users.empty()) place.fault("users: nobody could log in without one");
  for (const Account& user : out.users) {
    if (user.empty_password)
      place.fault(fmt::format("users: {} has no password; administrators need one", user.name));
  }
}

const Section<ids::KeySpace>& key_space_section() {
  static const Section<ids::KeySpace> section = {
      "key_space",
      {
          {"name", [](const Place& place, ids::KeySpace& out) { read(place, out.name); }, true},
          {"generator", [](const Place& place, ids::KeySpace& out) { read(place, out.generator); }, true},
          {"slots", [](const Place& place,
                       ids::KeySpace& out) { read_number(place, out.slots, 1, limits::slots_max); }},
      }};
  return section;
}

const Section<HttpConfig>& http_section() {
  static const Section<HttpConfig> section = {
      "http",
      {
          {"listeners", read_http_listeners, true},
          {"hosts", [](const Place& place, HttpConfig& out) { read(place, out.settings.hosts); }},
          {"max_body",
           [](const Place& place, HttpConfig& out) {
             read_size(place, out.settings.max_body_bytes, 1 << 10, 64 << 20);
           }},
      }};
  return section;
}

const Section<IdsConfig>& ids_section() {
  static const Section<IdsConfig> section = {
      "ids",
      {
          {"listeners", [](const Place& place, IdsConfig& out) { read_listeners(place, out.listeners); }},
          {"http", [](const Place& place, IdsConfig& out) { read_section(place, http_section(), out.http); }},
          {"users", [](const Place& place,
                       IdsConfig& out) { read_accounts(place, service_user_section(), out.users); }},
          {"tokens",
           [](const Place& place, IdsConfig& out) {
             read_list(place, service_token_section(), out.http.settings.tokens);
           }},
          {"key_spaces",
           [](const Place& place, IdsConfig& out) { read_key_spaces(place, out.service.key_spaces); }, true},
          {"max_count", [](const Place& place,
                           IdsConfig& out) { read_number(place, out.service.max_count, 1, 1'000'000); }},
          {"threads", [](const Place& place, IdsConfig& out) { read_number(place, out.threads, 1, 256); }},
          {"clients", [](const Place& place,
                         IdsConfig& out) { read_number(place, out.limits.max_clients, 1, 1'000'000); }},
      }};
  return section;
}

void read_ids(const Place& place, IdsConfig& out) {
  out.given = true;
  read_section(place, ids_section(), out);
  if (place.node().kind != Node::Kind::map) return;
  if (out.listeners.empty() && out.http.listeners.empty()) {
    place.fault("listeners or http.listeners: at least one of them is needed");
  }
  if (!out.listeners.empty() && out.users.empty()) place.fault("users: nobody could log in without one");
  if (!out.http.listeners.empty() && out.users.empty() && out.http.settings.tokens.empty()) {
    place.fault("users or tokens: nobody could ask without one");
  }
}

}  // namespace evenkeel::config
