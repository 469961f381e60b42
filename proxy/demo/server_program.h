// The two kinds of real servers a cluster can be made of, and how their programs are found and called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::demo {

enum class ServerKind : uint8_t { mariadb, mysql };

std::string_view to_string(ServerKind kind);
// "mariadb" and "mariadbd"; "mysql" and "mysqld".
Result<ServerKind> parse_server_kind(std::string_view text);

// An immutable value: everything to call one server program by.
struct ServerProgram {
  ServerKind kind = ServerKind::mariadb;
  std::string version;  // "10.11.19-MariaDB-0+deb12u1", "9.7.4"
  // Program and first arguments. For an unpacked tree: its own loader, library path and program.
  std::vector<std::string> command;
  // Options that every call needs (where messages, character sets and plugins lie).
  std::vector<std::string> options;
};

// MariaDB is looked up in PATH and /usr/sbin. MySQL is the tree under `<cache>/mysql/root` that
// tools/fetch-mysql.sh unpacks, else an installed mysqld. Fails with the remedy in the message.
Result<ServerProgram> find_server_program(ServerKind kind, const std::filesystem::path& cache);

// A fresh data directory without accounts' passwords, made once for each version and kept in the cache.
// Waits for another process that is making it. Takes one to a few seconds the first time.
Result<std::filesystem::path> template_folder(const ServerProgram& program,
                                              const std::filesystem::path& cache);

// Facts of one server to start.
struct ServerPlace {
  std::filesystem::path folder;  // its data directory
  uint16_t port = 0;
  uint32_t number = 1;  // server_id
  // Statements to run before the first client is let in; empty on a restart.
  std::filesystem::path first_statements;
  uint32_t tables = 32;  // tables it will hold: sizes its table cache
  uint32_t connections = 1000;
  // The data will be thrown away: a shutdown need not write it out.
  bool throwaway = true;
};

// The whole command line: loopback only, no network name look-ups, small caches, and no flush to disk at
// commit: a demo cluster may lose its last second when the machine crashes.
// Its own: a server that starts removes what others left in a shared one. Must exist before the start.
std::filesystem::path temporary_folder(const ServerPlace& place);

std::vector<std::string> server_command(const ServerProgram& program, const ServerPlace& place);

}  // namespace evenkeel::demo
