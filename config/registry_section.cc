#include <fmt/format.h>

#include "config/sections.h"

namespace evenkeel::config {
namespace {

using namespace std::chrono_literals;
using idgen::RegistryProvider;
using idgen::RegistrySettings;
using idgen::RegistryTls;

void read_addresses(const Place& place, RegistrySettings& out) {
  if (place.node().kind != Node::Kind::list || place.node().items.empty())
    return place.expected("a list of addresses such as [\"db0.example.com:3306\"]");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    idgen::RegistryEndpoint& endpoint = out.endpoints.emplace_back();
    read_endpoint(place.item(i), endpoint.host, endpoint.port, false);
  }
}

void read_timeout(const Place& place, RegistrySettings& out) {
  std::chrono::milliseconds time(out.timeout_ms);
  read_duration(place, time, 100ms, 60s);
  out.timeout_ms = time.count();
}

}  // namespace

const Section<RegistryTls>& registry_tls_section() {
  static const Section<RegistryTls> section = {
      "registry_tls",
      {
          {"mode",
           [](const Place& place, RegistryTls& out) {
             read_choice<RegistryTls::Mode>(place, out.mode,
                                            {{"off", RegistryTls::Mode::off},
                                             {"required", RegistryTls::Mode::required},
                                             {"verify", RegistryTls::Mode::verify}});
           },
           true},
          {"ca", [](const Place& place, RegistryTls& out) { read(place, out.ca); }},
          {"certificate", [](const Place& place, RegistryTls& out) { read(place, out.certificate); }},
          {"key", [](const Place& place, RegistryTls& out) { read(place, out.key); }},
      }};
  return section;
}

const Section<RegistrySettings>& registry_section() {
  static const Section<RegistrySettings> section = {
      "registry",
      {
          {"provider",
           [](const Place& place, RegistrySettings& out) {
             read_choice<RegistryProvider>(place, out.provider,
                                           {{"file", RegistryProvider::file},
                                            {"mysql", RegistryProvider::mysql},
                                            {"redis", RegistryProvider::redis},
                                            {"zookeeper", RegistryProvider::zookeeper},
                                            {"etcd", RegistryProvider::etcd}});
           },
           true},
          {"directory", [](const Place& place, RegistrySettings& out) { read(place, out.directory); }},
          {"addresses", read_addresses},
          {"user", [](const Place& place, RegistrySettings& out) { read(place, out.user); }},
          {"password", [](const Place& place, RegistrySettings& out) { read_secret(place, out.password); }},
          {"database", [](const Place& place, RegistrySettings& out) { read(place, out.database); }},
          {"prefix", [](const Place& place, RegistrySettings& out) { read(place, out.prefix); }},
          {"tls", [](const Place& place,
                     RegistrySettings& out) { read_section(place, registry_tls_section(), out.tls); }},
          {"timeout", read_timeout},
      }};
  return section;
}

}  // namespace evenkeel::config
