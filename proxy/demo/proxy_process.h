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

// The YAML that `evenkeel serve` reads: one listener on loopback, the cluster's instances, one user `app`,
// one sharded table whose key is generated. Passwords come from the environment (APP_PASSWORD,
// INSTANCE_PASSWORD). Tables in more than 1,024 slots get ids with a 15-bit sequence (41|7|15), others
// 41|10|12.
std::string proxy_configuration(const Cluster& cluster, const ShardedTable& table, uint16_t port,
                                const std::filesystem::path& state_folder);
// The same from plain facts; `instance_ports` in order.
std::string proxy_configuration(std::span<const uint16_t> instance_ports, const std::string& backend_user,
                                const ShardedTable& table, uint16_t port,
                                const std::filesystem::path& state_folder);

// Owns the process; destroying stops it. Same thread rules as Process.
class ProxyProcess {
 public:
  // Writes the configuration into the cluster's folder, starts `program serve` and waits until it greets
  // clients.
  static Result<ProxyProcess> start(const std::filesystem::path& program, const Cluster& cluster,
                                    const ShardedTable& table);

  uint16_t port() const { return port_; }
  const Account& account() const { return account_; }
  const std::filesystem::path& configuration() const { return configuration_; }
  const std::filesystem::path& log() const { return log_; }
  bool running() { return process_.running(); }
  void stop() { process_.stop(); }

 private:
  Process process_;
  uint16_t port_ = 0;
  Account account_;
  std::filesystem::path configuration_;
  std::filesystem::path log_;
};

}  // namespace evenkeel::demo
