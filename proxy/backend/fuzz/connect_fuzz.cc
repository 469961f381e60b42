// An instance that says anything: the password must not leave in the clear without TLS.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proxy/backend/connect.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace evenkeel;
  using Next = backend::ClientHandshake::Next;
  if (size < 1) return 0;
  backend::ConnectSettings settings;
  settings.instance = "i";
  settings.user = "u";
  settings.password = "correct horse battery staple";
  settings.ask_server_key = true;
  settings.desired = ~protocol::Capabilities{0};
  if ((bytes[0] & 1) != 0) settings.tls = backend::TlsUse::preferred;
  backend::ClientHandshake login(settings);
  std::string_view rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  Next next = Next::need_packet;
  std::string out;
  while (next != Next::failed && next != Next::done) {
    if (next == Next::start_tls) {
      next = login.on_tls_started(out);
      continue;
    }
    if (rest.empty()) break;
    const size_t length = std::min<size_t>(static_cast<uint8_t>(rest[0]), rest.size() - 1);
    next = login.on_packet(rest.substr(1, length), out);
    rest.remove_prefix(1 + length);
    if (!login.facts().tls && out.find(settings.password) != std::string::npos) std::abort();
  }
  return 0;
}
