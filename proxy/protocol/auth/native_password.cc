#include "proxy/protocol/auth/native_password.h"

namespace evenkeel::protocol::auth::native_password {
namespace {

std::string masked(const Sha1Digest& digest, std::string_view other) {
  std::string out(digest.size(), '\0');
  for (size_t i = 0; i < digest.size(); ++i)
    out[i] = static_cast<char>(digest[i] ^ static_cast<uint8_t>(other[i]));
  return out;
}

}  // namespace

Sha1Digest verifier_of(std::string_view password) { return sha1({view_of(sha1({password}))}); }

Result<Sha1Digest> parse_verifier(std::string_view text) {
  Sha1Digest verifier{};
  const std::string_view digits = text.starts_with('*') ? text.substr(1) : text;
  if (!from_hex(digits, verifier)) {
    return fail(config_error("a mysql_native_password verifier is '*' and 40 hexadecimal digits"));
  }
  return verifier;
}

std::string to_text(const Sha1Digest& verifier) { return "*" + to_hex(view_of(verifier)); }

std::string respond(std::string_view password, std::string_view nonce) {
  if (password.empty()) return {};
  const Sha1Digest stage1 = sha1({password});
  const Sha1Digest stage2 = sha1({view_of(stage1)});
  return masked(sha1({nonce, view_of(stage2)}), view_of(stage1));
}

bool check(std::string_view response, std::string_view nonce, const Sha1Digest& verifier) {
  if (response.size() != verifier.size()) return false;
  std::string stage1 = masked(sha1({nonce, view_of(verifier)}), response);
  const bool right = same_bytes(view_of(sha1({stage1})), view_of(verifier));
  wipe(stage1);
  return right;
}

}  // namespace evenkeel::protocol::auth::native_password
