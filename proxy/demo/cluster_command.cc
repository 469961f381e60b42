#include "proxy/demo/cluster_command.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sstream>
#include <unistd.h>

#include "proxy/demo/cluster.h"
#include "proxy/demo/schema.h"
#include "proxy/demo/stop_signal.h"

namespace evenkeel::demo {
namespace {

using nlohmann::json;

void print(const json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

json describe(const Cluster& cluster) {
  const auto account = [](const Account& who) {
    return json{{"user", who.user}, {"password", who.password}};
  };
  json instances = json::array();
  for (size_t i = 0; i < cluster.size(); ++i) {
    instances.push_back({{"number", i + 1},
                         {"port", cluster.port(i)},
                         {"pid", cluster.pid(i)},
                         {"log", cluster.log(i).string()}});
  }
  return {{"server", to_string(cluster.program().kind)},
          {"version", cluster.program().version},
          {"folder", cluster.folder().string()},
          {"administrator", account(cluster.administrator())},
          {"proxy_account", account(cluster.proxy_account())},
          {"instances", instances}};
}

json obey(Cluster& cluster, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  size_t number = 0;
  words >> verb >> number;
  if (number < 1 || number > cluster.size()) return {{"ok", false}, {"reason", "no such instance: " + line}};
  if (verb == "kill") {
    cluster.kill_instance(number - 1);
  } else if (verb == "stop") {
    cluster.stop_instance(number - 1);
  } else if (verb == "start") {
    const Status started = cluster.start_instance(number - 1);
    if (!started) return {{"ok", false}, {"reason", started.error().message}};
    return {{"ok", true}, {"pid", cluster.pid(number - 1)}};
  } else {
    return {{"ok", false}, {"reason", "no such command: " + line}};
  }
  return {{"ok", true}};
}

// Until standard input closes or a signal comes.
void serve_commands(Cluster& cluster, StopSignal& stop) {
  std::string pending;
  while (true) {
    pollfd entries[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                        {.fd = stop.descriptor(), .events = POLLIN, .revents = 0}};
    if (poll(entries, 2, -1) < 0) continue;
    if (stop.came()) return;
    char buffer[512];
    const ssize_t count = read(STDIN_FILENO, buffer, sizeof buffer);
    if (count <= 0) return;
    pending.append(buffer, static_cast<size_t>(count));
    for (size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      print(obey(cluster, pending.substr(0, end)));
    }
  }
}

}  // namespace

Status run_cluster_command(const ClusterCommandOptions& options) {
  StopSignal stop;
  ClusterOptions cluster_options;
  cluster_options.server = options.server;
  cluster_options.instances = options.layout ? options.layout->instances : options.instances;
  if (options.layout) cluster_options.tables_per_instance = options.layout->slots_per_instance();
  cluster_options.connections = options.connections;
  cluster_options.cache = options.cache;
  cluster_options.folder = options.folder;
  EVENKEEL_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::start(cluster_options));
  if (options.layout) {
    ShardedTable table;
    table.layout = *options.layout;
    EVENKEEL_TRY(create_tables(*cluster, table, [](uint32_t, uint32_t) {}));
  }
  print(describe(*cluster));
  serve_commands(*cluster, stop);
  cluster->stop();
  return {};
}

}  // namespace evenkeel::demo
