// caching_sha2_password. Fast path: response = SHA256(pw) xor SHA256(SHA256(SHA256(pw)) + nonce). Full path:
// the password itself with a NUL behind it, over TLS as it is, else xor nonce and encrypted with the server's
// RSA key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/protocol/auth/digest.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace evenkeel::protocol::auth::caching_sha2 {

// Bytes inside AuthMoreData and of the client's packets. Wire format: DO NOT CHANGE THESE VALUES.
inline constexpr char fast_auth_success = 0x03;
inline constexpr char perform_full_auth = 0x04;
inline constexpr char request_public_key = 0x02;

// What the proxy keeps: SHA256(SHA256(password)). (A MySQL server keeps a slow hash and only caches this.)
Sha256Digest verifier_of(std::string_view password);
// 64 hexadecimal digits.
Result<Sha256Digest> parse_verifier(std::string_view text);
std::string to_text(const Sha256Digest& verifier);

// Client: 32 bytes; empty for an empty password.
std::string respond(std::string_view password, std::string_view nonce);
// Server, fast path, from the verifier alone. Same time for right and wrong.
bool check(std::string_view response, std::string_view nonce, const Sha256Digest& verifier);

// An RSA key, private (the front's own) or public (an instance's). Immutable; shared between threads.
class RsaKey {
 public:
  // PEM text: "PRIVATE KEY" or "PUBLIC KEY". Errors: no PEM, not RSA.
  static Result<std::shared_ptr<const RsaKey>> from_private_pem(std::string_view pem);
  static Result<std::shared_ptr<const RsaKey>> from_public_pem(std::string_view pem);
  // Of 2048 bits; takes about 0.1 s.
  static Result<std::shared_ptr<const RsaKey>> generate();
  ~RsaKey();
  RsaKey(const RsaKey&) = delete;
  RsaKey& operator=(const RsaKey&) = delete;

  // What is sent to a client that asks.
  const std::string& public_pem() const { return public_pem_; }
  Result<std::string> private_pem() const;

  // Client: password + NUL, xor nonce, RSA-OAEP. Errors: a password too long for the key.
  Result<std::string> encrypt_password(std::string_view password, std::string_view nonce) const;
  // Server: the reverse. Errors name no reason.
  Result<std::string> decrypt_password(std::string_view cipher, std::string_view nonce) const;

 private:
  explicit RsaKey(evp_pkey_st* key) : key_(key) {}
  // Takes over `key`; null is the error `what`.
  static Result<std::shared_ptr<const RsaKey>> adopt(evp_pkey_st* key, std::string_view what);
  Status read_public_pem();

  evp_pkey_st* key_;
  std::string public_pem_;
};

}  // namespace evenkeel::protocol::auth::caching_sha2
