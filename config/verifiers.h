// What a user proves a password against, as the configuration gives it: for every kind of user, whose
// settings have the members native_verifier, sha2_verifier, empty_password and hosts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/reader.h"

namespace evenkeel::config {

using NativeVerifier = std::array<uint8_t, 20>;
using Sha2Verifier = std::array<uint8_t, 32>;

NativeVerifier native_verifier_of(const std::string& password);
Sha2Verifier sha2_verifier_of(const std::string& password);
// Hexadecimal digits, in the file or in an environment variable. Never shown.
void read_verifier(const Place& place, std::optional<NativeVerifier>& out);
void read_verifier(const Place& place, std::optional<Sha2Verifier>& out);
// Addresses and prefixes: "10.0.0.7", "10.0.0.0/8", "fd00::/8".
void read_host_rules(const Place& place, std::vector<std::string>& out);
// Whether the map has the key.
bool has_key(const Place& place, std::string_view key);

template <typename User>
void read_password(const Place& place, User& out) {
  std::string password;
  const bool given = place.node().kind == Node::Kind::scalar && !place.node().text.empty();
  read_secret(place, password);
  if (!password.empty()) {
    out.native_verifier = native_verifier_of(password);
    out.sha2_verifier = sha2_verifier_of(password);
  } else if (place.node().kind == Node::Kind::scalar && !given) {
    out.empty_password = true;
  }
}

template <typename User>
void read_native_verifier(const Place& place, User& out) {
  read_verifier(place, out.native_verifier);
}

template <typename User>
void read_sha2_verifier(const Place& place, User& out) {
  read_verifier(place, out.sha2_verifier);
}

template <typename User>
void read_hosts(const Place& place, User& out) {
  read_host_rules(place, out.hosts);
}

template <typename User>
void check_verifiers(const Place& place, User&) {
  const bool password = has_key(place, "password");
  const bool verifiers = has_key(place, "native_verifier") || has_key(place, "sha2_verifier");
  if (password == verifiers) {
    place.fault("a user has either a password or verifiers (native_verifier, sha2_verifier)");
  }
}

}  // namespace evenkeel::config
