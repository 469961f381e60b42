#include "idgen/registry/holder.h"

#include <array>
#include <fmt/format.h>
#include <unistd.h>

#include "base/random.h"

namespace evenkeel::idgen {

std::string random_token() {
  std::array<std::byte, 16> bytes;
  fill_secure(bytes);
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

Holder holder_of_this_process(const std::string& program) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {'?'};
  return {fmt::format("{} pid {} on {}", program, getpid(), host.data()), random_token()};
}

}  // namespace evenkeel::idgen
