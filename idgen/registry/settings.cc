#include "idgen/registry/settings.h"

#include <algorithm>
#include <fmt/format.h>

namespace evenkeel::idgen {
namespace {

constexpr size_t prefix_length_max = 40;
constexpr int64_t timeout_least_ms = 100;
constexpr int64_t timeout_most_ms = 60'000;

bool is_prefix(std::string_view text) {
  return !text.empty() && text.size() <= prefix_length_max &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                  c == '-';
         });
}

bool takes_several_endpoints(RegistryProvider provider) {
  return provider == RegistryProvider::zookeeper || provider == RegistryProvider::etcd;
}

void check_reach(const RegistrySettings& settings, std::vector<std::string>& faults) {
  const auto name = to_string(settings.provider);
  if (settings.endpoints.empty())
    faults.push_back(fmt::format("a {} registry needs the address of its server", name));
  if (settings.endpoints.size() > 1 && !takes_several_endpoints(settings.provider))
    faults.push_back(
        fmt::format("a {} registry has one address, found {}: two servers of this kind would not agree on "
                    "who holds what",
                    name, settings.endpoints.size()));
  if (!settings.directory.empty())
    faults.push_back(fmt::format("directory belongs to a file registry, this one is {}", name));
  if (settings.provider == RegistryProvider::mysql && settings.user.empty())
    faults.push_back("a mysql registry needs a user");
  if (settings.provider == RegistryProvider::mysql && settings.database.empty())
    faults.push_back("a mysql registry needs the database that holds its table");
  if (settings.provider == RegistryProvider::zookeeper && settings.tls.mode != RegistryTls::Mode::off)
    faults.push_back(
        "tls: the ZooKeeper client of Debian 12 has no TLS; reach the ensemble over a network that needs "
        "none");
  if (settings.tls.certificate.empty() != settings.tls.key.empty())
    faults.push_back("tls: certificate and key belong together; one of them is missing");
}

}  // namespace

std::string_view to_string(RegistryProvider provider) {
  switch (provider) {
    case RegistryProvider::file:
      return "file";
    case RegistryProvider::mysql:
      return "mysql";
    case RegistryProvider::redis:
      return "redis";
    case RegistryProvider::zookeeper:
      return "zookeeper";
    case RegistryProvider::etcd:
      return "etcd";
  }
  return "?";
}

std::string to_string(const RegistryEndpoint& endpoint) {
  const bool six = endpoint.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", endpoint.host, six ? "]" : "", endpoint.port);
}

int64_t default_window_ms(RegistryProvider provider) {
  return provider == RegistryProvider::file ? 3'000 : 3'600'000;
}

std::vector<std::string> check_registry(const RegistrySettings& settings) {
  std::vector<std::string> faults;
  if (settings.provider == RegistryProvider::file) {
    if (settings.directory.empty()) faults.push_back("a file registry needs a directory");
    if (!settings.endpoints.empty())
      faults.push_back("a file registry has no address: it is for the processes of one machine");
    return faults;
  }
  check_reach(settings, faults);
  if (!is_prefix(settings.prefix))
    faults.push_back(fmt::format("prefix '{}': 1 to {} letters, digits, '_' and '-' are allowed",
                                 settings.prefix, prefix_length_max));
  if (settings.timeout_ms < timeout_least_ms || settings.timeout_ms > timeout_most_ms)
    faults.push_back(fmt::format("timeout is {} ms; allowed are {} to {}", settings.timeout_ms,
                                 timeout_least_ms, timeout_most_ms));
  return faults;
}

}  // namespace evenkeel::idgen
