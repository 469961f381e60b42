#include "router/merge/tests/private_server.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <signal.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace evenkeel::merge::testing {

namespace {

namespace fs = std::filesystem;

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

pid_t spawn(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const int out = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  dup2(out, 1);
  dup2(out, 2);
  execv(argv[0], argv.data());
  _exit(127);
}

int run(const std::vector<std::string>& arguments, const std::string& log) {
  int status = -1;
  waitpid(spawn(arguments, log), &status, 0);
  return status;
}

std::string new_folder() {
  std::string folder = fs::temp_directory_path() / "evenkeel-merge-XXXXXX";
  return mkdtemp(folder.data()) == nullptr ? "" : folder;
}

std::string first_there(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (fs::exists(path)) return path;
  }
  return "";
}

std::string mysql_root() {
  if (const char* root = std::getenv("EVENKEEL_MYSQL_ROOT")) return root;
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) return std::string(cache) + "/evenkeel/mysql/root";
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "" : home) + "/.cache/evenkeel/mysql/root";
}

const std::vector<std::string> common_options = {
    "--user=root", "--skip-networking", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0",
    "--character-set-server=utf8mb4"};

std::vector<std::string> join(std::vector<std::string> head, const std::vector<std::string>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

}  // namespace

RawClient::RawClient(const std::string& socket_path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd_);
    throw std::runtime_error("cannot connect to " + socket_path);
  }
  const std::string greeting = read();
  std::string plugin = greeting.substr(0, greeting.find_last_not_of('\0') + 1);
  plugin.erase(0, plugin.rfind('\0') + 1);
  std::string reply;
  put(reply, capabilities, 4);
  put(reply, 1 << 24, 4);
  put(reply, 45, 1);
  reply += std::string(23, '\0') + "root" + std::string(2, '\0') + plugin + '\0';
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

std::unique_ptr<PrivateServer> PrivateServer::mariadb(std::string& reason) {
  const std::string server = first_there({"/usr/sbin/mariadbd"});
  const std::string installer = first_there({"/usr/bin/mariadb-install-db"});
  if (server.empty() || installer.empty()) {
    reason = "no MariaDB server here (apt-get install mariadb-server)";
    return nullptr;
  }
  std::unique_ptr<PrivateServer> made(new PrivateServer(new_folder()));
  const std::string data = "--datadir=" + made->folder_ + "/data";
  const int status = run({installer, "--no-defaults", "--user=root", data,
                          "--auth-root-authentication-method=normal", "--skip-test-db"},
                         made->folder_ + "/log");
  if (status != 0) {
    reason = "mariadb-install-db failed, see " + made->folder_ + "/log";
    return nullptr;
  }
  if (!made->start(join({server, "--no-defaults", data}, common_options), reason)) return nullptr;
  return made;
}

std::unique_ptr<PrivateServer> PrivateServer::mysql(std::string& reason) {
  const std::string root = mysql_root();
  const std::string loader = root + "/lib64/ld-linux-x86-64.so.2";
  if (!fs::exists(root + "/usr/sbin/mysqld") || !fs::exists(loader)) {
    reason = "no MySQL in " + root + " (tools/fetch-mysql.sh, or set EVENKEEL_MYSQL_ROOT)";
    return nullptr;
  }
  std::unique_ptr<PrivateServer> made(new PrivateServer(new_folder()));
  const std::vector<std::string> server =
      join({loader, "--library-path", root + "/usr/lib/x86_64-linux-gnu:" + root + "/usr/lib/mysql/private",
            root + "/usr/sbin/mysqld", "--no-defaults", "--datadir=" + made->folder_ + "/data",
            "--lc-messages-dir=" + root + "/usr/share/mysql",
            "--character-sets-dir=" + root + "/usr/share/mysql/charsets",
            "--plugin-dir=" + root + "/usr/lib/mysql/plugin", "--disable-log-bin", "--mysqlx=OFF",
            "--secure-file-priv=NULL", "--performance-schema=OFF"},
           common_options);
  if (run(join(server, {"--initialize-insecure"}), made->folder_ + "/log") != 0) {
    reason = "mysqld --initialize failed, see " + made->folder_ + "/log";
    return nullptr;
  }
  if (!made->start(server, reason)) return nullptr;
  return made;
}

bool PrivateServer::start(const std::vector<std::string>& arguments, std::string& reason) {
  pid_ = spawn(join(arguments, {"--socket=" + socket_path(), "--pid-file=" + folder_ + "/pid"}),
               folder_ + "/log");
  for (int i = 0; i < 600; ++i) {
    try {
      RawClient client(socket_path());
      return true;
    } catch (const std::exception&) {
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
      std::this_thread::sleep_for(
          std::chrono::milliseconds(50));  // a real server's start cannot be awaited otherwise
    }
  }
  reason = "the server did not start, see " + folder_ + "/log";
  return false;
}

PrivateServer::~PrivateServer() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace evenkeel::merge::testing
