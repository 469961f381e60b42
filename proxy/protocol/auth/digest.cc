#include "proxy/protocol/auth/digest.h"

#include <memory>
#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace evenkeel::protocol::auth {
namespace {

struct FreeDigest {
  void operator()(EVP_MD_CTX* state) const { EVP_MD_CTX_free(state); }
};

template <size_t N>
std::array<uint8_t, N> digest(const EVP_MD* algorithm, std::initializer_list<std::string_view> parts) {
  std::array<uint8_t, N> out{};
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> state(EVP_MD_CTX_new());
  bool ok = state != nullptr && EVP_DigestInit_ex(state.get(), algorithm, nullptr) == 1;
  for (const std::string_view part : parts)
    ok = ok && EVP_DigestUpdate(state.get(), part.data(), part.size()) == 1;
  ok = ok && EVP_DigestFinal_ex(state.get(), out.data(), nullptr) == 1;
  // These fail only when memory is gone or the library was built without the algorithm: a half-made digest
  // must never be compared with.
  if (!ok) OPENSSL_die("a message digest could not be computed", __FILE__, __LINE__);
  return out;
}

}  // namespace

Sha1Digest sha1(std::initializer_list<std::string_view> parts) { return digest<20>(EVP_sha1(), parts); }

Sha256Digest sha256(std::initializer_list<std::string_view> parts) { return digest<32>(EVP_sha256(), parts); }

bool same_bytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

Nonce make_nonce(std::span<const std::byte, nonce_size> random) {
  Nonce nonce{};
  for (size_t i = 0; i < nonce_size; ++i) {
    const auto byte = static_cast<uint8_t>(std::to_integer<uint8_t>(random[i]) & 0x7f);
    nonce[i] = byte == 0 || byte == '$' ? byte + 1 : byte;
  }
  return nonce;
}

std::string to_hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

bool from_hex(std::string_view text, std::span<uint8_t> out) {
  if (text.size() != 2 * out.size()) return false;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  for (size_t i = 0; i < out.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

}  // namespace evenkeel::protocol::auth
