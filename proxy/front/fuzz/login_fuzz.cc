// A client that says anything, in up to eight packets, to a login: it must never get in.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proxy/front/handshake.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace evenkeel;
  using Next = front::ServerHandshake::Next;
  if (size < 1) return 0;
  static const front::Verifiers verifiers = front::verifiers_of("a password that no input holds");
  static const auto key = protocol::auth::caching_sha2::RsaKey::generate().value();
  front::HandshakeSettings settings;
  settings.capabilities = ~protocol::Capabilities{0};
  settings.tls_available = (bytes[0] & 1) != 0;
  settings.rsa_before_switch = true;
  settings.rsa_key = key;
  front::Verifiers native_only = verifiers;
  native_only.caching_sha2.reset();
  protocol::auth::Nonce nonce{};
  nonce.fill('n');
  front::ServerHandshake login(settings, 1, nonce);
  std::string out;
  Next next = login.start(out);
  std::string_view rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  for (int i = 0; i < 8 && next != Next::failed; ++i) {
    if (next == Next::authenticated) std::abort();
    if (next == Next::start_tls) {
      next = login.on_tls_started();
    } else if (next == Next::look_up_user) {
      next = login.on_user((bytes[0] & 2) != 0   ? &verifiers
                           : (bytes[0] & 4) != 0 ? &native_only
                                                 : nullptr,
                           out);
    } else {
      if (rest.empty()) break;
      const size_t length = std::min<size_t>(static_cast<uint8_t>(rest[0]), rest.size() - 1);
      next = login.on_packet(rest.substr(1, length), out);
      rest.remove_prefix(1 + length);
    }
  }
  return 0;
}
