#include "proxy/front/host_rules.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>

namespace evenkeel::front {
namespace {

bool address_matches(const std::string& address, const std::string& rule) {
  const size_t slash = rule.find('/');
  unsigned char given[16];
  unsigned char wanted[16];
  const int family = address.find(':') != std::string::npos ? AF_INET6 : AF_INET;
  const size_t bytes = family == AF_INET6 ? 16 : 4;
  if (inet_pton(family, address.c_str(), given) != 1) return address == rule;
  if (inet_pton(family, rule.substr(0, slash).c_str(), wanted) != 1) return false;
  size_t bits = bytes * 8;
  if (slash != std::string::npos) {
    std::from_chars(rule.data() + slash + 1, rule.data() + rule.size(), bits);
    bits = std::min(bits, bytes * 8);
  }
  if (std::memcmp(given, wanted, bits / 8) != 0) return false;
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<unsigned char>(0xff << (8 - bits % 8));
  return (given[bits / 8] & mask) == (wanted[bits / 8] & mask);
}

}  // namespace

bool host_allowed(const std::string& address, const std::vector<std::string>& rules) {
  return rules.empty() || std::any_of(rules.begin(), rules.end(), [&](const std::string& rule) {
           return address_matches(address, rule);
         });
}

}  // namespace evenkeel::front
