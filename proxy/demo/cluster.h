// Real MySQL or MariaDB servers on this machine: started from a template, reachable on loopback only, and
// stopped and removed by whoever started them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "proxy/demo/folders.h"
#include "proxy/demo/process.h"
#include "proxy/demo/server_program.h"
#include "proxy/demo/sql_client.h"

namespace evenkeel::demo {

// Told what is going on, one line at a time.
using Progress = std::function<void(std::string_view)>;

struct ClusterOptions {
  ServerKind server = ServerKind::mariadb;
  uint32_t instances = 4;
  uint32_t tables_per_instance = 32;
  uint32_t connections = 1000;  // max_connections of each server
  std::filesystem::path cache = default_cache_folder();
  // This cluster's own folder: data directories, logs, pids. Made if absent.
  std::filesystem::path folder;
  // Leave the folder when the cluster stops. A later start in it begins with new data all the same.
  bool keep = false;
  // Schemas that the proxy's account may use, wildcards allowed; empty: all.
  std::vector<std::string> granted_schemas;
  Progress progress = [](std::string_view) {};
};

// Owns the servers; destroying stops them. Use from the thread that started it, which must outlive it.
class Cluster {
 public:
  // All servers start at the same time; returns once each answers. An earlier cluster in the same folder
  // whose owner died is stopped first; one that is alive is an error.
  static Result<std::unique_ptr<Cluster>> start(const ClusterOptions& options);
  ~Cluster();

  const ServerProgram& program() const { return program_; }
  size_t size() const { return instances_.size(); }
  uint16_t port(size_t instance) const { return instances_[instance].place.port; }
  pid_t pid(size_t instance) const { return instances_[instance].process.pid(); }
  std::filesystem::path log(size_t instance) const { return instances_[instance].log; }
  const std::filesystem::path& folder() const { return options_.folder; }
  // May do everything; for schemas, tests and counting.
  const Account& administrator() const { return administrator_; }
  // The account the proxy logs in with.
  const Account& proxy_account() const { return proxy_account_; }

  // The number of the first server that has ended by itself, or -1.
  int first_ended();
  // For tests of failures. `start_instance` keeps port and data.
  void kill_instance(size_t instance);
  void stop_instance(size_t instance);
  Status start_instance(size_t instance);

  // Stops all servers and removes the folder unless it is to be kept. Idempotent.
  void stop();

 private:
  struct Instance {
    ServerPlace place;
    std::filesystem::path log;
    std::filesystem::path pid_file;
    Process process;
  };

  Cluster(ClusterOptions options, ServerProgram program, FolderLock lock);

  Status copy_template(const std::filesystem::path& from);
  Status write_first_statements(Instance& instance);
  Status launch(Instance& instance);
  Status await(Instance& instance);

  ClusterOptions options_;
  ServerProgram program_;
  FolderLock lock_;
  SeededRandom random_;
  std::set<uint16_t> ports_;
  Account administrator_;
  Account proxy_account_;
  std::vector<Instance> instances_;
};

// Stops the servers and removes the folders of clusters under `parent` whose owners died without doing so.
// A folder that was to be kept stays. Gives the number of folders removed.
int remove_abandoned_clusters(const std::filesystem::path& parent);

// 24 random hexadecimal characters.
std::string random_password();

}  // namespace evenkeel::demo
