// Hashes and small tools of the login, over OpenSSL's libcrypto.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace evenkeel::protocol::auth {

using Sha1Digest = std::array<uint8_t, 20>;
using Sha256Digest = std::array<uint8_t, 32>;

// The digest of the parts, one behind the other.
Sha1Digest sha1(std::initializer_list<std::string_view> parts);
Sha256Digest sha256(std::initializer_list<std::string_view> parts);

template <size_t N>
std::string_view view_of(const std::array<uint8_t, N>& digest) {
  return {reinterpret_cast<const char*>(digest.data()), N};
}

// In time that depends on the lengths only.
bool same_bytes(std::string_view a, std::string_view b);

// Overwrites a password before its memory goes back.
void wipe(std::string& secret);

// Verifiers as text: capital hexadecimal digits. from_hex takes either case and exactly out.size() bytes.
std::string to_hex(std::string_view bytes);
bool from_hex(std::string_view text, std::span<uint8_t> out);

// The challenge of a login. Bytes 1..127 but '$', as servers send it: clients treat it as a C string.
inline constexpr size_t nonce_size = 20;
using Nonce = std::array<uint8_t, nonce_size>;
// Maps secure random bytes (base/random.h, fill_secure) to a nonce.
Nonce make_nonce(std::span<const std::byte, nonce_size> random);

}  // namespace evenkeel::protocol::auth
