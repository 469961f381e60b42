// Where the registry is and how it is reached, as plain values. The configuration room fills them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::idgen {

enum class RegistryProvider : uint8_t { file, mysql, redis, zookeeper, etcd };

std::string_view to_string(RegistryProvider provider);

struct RegistryEndpoint {
  std::string host;
  uint16_t port = 0;
};

// "db0.example.com:3306", "[::1]:2379".
std::string to_string(const RegistryEndpoint& endpoint);

struct RegistryTls {
  enum class Mode : uint8_t {
    off,
    required,  // no connection without TLS; the server's certificate is not checked
    verify,    // required, and the certificate is checked against `ca` and the endpoint's host
  } mode = Mode::off;
  std::string ca;           // PEM file; empty with `verify`: the system's store
  std::string certificate;  // of this client, PEM; with `key` or not at all
  std::string key;          // PEM
};

struct RegistrySettings {
  RegistryProvider provider = RegistryProvider::file;
  // file: the directory. The others leave it empty.
  std::string directory;
  // mysql and redis: exactly one. zookeeper and etcd: the members of the ensemble.
  std::vector<RegistryEndpoint> endpoints;
  // mysql, etcd: the account. redis: password alone, or with the user of an ACL. zookeeper: digest.
  std::string user;
  std::string password;
  // mysql: the schema that holds the table; it must exist.
  std::string database = "evenkeel";
  // Separates the records of several installations in one store: the table `<prefix>_registry` (mysql), the
  // keys that start with "<prefix>:" (redis) or "<prefix>/" (etcd), the node "/<prefix>" (zookeeper).
  // [a-zA-Z0-9_-]+
  std::string prefix = "evenkeel";
  RegistryTls tls;
  // No call takes longer than about this, whatever the store does (connecting included; looking up a host's
  // name is bounded by the system's resolver).
  int64_t timeout_ms = 2'000;
};

// The time that a worker lease reserves ahead, and how often, where the configuration does not say. Long
// where the store is remote, so that its loss stops no insert for most of an hour; short for files, whose
// holder is proved dead by the system and whose id should be usable again at once.
int64_t default_window_ms(RegistryProvider provider);
inline int64_t default_renew_ms(int64_t window_ms) { return window_ms / 3; }

// What is wrong with the settings, one sentence each.
std::vector<std::string> check_registry(const RegistrySettings& settings);

}  // namespace evenkeel::idgen
