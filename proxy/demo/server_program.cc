#include "proxy/demo/server_program.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fstream>
#include <sys/types.h>
#include <unistd.h>

#include "proxy/demo/folders.h"
#include "proxy/demo/io_error.h"
#include "proxy/demo/process.h"

namespace evenkeel::demo {
namespace fs = std::filesystem;
namespace {

constexpr uint32_t tables_in_files_max = 256;

// Servers started by root must be told that this is meant.
void add_user_option(std::vector<std::string>& command) {
  if (getuid() == 0) command.push_back("--user=root");
}

std::string find_in_path(std::string_view name) {
  const char* variable = std::getenv("PATH");
  std::string path = variable == nullptr ? "" : variable;
  path += ":/usr/sbin:/usr/local/sbin:/usr/bin";
  for (size_t start = 0; start < path.size();) {
    size_t end = path.find(':', start);
    if (end == std::string::npos) end = path.size();
    const fs::path candidate = fs::path(path.substr(start, end - start)) / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    start = end + 1;
  }
  return "";
}

// "…/mysqld  Ver 9.7.4-1 for Linux on x86_64 ((Debian))" → "9.7.4-1".
Result<std::string> version_of(const std::vector<std::string>& command, const fs::path& cache) {
  EVENKEEL_TRY(make_private_folder(cache));
  const fs::path log = cache / fmt::format("version-{}.log", getpid());
  std::vector<std::string> ask = command;
  ask.push_back("--no-defaults");
  ask.push_back("--version");
  const Status ran = run_to_end({.command = ask, .log = log, .working_directory = {}, .environment = {}});
  const std::string answer = last_lines(log, 5);
  std::error_code ignored;
  fs::remove(log, ignored);
  EVENKEEL_TRY(ran);
  const size_t start = answer.find("Ver ");
  if (start == std::string::npos) {
    return fail(config_error(fmt::format("{} does not tell its version: {}", command[0], answer)));
  }
  const size_t end = answer.find(' ', start + 4);
  return answer.substr(start + 4, end - start - 4);
}

Result<ServerProgram> unpacked_mysql(const fs::path& root, const fs::path& cache) {
  const fs::path libraries = root / "usr/lib";
  ServerProgram program;
  program.kind = ServerKind::mysql;
  program.command = {(root / "lib64/ld-linux-x86-64.so.2").string(), "--library-path",
                     fmt::format("{0}/x86_64-linux-gnu:{0}/mysql/private", libraries.string()),
                     (root / "usr/sbin/mysqld").string()};
  program.options = {fmt::format("--lc-messages-dir={}", (root / "usr/share/mysql").string()),
                     fmt::format("--character-sets-dir={}", (root / "usr/share/mysql/charsets").string()),
                     fmt::format("--plugin-dir={}", (libraries / "mysql/plugin").string())};
  EVENKEEL_ASSIGN(program.version, version_of(program.command, cache));
  return program;
}

Status fill_template(const ServerProgram& program, const fs::path& folder, const fs::path& log) {
  std::vector<std::string> command;
  if (program.kind == ServerKind::mariadb) {
    command = {"mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal",
               "--skip-test-db", "--innodb-log-file-size=16M"};
    add_user_option(command);
    command.push_back(fmt::format("--datadir={}", folder.string()));
  } else {
    command = program.command;
    command.push_back("--no-defaults");
    command.insert(command.end(), program.options.begin(), program.options.end());
    add_user_option(command);
    command.insert(command.end(), {"--initialize-insecure", "--innodb-redo-log-capacity=16M", "--mysqlx=OFF",
                                   "--secure-file-priv=NULL", fmt::format("--datadir={}", folder.string())});
  }
  return run_to_end({.command = command, .log = log, .working_directory = {}, .environment = {}});
}

}  // namespace

std::string_view to_string(ServerKind kind) { return kind == ServerKind::mariadb ? "MariaDB" : "MySQL"; }

Result<ServerKind> parse_server_kind(std::string_view text) {
  if (text == "mariadb" || text == "mariadbd") return ServerKind::mariadb;
  if (text == "mysql" || text == "mysqld") return ServerKind::mysql;
  return fail(config_error(fmt::format("server '{}': allowed are mariadbd and mysqld", text)));
}

Result<ServerProgram> find_server_program(ServerKind kind, const fs::path& cache) {
  if (kind == ServerKind::mariadb) {
    const std::string path = find_in_path("mariadbd");
    if (path.empty()) {
      return fail(config_error("mariadbd is not installed: apt-get install mariadb-server-core"));
    }
    ServerProgram program{ServerKind::mariadb, "", {path}, {}};
    EVENKEEL_ASSIGN(program.version, version_of(program.command, cache));
    return program;
  }
  const fs::path root = cache / "mysql" / "root";
  if (fs::exists(root / "usr/sbin/mysqld")) return unpacked_mysql(root, cache);
  const std::string path = find_in_path("mysqld");
  if (!path.empty()) {
    ServerProgram program{ServerKind::mysql, "", {path}, {}};
    EVENKEEL_ASSIGN(program.version, version_of(program.command, cache));
    // On Debian the name mysqld leads to MariaDB.
    if (program.version.find("MariaDB") == std::string::npos) return program;
  }
  return fail(config_error(
      "no MySQL server is at hand: run tools/fetch-mysql.sh, which unpacks one from Debian's packages into " +
      root.string()));
}

Result<fs::path> template_folder(const ServerProgram& program, const fs::path& cache) {
  EVENKEEL_TRY(make_private_folder(cache));
  std::string name = fmt::format("template-{}-{}", to_string(program.kind), program.version);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-'; },
      '_');
  const fs::path finished = cache / name;
  EVENKEEL_ASSIGN(const FolderLock lock, FolderLock::wait_for(cache / (name + ".lock")));
  if (fs::exists(finished)) return finished;

