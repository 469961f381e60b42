// The proxy of a demo: its configuration, and `evenkeel serve` as a child process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "proxy/demo/cluster.h"
#include "proxy/demo/process.h"
#include "proxy/demo/schema.h"

namespace evenkeel::demo {

// Where the proxy listens, on loopback.
struct ProxyPorts {
  uint16_t clients = 0;
  uint16_t admin = 0;      // admin statements over the MySQL protocol
  uint16_t dashboard = 0;  // HTTP
};

// The YAML that `evenkeel serve` reads: its listeners, the cluster's instances, one user `app` and one
// operator, one sharded table whose key is generated. Passwords come from the environment (APP_PASSWORD,
// OPERATOR_PASSWORD, INSTANCE_PASSWORD). Tables in more than 1,024 slots get ids with a 15-bit sequence
// (41|7|15), others 41|10|12.
std::string proxy_configuration(const Cluster& cluster, const ShardedTable& table, const ProxyPorts& ports,
                                const std::filesystem::path& state_folder);
// The same from plain facts; `instance_ports` in order.
std::string proxy_configuration(std::span<const uint16_t> instance_ports, const std::string& backend_user,
                                const ShardedTable& table, const ProxyPorts& ports,
                                const std::filesystem::path& state_folder);

// Owns the process; destroying stops it. Same thread rules as Process.
class ProxyProcess {
 public:
  // Writes the configuration into the cluster's folder, starts `program serve` and waits until it greets
  // clients.
  static Result<ProxyProcess> start(const std::filesystem::path& program, const Cluster& cluster,
                                    const ShardedTable& table);

  uint16_t port() const { return ports_.clients; }
  const ProxyPorts& ports() const { return ports_; }
  const Account& account() const { return account_; }
  const Account& operating_account() const { return operator_; }
  const std::filesystem::path& configuration() const { return configuration_; }
  const std::filesystem::path& log() const { return log_; }
  bool running() { return process_.running(); }
  void stop() { process_.stop(); }

 private:
  Process process_;
  ProxyPorts ports_;
  Account account_;
  Account operator_;
  std::filesystem::path configuration_;
  std::filesystem::path log_;
};

}  // namespace evenkeel::demo
