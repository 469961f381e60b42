#include "proxy/protocol/auth/caching_sha2.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::protocol::auth::caching_sha2 {
namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeKeyState {
  void operator()(EVP_PKEY_CTX* state) const { EVP_PKEY_CTX_free(state); }
};
using BioPtr = std::unique_ptr<BIO, FreeBio>;
using KeyStatePtr = std::unique_ptr<EVP_PKEY_CTX, FreeKeyState>;

constexpr unsigned key_bits = 2048;

std::string masked(const Sha256Digest& digest, std::string_view other) {
  std::string out(digest.size(), '\0');
  for (size_t i = 0; i < digest.size(); ++i)
    out[i] = static_cast<char>(digest[i] ^ static_cast<uint8_t>(other[i]));
  return out;
}

void xor_with_nonce(std::string& text, std::string_view nonce) {
  for (size_t i = 0; i < text.size() && !nonce.empty(); ++i) {
    text[i] =
        static_cast<char>(static_cast<uint8_t>(text[i]) ^ static_cast<uint8_t>(nonce[i % nonce.size()]));
  }
}

BioPtr reader_of(std::string_view pem) {
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

std::string bytes_of(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<size_t>(size)};
}

// An encrypted key is an error: without this OpenSSL would ask on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Error key_error(std::string_view what) {
  ERR_clear_error();
  return make_error(ErrorKind::auth, mysql::er::connect_to_foreign_data_source,
                    "caching_sha2_password: " + std::string(what));
}

// Both directions: `run` is EVP_PKEY_encrypt or EVP_PKEY_decrypt behind its init.
using Init = int (*)(EVP_PKEY_CTX*);
using Run = int (*)(EVP_PKEY_CTX*, unsigned char*, size_t*, const unsigned char*, size_t);
bool oaep(EVP_PKEY* key, Init init, Run run, std::string_view in, std::string& out) {
  const KeyStatePtr state(EVP_PKEY_CTX_new(key, nullptr));
  const auto* bytes = reinterpret_cast<const unsigned char*>(in.data());
  size_t size = 0;
  if (state == nullptr || init(state.get()) != 1 ||
      EVP_PKEY_CTX_set_rsa_padding(state.get(), RSA_PKCS1_OAEP_PADDING) != 1 ||
      run(state.get(), nullptr, &size, bytes, in.size()) != 1) {
    return false;
  }
  out.resize(size);
  if (run(state.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes, in.size()) != 1)
    return false;
  out.resize(size);
  return true;
}

}  // namespace

Sha256Digest verifier_of(std::string_view password) { return sha256({view_of(sha256({password}))}); }

Result<Sha256Digest> parse_verifier(std::string_view text) {
  Sha256Digest verifier{};
  if (!from_hex(text, verifier)) {
    return fail(config_error("a caching_sha2_password verifier is 64 hexadecimal digits"));
  }
  return verifier;
}

std::string to_text(const Sha256Digest& verifier) { return to_hex(view_of(verifier)); }

std::string respond(std::string_view password, std::string_view nonce) {
  if (password.empty()) return {};
  const Sha256Digest stage1 = sha256({password});
  const Sha256Digest stage2 = sha256({view_of(stage1)});
  return masked(sha256({view_of(stage2), nonce}), view_of(stage1));
}

bool check(std::string_view response, std::string_view nonce, const Sha256Digest& verifier) {
  if (response.size() != verifier.size()) return false;
  std::string stage1 = masked(sha256({view_of(verifier), nonce}), response);
  const bool right = same_bytes(view_of(sha256({stage1})), view_of(verifier));
  wipe(stage1);
  return right;
}

RsaKey::~RsaKey() { EVP_PKEY_free(key_); }

Status RsaKey::read_public_pem() {
  if (EVP_PKEY_get_base_id(key_) != EVP_PKEY_RSA) return fail(key_error("the key is not an RSA key"));
  const BioPtr out(BIO_new(BIO_s_mem()));
  if (out == nullptr || PEM_write_bio_PUBKEY(out.get(), key_) != 1)
    return fail(key_error("the key cannot be written"));
  public_pem_ = bytes_of(out.get());
  return {};
}

Result<std::shared_ptr<const RsaKey>> RsaKey::adopt(evp_pkey_st* key, std::string_view what) {
  if (key == nullptr) return fail(key_error(what));
  const std::shared_ptr<RsaKey> out(new RsaKey(key));
  EVENKEEL_TRY(out->read_public_pem());
  return out;
}

Result<std::shared_ptr<const RsaKey>> RsaKey::from_private_pem(std::string_view pem) {
  const BioPtr in = reader_of(pem);
  return adopt(PEM_read_bio_PrivateKey(in.get(), nullptr, no_passphrase, nullptr),
               "no private key in PEM form");
}

Result<std::shared_ptr<const RsaKey>> RsaKey::from_public_pem(std::string_view pem) {
  const BioPtr in = reader_of(pem);
  return adopt(PEM_read_bio_PUBKEY(in.get(), nullptr, no_passphrase, nullptr), "no public key in PEM form");
}

Result<std::shared_ptr<const RsaKey>> RsaKey::generate() {
  return adopt(EVP_RSA_gen(key_bits), "an RSA key could not be generated");
}

Result<std::string> RsaKey::private_pem() const {
  const BioPtr out(BIO_new(BIO_s_mem()));
  if (out == nullptr ||
      PEM_write_bio_PrivateKey(out.get(), key_, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return fail(key_error("the private key cannot be written"));
  }
  return bytes_of(out.get());
}

Result<std::string> RsaKey::encrypt_password(std::string_view password, std::string_view nonce) const {
  std::string plain(password);
  plain += '\0';
  xor_with_nonce(plain, nonce);
  std::string cipher;
  const bool done = oaep(key_, EVP_PKEY_encrypt_init, EVP_PKEY_encrypt, plain, cipher);
  wipe(plain);
  if (!done) return fail(key_error("the password cannot be encrypted with the server's key"));
  return cipher;
}

Result<std::string> RsaKey::decrypt_password(std::string_view cipher, std::string_view nonce) const {
  std::string plain;
  const bool done = oaep(key_, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt, cipher, plain);
  if (done) xor_with_nonce(plain, nonce);
  if (!done || !plain.ends_with('\0')) {
    wipe(plain);
    return fail(key_error("the password cannot be decrypted"));
  }
  plain.pop_back();
  return plain;
}

}  // namespace evenkeel::protocol::auth::caching_sha2