  const fs::path unfinished = cache / (name + ".unfinished");
  const fs::path log = cache / (name + ".log");
  std::error_code cause;
  fs::remove_all(unfinished, cause);
  fs::remove(log, cause);
  EVENKEEL_TRY(make_private_folder(unfinished));
  EVENKEEL_TRY(fill_template(program, unfinished, log));
  // Every server makes its own identity.
  fs::remove(unfinished / "auto.cnf", cause);
  fs::rename(unfinished, finished, cause);
  if (cause) return fail(io_error("rename", unfinished, cause));
  return finished;
}

std::filesystem::path temporary_folder(const ServerPlace& place) { return place.folder.string() + ".tmp"; }

std::vector<std::string> server_command(const ServerProgram& program, const ServerPlace& place) {
  const uint32_t open_tables = std::max<uint32_t>(2000, place.tables * 2);
  std::vector<std::string> command = program.command;
  command.push_back("--no-defaults");
  command.insert(command.end(), program.options.begin(), program.options.end());
  add_user_option(command);
  command.insert(command.end(),
                 {
                     fmt::format("--datadir={}", place.folder.string()),
                     fmt::format("--tmpdir={}", temporary_folder(place).string()),
                     fmt::format("--port={}", place.port),
                     fmt::format("--server-id={}", place.number),
                     fmt::format("--max-connections={}", place.connections),
                     fmt::format("--table-open-cache={}", open_tables),
                     fmt::format("--open-files-limit={}", open_tables * 2 + place.connections * 5),
                     // Relative to the data directory: a socket's path may not exceed 107 bytes.
                     "--socket=server.sock",
                     "--pid-file=server.pid",
                     "--bind-address=127.0.0.1",
                     "--skip-name-resolve",
                     "--back-log=1000",
                     "--character-set-server=utf8mb4",
                     "--max-allowed-packet=128M",
                     "--performance-schema=OFF",
                     "--key-buffer-size=1M",
                     "--innodb-buffer-pool-size=64M",
                     "--innodb-buffer-pool-load-at-startup=OFF",
                     "--innodb-buffer-pool-dump-at-shutdown=OFF",
                     "--innodb-flush-log-at-trx-commit=2",
                     "--innodb-doublewrite=OFF",
                     "--sync-binlog=0",
                 });
  // A file for each table costs more than the table itself when there are thousands to make and to remove.
  if (place.tables > tables_in_files_max) command.push_back("--innodb-file-per-table=OFF");
  if (place.throwaway) command.push_back("--innodb-fast-shutdown=2");
  if (program.kind == ServerKind::mariadb) {
    command.insert(command.end(), {"--skip-log-bin", "--skip-sync-frm", "--innodb-log-file-size=16M",
                                   "--innodb-flush-method=nosync", "--aria-pagecache-buffer-size=4M"});
  } else {
    command.insert(command.end(), {"--disable-log-bin", "--innodb-redo-log-capacity=16M", "--mysqlx=OFF",
                                   "--secure-file-priv=NULL", "--innodb-flush-method=fsync"});
  }
  if (!place.first_statements.empty()) {
    command.push_back(fmt::format("--init-file={}", place.first_statements.string()));
  }
  return command;
}

}  // namespace evenkeel::demo
