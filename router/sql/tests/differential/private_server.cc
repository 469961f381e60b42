#include "router/sql/tests/differential/private_server.h"

#include <chrono>
#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace evenkeel::sql {
namespace {

namespace fs = std::filesystem;

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string folders = std::string(path == nullptr ? "" : path) + ":/usr/sbin:/usr/bin";
  for (size_t from = 0; from < folders.size();) {
    const size_t colon = std::min(folders.find(':', from), folders.size());
    const fs::path candidate = fs::path(folders.substr(from, colon - from)) / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    from = colon + 1;
  }
  return {};
}

// Its output goes to `log`.
pid_t start(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

PrivateServer::PrivateServer() {
  const std::string install = find_program("mariadb-install-db");
  const std::string server = find_program("mariadbd");
  if (install.empty() || server.empty()) {
    installed_ = false;
    absent_ = "mariadbd or mariadb-install-db is not installed (apt-get install mariadb-server-core)";
    return;
  }
  std::string name = (fs::temp_directory_path() / "evenkeel-sql-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    absent_ = "no temporary folder";
    return;
  }
  folder_ = name;
  const std::string log = folder_ + "/log";
  const std::string user = geteuid() == 0 ? "--user=root" : "--user=" + std::to_string(geteuid());
  const std::string files = "--datadir=" + folder_ + "/files";
  int status = 0;
  waitpid(start({install, "--no-defaults", files, user, "--auth-root-authentication-method=normal",
                 "--skip-test-db"},
                log),
          &status, 0);
  if (status != 0) {
    absent_ = "mariadb-install-db failed, see " + log;
    return;
  }
  pid_ = start({server, "--no-defaults", files, user, "--socket=" + folder_ + "/s", "--skip-networking",
                "--skip-log-bin", "--innodb-buffer-pool-size=16M", "--pid-file=" + folder_ + "/pid"},
               log);
  // The server tells nobody that it is ready: asked until it answers, up to a minute.
  constexpr int attempts = 600;
  for (int i = 0; i < attempts && !connect(); ++i) {
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = 0;
      absent_ = "mariadbd ended, see " + log;
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (connection_ == nullptr) absent_ = "mariadbd did not answer within a minute, see " + log;
}

bool PrivateServer::connect() {
  try {
    connection_.reset(get_driver_instance()->connect("unix://" + folder_ + "/s", "root", ""));
    return true;
  } catch (const ::sql::SQLException&) {
    return false;
  }
}

PrivateServer::~PrivateServer() {
  connection_.reset();
  if (pid_ != 0) {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  if (!folder_.empty() && absent_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace evenkeel::sql
