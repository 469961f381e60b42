#include <algorithm>
#include <gtest/gtest.h>

#include "proxy/protocol/auth/caching_sha2.h"
#include "proxy/protocol/auth/native_password.h"
#include "proxy/protocol/tests/bytes.h"

namespace evenkeel::protocol::auth {
namespace {

// Taken from logins of real clients with the password 'apppw'.
const std::string native_nonce = bytes("5b7041327372616d 23603c493a27545074777773");
const std::string native_answer = bytes("5c1a609a480075bc3f613ce7171fdc7e752ca2da");
const std::string sha2_nonce = bytes("4a7a1a2b7f1b630b 030b46436b7b775460391e5e");
const std::string sha2_answer = bytes("8df2626cb49e28c7af16a136270837d3792f4ae1bd2cfbe317ec2dc69a602d08");

TEST(NativePassword, GoldenAnswerOfARealClient) {
  EXPECT_EQ(hex(native_password::respond("apppw", native_nonce)), hex(native_answer));
  EXPECT_TRUE(native_password::check(native_answer, native_nonce, native_password::verifier_of("apppw")));
}

TEST(NativePassword, VerifierIsMySqls) {
  // SELECT PASSWORD('apppw'), PASSWORD('password')
  EXPECT_EQ(native_password::to_text(native_password::verifier_of("password")),
            "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19");
  const auto parsed = native_password::parse_verifier("*2470c0c06dee42fd1618bb99005adca2ec9d1e19");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, native_password::verifier_of("password"));
  EXPECT_TRUE(native_password::parse_verifier("2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19"));
  for (const char* bad :
       {"", "*", "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E1", "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E1G"}) {
    EXPECT_FALSE(native_password::parse_verifier(bad)) << bad;
  }
}

TEST(NativePassword, WrongOnesFail) {
  const Sha1Digest verifier = native_password::verifier_of("apppw");
  for (size_t i = 0; i < native_answer.size(); ++i) {
    std::string flipped = native_answer;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(native_password::check(flipped, native_nonce, verifier)) << i;
  }
  EXPECT_FALSE(native_password::check("", native_nonce, verifier));
  EXPECT_FALSE(native_password::check(native_answer + "x", native_nonce, verifier));
  EXPECT_FALSE(native_password::check(native_answer, sha2_nonce, verifier));
  EXPECT_EQ(native_password::respond("", native_nonce), "");
}

TEST(CachingSha2, GoldenAnswerOfARealClient) {
  EXPECT_EQ(hex(caching_sha2::respond("apppw", sha2_nonce)), hex(sha2_answer));
  EXPECT_TRUE(caching_sha2::check(sha2_answer, sha2_nonce, caching_sha2::verifier_of("apppw")));
}

TEST(CachingSha2, WrongOnesFail) {
  const Sha256Digest verifier = caching_sha2::verifier_of("apppw");
  for (size_t i = 0; i < sha2_answer.size(); ++i) {
    std::string flipped = sha2_answer;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x80);
    EXPECT_FALSE(caching_sha2::check(flipped, sha2_nonce, verifier)) << i;
  }
  EXPECT_FALSE(caching_sha2::check("", sha2_nonce, verifier));
  EXPECT_FALSE(caching_sha2::check(sha2_answer, native_nonce, verifier));
  EXPECT_EQ(caching_sha2::respond("", sha2_nonce), "");
}

TEST(CachingSha2, VerifierAsText) {
  // SHA2(UNHEX(SHA2('password', 256)), 256)
  const std::string text = "73641C99F7719F57D8F4BEB11A303AFCD190243A51CED8782CA6D3DBE014D146";
  EXPECT_EQ(caching_sha2::to_text(caching_sha2::verifier_of("password")), text);
  ASSERT_TRUE(caching_sha2::parse_verifier(text));
  EXPECT_EQ(*caching_sha2::parse_verifier(text), caching_sha2::verifier_of("password"));
  EXPECT_FALSE(caching_sha2::parse_verifier(text.substr(1)));
}

TEST(CachingSha2, PasswordUnderRsa) {
  const auto key = caching_sha2::RsaKey::generate();
  ASSERT_TRUE(key);
  const auto public_key = caching_sha2::RsaKey::from_public_pem((*key)->public_pem());
  ASSERT_TRUE(public_key);
  const auto private_key = caching_sha2::RsaKey::from_private_pem((*key)->private_pem().value());
  ASSERT_TRUE(private_key);
  for (const std::string& password : {std::string("apppw"), std::string(), std::string(200, 'p')}) {
    const auto cipher = (*public_key)->encrypt_password(password, sha2_nonce);
    ASSERT_TRUE(cipher);
    EXPECT_EQ(cipher->size(), 256u);
    EXPECT_EQ((*private_key)->decrypt_password(*cipher, sha2_nonce).value(), password);
  }
  EXPECT_FALSE((*public_key)->encrypt_password(std::string(300, 'p'), sha2_nonce))
      << "longer than the key carries";
  EXPECT_FALSE((*private_key)->decrypt_password(std::string(256, 'x'), sha2_nonce));
  EXPECT_FALSE((*private_key)->decrypt_password("", sha2_nonce));
  EXPECT_FALSE((*public_key)->decrypt_password(std::string(256, 'x'), sha2_nonce)) << "no private part";
  EXPECT_FALSE(caching_sha2::RsaKey::from_public_pem("no key"));
  EXPECT_FALSE(caching_sha2::RsaKey::from_private_pem(""));
}

TEST(Digest, Nonce) {
  std::array<std::byte, nonce_size> random{};
  for (size_t i = 0; i < random.size(); ++i) random[i] = static_cast<std::byte>(i * 13);
  random[3] = std::byte{0x80};
  random[4] = std::byte{'$'};
  const Nonce nonce = make_nonce(random);
  EXPECT_TRUE(
      std::all_of(nonce.begin(), nonce.end(), [](uint8_t b) { return b > 0 && b < 128 && b != '$'; }));
}

TEST(Digest, SameBytes) {
  EXPECT_TRUE(same_bytes("ab", "ab"));
  EXPECT_FALSE(same_bytes("ab", "ac"));
  EXPECT_FALSE(same_bytes("ab", "abc"));
}

}  // namespace
}  // namespace evenkeel::protocol::auth
