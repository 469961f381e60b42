#include <algorithm>
#include <fmt/format.h>

#include "config/sections.h"

namespace evenkeel::config {
namespace {

using namespace std::chrono_literals;
using net::TlsSettings;
using InstanceTlsMode = backend::InstanceTls::Mode;

constexpr std::chrono::milliseconds day = 24h;

void check_listener(const Place& place, net::Listener& listener) {
  TlsSettings& tls = listener.tls;
  const bool files_named = !tls.certificate.empty() || !tls.key.empty();
  if (tls.mode == TlsSettings::Mode::files && (tls.certificate.empty() || tls.key.empty())) {
    place.fault("tls needs both certificate and key");
  } else if (tls.mode != TlsSettings::Mode::files && files_named) {
    place.fault("tls: certificate and key are used with mode files only");
    return;
  }
  if (tls.mode == TlsSettings::Mode::off && tls.required) place.fault("tls is required and off");
  if (tls.mode == TlsSettings::Mode::generated && !place.reading().has_state_directory) {
    place.fault(
        "a generated certificate is kept in the state directory: set state_directory, name a certificate and "
        "key, or write tls: {mode: off}");
  }
}

void check_instance(const Place& place, backend::Instance& instance) {
  std::vector<std::string>& names = place.reading().instances;
  if (std::find(names.begin(), names.end(), instance.name) != names.end()) {
    place.fault(fmt::format("a second instance with the name {}", instance.name));
  }
  names.push_back(instance.name);
  if (!instance.tls.ca.empty() && instance.tls.mode != InstanceTlsMode::verify) {
    place.fault("tls: ca is used with mode verify only");
  }
}

}  // namespace

const Section<TlsSettings>& tls_section() {
  static const Section<TlsSettings> section = {
      "tls",
      {
          {"certificate",
           [](const Place& place, TlsSettings& out) {
             read(place, out.certificate);
             out.mode = TlsSettings::Mode::files;
           }},
          {"key",
           [](const Place& place, TlsSettings& out) {
             read(place, out.key);
             out.mode = TlsSettings::Mode::files;
           }},
          {"mode",
           [](const Place& place, TlsSettings& out) {
             read_choice<TlsSettings::Mode>(place, out.mode,
                                            {{"generated", TlsSettings::Mode::generated},
                                             {"files", TlsSettings::Mode::files},
                                             {"off", TlsSettings::Mode::off}});
           }},
          {"required", [](const Place& place, TlsSettings& out) { read(place, out.required); }},
      }};
  return section;
}

const Section<net::Listener>& listener_section() {
  static const Section<net::Listener> section = {
      "listener",
      {
          {"address",
           [](const Place& place, net::Listener& out) { read_endpoint(place, out.address, out.port, true); },
           true},
          {"tls",
           [](const Place& place, net::Listener& out) { read_section(place, tls_section(), out.tls); }},
      }};
  return section;
}

void read_listeners(const Place& place, std::vector<net::Listener>& out) {
  read_list(place, listener_section(), out, check_listener, true);
}

const Section<backend::InstanceTls>& instance_tls_section() {
  static const Section<backend::InstanceTls> section = {
      "instance_tls",
      {
          {"mode",
           [](const Place& place, backend::InstanceTls& out) {
             read_choice<InstanceTlsMode>(place, out.mode,
                                          {{"preferred", InstanceTlsMode::preferred},
                                           {"off", InstanceTlsMode::off},
                                           {"required", InstanceTlsMode::required},
                                           {"verify", InstanceTlsMode::verify}});
           }},
          {"ca", [](const Place& place, backend::InstanceTls& out) { read(place, out.ca); }},
      }};
  return section;
}

const Section<backend::Instance>& instance_section() {
  using backend::Instance;
  static const Section<Instance> section = {
      "instance",
      {
          {"name", [](const Place& place, Instance& out) { read(place, out.name); }, true},
          {"address",
           [](const Place& place, Instance& out) { read_endpoint(place, out.host, out.port, false); }, true},
          {"tls",
           [](const Place& place, Instance& out) { read_section(place, instance_tls_section(), out.tls); }},
      }};
  return section;
}

void read_instances(const Place& place, std::vector<backend::Instance>& out) {
  read_list(place, instance_section(), out, check_instance, true);
}

const Section<Config>& pool_section() {
  static const Section<Config> section = {
      "pool",
      {
          {"connections", [](const Place& place,
                             Config& out) { read_number(place, out.backend.max_connections, 1, 100'000); }},
          {"connect_timeout",
           [](const Place& place, Config& out) {
             read_duration(place, out.backend.connect_timeout, 10ms, 1h);
           }},
          {"lease_timeout",
           [](const Place& place, Config& out) { read_duration(place, out.backend.lease_timeout, 1ms, 1h); }},
          {"idle_lifetime",
           [](const Place& place, Config& out) { read_duration(place, out.backend.idle_lifetime, 1s, day); }},
          {"max_lifetime", [](const Place& place,
                              Config& out) { read_duration(place, out.backend.max_lifetime, 0s, 30 * day); }},
          {"prepared_statements",
           [](const Place& place, Config& out) {
             read_number(place, out.session.instance_prepared_statements, 0, 1'000'000);
           }},
      }};
  return section;
}

const Section<Config>& limits_section() {
  static const Section<Config> section = {
      "limits",
      {
          {"worker_threads",
           [](const Place& place, Config& out) { read_number(place, out.net.worker_threads, 0, 1'024); }},
          {"clients",
           [](const Place& place, Config& out) { read_number(place, out.net.max_clients, 1, 1'000'000); }},
          {"login_timeout",
           [](const Place& place, Config& out) { read_duration(place, out.net.login_timeout, 10ms, 1h); }},
          {"drain_timeout",
           [](const Place& place, Config& out) { read_duration(place, out.net.drain_timeout, 0s, day); }},
          {"wait_timeout",
           [](const Place& place, Config& out) {
             read_duration(place, out.session.wait_timeout, 1s, 365 * day);
           }},
          {"slow_query",
           [](const Place& place, Config& out) { read_duration(place, out.session.slow_query, 0s, day); }},
          {"query_timeout",
           [](const Place& place, Config& out) { read_duration(place, out.session.query_timeout, 0s, day); }},
          {"packet", [](const Place& place,
                        Config& out) { read_size(place, out.session.max_packet, 64 << 10, 1 << 30); }},
          {"offset",
           [](const Place& place, Config& out) { read_number(place, out.session.max_offset, 0, INT64_MAX); }},
          {"rows_held", [](const Place& place,
                           Config& out) { read_number(place, out.session.max_rows_held, 1, INT64_MAX); }},
          {"prepared_statements",
           [](const Place& place, Config& out) {
             read_number(place, out.session.max_prepared_statements, 0, 1'000'000);
           }},
          {"statement_cache",
           [](const Place& place, Config& out) {
             read_number(place, out.session.statement_cache_entries, 0, 10'000'000);
           }},
          {"client_write_high_mark",
           [](const Place& place, Config& out) {
             read_size(place, out.net.client_write_high_mark, 4 << 10, 1 << 30);
           }},
          {"client_write_low_mark",
           [](const Place& place, Config& out) {
             read_size(place, out.net.client_write_low_mark, 0, 1 << 30);
           }},
      }};
  return section;
}

}  // namespace evenkeel::config
