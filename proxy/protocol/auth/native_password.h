// mysql_native_password: response = SHA1(pw) xor SHA1(nonce + SHA1(SHA1(pw))).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/protocol/auth/digest.h"

namespace evenkeel::protocol::auth::native_password {

// What a server keeps: SHA1(SHA1(password)).
Sha1Digest verifier_of(std::string_view password);
// "*" and 40 hexadecimal digits, as in mysql.user; the star may be absent.
Result<Sha1Digest> parse_verifier(std::string_view text);
std::string to_text(const Sha1Digest& verifier);

// Client: 20 bytes; empty for an empty password.
std::string respond(std::string_view password, std::string_view nonce);
// Server: whether `response` proves the password behind the verifier. Same time for right and wrong.
bool check(std::string_view response, std::string_view nonce, const Sha1Digest& verifier);

}  // namespace evenkeel::protocol::auth::native_password
