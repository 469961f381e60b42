// Real registry servers for tests: on loopback, with a data directory of their own, ended by pid.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "idgen/registry/settings.h"

namespace evenkeel::idgen {

// Owns the server; destroying stops it and removes its data. Use from the thread that started it.
class RealServer {
 public:
  virtual ~RealServer() = default;
  // How to reach it, with the account it asks for.
  virtual RegistrySettings settings() const = 0;
  virtual void pause() = 0;      // SIGSTOP, in effect when it returns
  virtual void go_on() = 0;      // SIGCONT
  virtual void kill() = 0;       // SIGKILL
  virtual Status restart() = 0;  // on the same port, with the data that it left
};

enum class ServerKind : uint8_t { mariadb, mysql, redis, redis_tls, etcd, etcd_tls, zookeeper };
std::string to_string(ServerKind kind);

// Fails when its program is not on this machine: the test is then skipped, saying so.
Result<std::unique_ptr<RealServer>> start_server(ServerKind kind);

}  // namespace evenkeel::idgen
