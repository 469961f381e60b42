// A MariaDB or MySQL server of the test's own, and a raw client that shows rows as they stand on the wire.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "router/merge/row.h"

namespace evenkeel::merge::testing {

struct Answer {
  std::vector<ColumnFacts> columns;
  std::vector<std::string> rows;  // payloads
};

// One connection over a Unix socket, root without password. Throws std::runtime_error with the server's
// words.
class RawClient {
 public:
  explicit RawClient(const std::string& socket_path);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // By COM_QUERY or by COM_STMT_PREPARE and COM_STMT_EXECUTE.
  Answer query(const std::string& sql, RowFormat format = RowFormat::text);

 private:
  std::string read();
  void write(std::string_view payload);
  std::string command(char code, std::string_view payload);
  Answer read_answer(const std::string& head);

  int fd_ = -1;
  uint8_t sequence_ = 0;
};

// Started with its data in a new folder below /tmp, without a network port; stopped and removed at the end.
class PrivateServer {
 public:
  // Null and a reason when the server is not on this machine.
  static std::unique_ptr<PrivateServer> mariadb(std::string& reason);
  // Looks in $EVENKEEL_MYSQL_ROOT and where tools/fetch-mysql.sh puts it.
  static std::unique_ptr<PrivateServer> mysql(std::string& reason);
  ~PrivateServer();

  std::string socket_path() const { return folder_ + "/s"; }

 private:
  explicit PrivateServer(std::string folder) : folder_(std::move(folder)) {}
  bool start(const std::vector<std::string>& arguments, std::string& reason);

  std::string folder_;
  pid_t pid_ = -1;
};

}  // namespace evenkeel::merge::testing
