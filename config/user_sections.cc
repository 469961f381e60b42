#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <fmt/format.h>
#include <openssl/evp.h>

#include "config/sections.h"

namespace evenkeel::config {
namespace {

using session::User;

std::array<uint8_t, EVP_MAX_MD_SIZE> digest(const EVP_MD* algorithm, const void* bytes, size_t size) {
  std::array<uint8_t, EVP_MAX_MD_SIZE> out{};
  unsigned int length = 0;
  EVP_Digest(bytes, size, out.data(), &length, algorithm, nullptr);
  return out;
}

// Hash of the hash: what both of MySQL's plugins keep.
template <size_t size>
std::array<uint8_t, size> verifier(const EVP_MD* algorithm, const std::string& password) {
  const auto once = digest(algorithm, password.data(), password.size());
  const auto twice = digest(algorithm, once.data(), size);
  std::array<uint8_t, size> out;
  std::copy_n(twice.begin(), size, out.begin());
  return out;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A verifier as hexadecimal digits, in the file or in an environment variable. Never shown.
template <size_t size>
void read_verifier(const Place& place, const std::string& shape, bool star,
                   std::optional<std::array<uint8_t, size>>& out) {
  std::string text = place.node().text;
  if (place.node().kind == Node::Kind::scalar && text.compare(0, 2, "${") == 0) {
    text.clear();
    read_secret(place, text);
    if (text.empty()) return;
  }
  if (star && !text.empty() && text.front() == '*') text.erase(0, 1);
  const bool hex = std::all_of(text.begin(), text.end(), [](char c) { return hex_digit(c) >= 0; });
  if (place.node().kind != Node::Kind::scalar || text.size() != 2 * size || !hex)
    return place.expected(shape, true);
  out.emplace();
  for (size_t i = 0; i < size; ++i) {
    (*out)[i] = static_cast<uint8_t>(hex_digit(text[2 * i]) * 16 + hex_digit(text[2 * i + 1]));
  }
}

void read_password(const Place& place, User& out) {
  std::string password;
  const bool given = place.node().kind == Node::Kind::scalar && !place.node().text.empty();
  read_secret(place, password);
  if (!password.empty()) {
    out.native_verifier = verifier<20>(EVP_sha1(), password);
    out.sha2_verifier = verifier<32>(EVP_sha256(), password);
  } else if (place.node().kind == Node::Kind::scalar && !given) {
    out.empty_password = true;
  }
}

// "10.0.0.7", "10.0.0.0/8", "fd00::/8".
bool is_host_pattern(const std::string& text) {
  const size_t slash = text.find('/');
  const std::string address = text.substr(0, slash);
  unsigned char bytes[16];
  const bool four = inet_pton(AF_INET, address.c_str(), bytes) == 1;
  if (!four && inet_pton(AF_INET6, address.c_str(), bytes) != 1) return false;
  if (slash == std::string::npos) return true;
  int bits = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
  return error == std::errc() && stop == end && bits >= 0 && bits <= (four ? 32 : 128);
}

void read_hosts(const Place& place, User& out) {
  if (place.node().kind != Node::Kind::list) return place.expected("a list of addresses");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    const Place at = place.item(i);
    if (at.node().kind != Node::Kind::scalar || !is_host_pattern(at.node().text)) {
      at.expected("an address or a prefix such as 10.0.0.0/8");
      continue;
    }
    out.hosts.push_back(at.node().text);
  }
}

void read_accounts(const Place& place, User& out) {
  if (place.node().kind != Node::Kind::map) return place.expected("a map from instance names to accounts");
  for (const auto& pair : place.node().pairs) {
    const std::string& instance = pair.first.text;
    const Place at = place.member(pair);
    const auto& known = at.reading().instances;
    if (std::find(known.begin(), known.end(), instance) == known.end()) {
      at.reading().fault(pair.first.mark, at.path(),
                         fmt::format("no instance has this name; known are {}", join_names(known)));
    }
    session::BackendAccount account;
    read_section(at, account_section(), account);
    if (!out.backend_by_instance.emplace(instance, std::move(account)).second) {
      at.reading().fault(pair.first.mark, at.path(), "the key stands here for the second time");
    }
  }
}

bool has_key(const Place& place, std::string_view key) {
  return std::any_of(place.node().pairs.begin(), place.node().pairs.end(),
                     [&](const auto& pair) { return pair.first.text == key; });
}

void check_user(const Place& place, User&) {
  const bool password = has_key(place, "password");
  const bool verifiers = has_key(place, "native_verifier") || has_key(place, "sha2_verifier");
  if (password == verifiers) {
    place.fault("a user has either a password or verifiers (native_verifier, sha2_verifier)");
  }
}

}  // namespace

const Section<session::BackendAccount>& account_section() {
  using session::BackendAccount;
  static const Section<BackendAccount> section = {
      "account",
      {
          {"user", [](const Place& place, BackendAccount& out) { read(place, out.user); }, true},
          {"password", [](const Place& place, BackendAccount& out) { read_secret(place, out.password); },
           true},
      }};
  return section;
}

const Section<User>& user_section() {
  static const Section<User> section = {
      "user",
      {
          {"name", [](const Place& place, User& out) { read(place, out.name); }, true},
          {"password", read_password},
          {"native_verifier",
           [](const Place& place, User& out) {
             read_verifier(place, "40 hexadecimal digits, SHA1(SHA1(password)), after a * or not", true,
                           out.native_verifier);
           }},
          {"sha2_verifier",
           [](const Place& place, User& out) {
             read_verifier(place, "64 hexadecimal digits, SHA256(SHA256(password))", false,
                           out.sha2_verifier);
           }},
          {"hosts", read_hosts},
          {"backend",
           [](const Place& place, User& out) { read_section(place, account_section(), out.backend); }, true},
          {"backend_by_instance", read_accounts},
      }};
  return section;
}

void read_users(const Place& place, std::vector<User>& out) {
  read_list(place, user_section(), out, check_user, true);
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (out[i].name == out[j].name)
        place.item(i).fault(fmt::format("a second user with the name {}", out[i].name));
    }
  }
}

}  // namespace evenkeel::config
