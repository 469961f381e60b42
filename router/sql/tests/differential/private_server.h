// A mariadbd of the test's own: a data directory in a temporary folder, a socket, no network.
#pragma once

#include <memory>
#include <string>
#include <sys/types.h>

namespace sql {
class Connection;
}

namespace evenkeel::sql {

// Started by the constructor, ended and removed by the destructor. One thread.
class PrivateServer {
 public:
  PrivateServer();
  ~PrivateServer();
  PrivateServer(const PrivateServer&) = delete;
  PrivateServer& operator=(const PrivateServer&) = delete;

  // Why there is none: programs missing, or the server's last words. Empty when it runs.
  const std::string& absent() const { return absent_; }
  // False when the programs are missing: a reason to skip, not to fail.
  bool installed() const { return installed_; }
  ::sql::Connection& connection() { return *connection_; }

 private:
  bool connect();

  std::string folder_;
  std::string absent_;
  bool installed_ = true;
  pid_t pid_ = 0;
  std::unique_ptr<::sql::Connection> connection_;
};

}  // namespace evenkeel::sql
