#include "config/verifiers.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <openssl/evp.h>

namespace evenkeel::config {
namespace {

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

template <size_t size>
void read_digits(const Place& place, const std::string& shape, bool star,
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

}  // namespace

NativeVerifier native_verifier_of(const std::string& password) { return verifier<20>(EVP_sha1(), password); }

Sha2Verifier sha2_verifier_of(const std::string& password) { return verifier<32>(EVP_sha256(), password); }

void read_verifier(const Place& place, std::optional<NativeVerifier>& out) {
  read_digits(place, "40 hexadecimal digits, SHA1(SHA1(password)), after a * or not", true, out);
}

void read_verifier(const Place& place, std::optional<Sha2Verifier>& out) {
  read_digits(place, "64 hexadecimal digits, SHA256(SHA256(password))", false, out);
}

void read_host_rules(const Place& place, std::vector<std::string>& out) {
  if (place.node().kind != Node::Kind::list) return place.expected("a list of addresses");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    const Place at = place.item(i);
    if (at.node().kind != Node::Kind::scalar || !is_host_pattern(at.node().text)) {
      at.expected("an address or a prefix such as 10.0.0.0/8");
      continue;
    }
    out.push_back(at.node().text);
  }
}

bool has_key(const Place& place, std::string_view key) {
  return std::any_of(place.node().pairs.begin(), place.node().pairs.end(),
                     [&](const auto& pair) { return pair.key.text == key; });
}

}  // namespace evenkeel::config
