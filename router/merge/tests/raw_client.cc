#include "router/merge/tests/raw_client.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace evenkeel::merge::testing {

namespace {

// PROTOCOL_41, LONG_PASSWORD, LONG_FLAG, TRANSACTIONS, SECURE_CONNECTION, MULTI_RESULTS, PLUGIN_AUTH
constexpr uint32_t capabilities = 0x00000200 | 0x1 | 0x4 | 0x2000 | 0x8000 | 0x20000 | 0x80000;

uint64_t little_endian(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes.at(at + i));
  return value;
}

void put(std::string& bytes, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t read_length(std::string_view bytes, size_t& at) {
  const auto first = static_cast<uint8_t>(bytes.at(at++));
  if (first < 0xfb) return first;
  const size_t size = first == 0xfc ? 2 : first == 0xfd ? 3 : 8;
  at += size;
  return little_endian(bytes, at - size, size);
}

ColumnFacts read_column(std::string_view bytes) {
  size_t at = 0;
  for (int i = 0; i < 6; ++i) {
    const uint64_t size = read_length(bytes, at);
    at += size;
  }
  read_length(bytes, at);
  ColumnFacts column;
  column.collation = static_cast<uint16_t>(little_endian(bytes, at, 2));
  column.type = static_cast<mysql::ColumnType>(bytes.at(at + 6));
  column.is_unsigned = (little_endian(bytes, at + 7, 2) & mysql::column_flag::unsigned_) != 0;
  column.decimals = static_cast<uint8_t>(bytes.at(at + 9));
  return column;
}

}  // namespace

RawClient::RawClient(uint16_t port, const std::string& user)
    : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd_);
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }
  // A statement's close has no answer: without this the next command would wait for the close's ACK.
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const std::string greeting = read();
  std::string plugin = greeting.substr(0, greeting.find_last_not_of('\0') + 1);
  plugin.erase(0, plugin.rfind('\0') + 1);
  std::string reply;
  put(reply, capabilities, 4);
  put(reply, 1 << 24, 4);
  put(reply, 45, 1);
  reply += std::string(23, '\0') + user + std::string(2, '\0') + plugin + '\0';
  write(reply);
  std::string answer = read();
  if (answer.at(0) == '\xfe') {  // another plugin: the answer for an empty password is empty in all of them
    write("");
    answer = read();
  }
  while (answer.at(0) == '\x01') answer = read();
}

RawClient::~RawClient() { close(fd_); }

std::string RawClient::read() {
  const auto exactly = [this](size_t size) {
    std::string bytes(size, '\0');
    for (size_t at = 0; at < size;) {
      const ssize_t got = ::read(fd_, bytes.data() + at, size - at);
      if (got <= 0) throw std::runtime_error("the server closed the connection");
      at += static_cast<size_t>(got);
    }
    return bytes;
  };
  const std::string head = exactly(4);
  sequence_ = static_cast<uint8_t>(head[3] + 1);
  std::string payload = exactly(little_endian(head, 0, 3));
  if (!payload.empty() && payload[0] == '\xff') throw std::runtime_error(payload.substr(9));
  return payload;
}

void RawClient::write(std::string_view payload) {
  std::string frame;
  put(frame, payload.size(), 3);
  put(frame, sequence_, 1);
  frame += payload;
  for (size_t at = 0; at < frame.size();) {
    const ssize_t put_now = ::write(fd_, frame.data() + at, frame.size() - at);
    if (put_now <= 0) throw std::runtime_error("the server closed the connection");
    at += static_cast<size_t>(put_now);
  }
}

std::string RawClient::command(char code, std::string_view payload) {
  sequence_ = 0;
  write(std::string(1, code) + std::string(payload));
  return read();
}

Answer RawClient::read_answer(const std::string& head) {
  Answer answer;
  if (head.at(0) == '\0') return answer;
  size_t at = 0;
  const uint64_t count = read_length(head, at);
  for (uint64_t i = 0; i < count; ++i) answer.columns.push_back(read_column(read()));
  read();
  for (std::string row = read(); row.empty() || row[0] != '\xfe' || row.size() >= 9; row = read()) {
    answer.rows.push_back(std::move(row));
  }
  return answer;
}

Answer RawClient::query(const std::string& sql, RowFormat format) {
  if (format == RowFormat::text) return read_answer(command('\x03', sql));
  const std::string prepared = command('\x16', sql);
  const std::string statement = prepared.substr(1, 4);
  const uint64_t columns = little_endian(prepared, 5, 2), parameters = little_endian(prepared, 7, 2);
  for (const uint64_t definitions : {parameters, columns}) {
    for (uint64_t i = 0; i < definitions; ++i) read();
    if (definitions > 0) read();
  }
  Answer answer = read_answer(command('\x17', statement + std::string("\0\1\0\0\0", 5)));
  sequence_ = 0;
  write("\x19" + statement);
  return answer;
}

}  // namespace evenkeel::merge::testing
