// A raw client that shows rows as they stand on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "router/merge/row.h"

namespace evenkeel::merge::testing {

struct Answer {
  std::vector<ColumnFacts> columns;
  std::vector<std::string> rows;  // payloads
};

// One connection to a server on loopback, of an account without password. Throws std::runtime_error with the
// server's words.
class RawClient {
 public:
  RawClient(uint16_t port, const std::string& user);
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

}  // namespace evenkeel::merge::testing
