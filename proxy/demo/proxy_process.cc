#include "proxy/demo/proxy_process.h"

#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "base/random.h"
#include "proxy/demo/folders.h"
#include "proxy/demo/network.h"

namespace evenkeel::demo {
namespace {

constexpr uint32_t slots_of_short_sequence = 1024;  // a 12-bit sequence has 4 values for each of so many
constexpr auto start_patience = std::chrono::seconds(30);
constexpr int port_attempts = 5;

// A double-quoted YAML scalar.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// "orders_000" -> "orders_{:03}": the pattern of which `first` is number 0.
std::string pattern_of(const std::string& name, const std::string& first) {
  return fmt::format("{}_{{:0{}}}", name, first.size() - name.size() - 1);
}

}  // namespace

std::string proxy_configuration(std::span<const uint16_t> instance_ports, const std::string& backend_user,
                                const ShardedTable& table, const ProxyPorts& ports,
                                const std::filesystem::path& state_folder) {
  const Layout& layout = table.layout;
  std::string text;
  text += "# Written by evenkeel demo; docs and README.md explain every key.\n";
  text += fmt::format("state_directory: {}\n", quoted(state_folder.string()));
  text += fmt::format("listeners:\n  - address: \"127.0.0.1:{}\"\n", ports.clients);
  text += "instances:\n";
  for (size_t i = 0; i < instance_ports.size(); ++i) {
    text += fmt::format("  - name: instance{}\n    address: \"127.0.0.1:{}\"\n", i + 1, instance_ports[i]);
  }
  text += fmt::format(
      "users:\n  - name: app\n    password: ${{APP_PASSWORD}}\n    backend:\n      user: {}\n"
      "      password: ${{INSTANCE_PASSWORD}}\n",
      backend_user);
  text += fmt::format(
      "admin:\n  listeners: [{{address: \"127.0.0.1:{}\"}}]\n"
      "  http: {{listeners: [{{address: \"127.0.0.1:{}\", tls: {{mode: \"off\"}}}}]}}\n"
      "  users: [{{name: operator, password: \"${{OPERATOR_PASSWORD}}\", rights: operate}}]\n",
      ports.admin, ports.dashboard);
  text += fmt::format("generators:\n  - name: ids\n    layout: {}\nworker:\n  id: lease\n",
                      layout.slots() <= slots_of_short_sequence ? "classic" : "wide");
  text += fmt::format(
      "schemas:\n  - name: {}\n    default_instance: instance1\n    tables:\n      - name: {}\n        key: "
      "id\n"
      "        algorithm: mod\n        topology:\n          databases: {}\n          tables: {}\n"
      "          database_pattern: {}\n          table_pattern: {}\n"
      "        generated_key:\n          generator: ids\n",
      table.schema, table.name, layout.databases_in_all(), layout.slots(),
      quoted(pattern_of(table.schema, layout.database_name(table.schema, 0))),
      quoted(pattern_of(table.name, layout.table_name(table.name, 0))));
  if (table.steered) {
    text += fmt::format(
        "steering:\n  reweight: 1s\n  exact_per_second: 1000\n  tables:\n    - table: {}.{}\n      mode: "
        "auto\n"
        "      upper: 1.2\n      lower: 1.01\n",
        table.schema, table.name);
  }
  return text;
}

std::string proxy_configuration(const Cluster& cluster, const ShardedTable& table, const ProxyPorts& ports,
                                const std::filesystem::path& state_folder) {
  std::vector<uint16_t> instances;
  for (size_t i = 0; i < cluster.size(); ++i) instances.push_back(cluster.port(i));
  return proxy_configuration(instances, cluster.proxy_account().user, table, ports, state_folder);
}

Result<ProxyProcess> ProxyProcess::start(const std::filesystem::path& program, const Cluster& cluster,
                                         const ShardedTable& table) {
  ProxyProcess proxy;
  proxy.account_ = {"app", random_password()};
  proxy.operator_ = {"operator", random_password()};
  proxy.configuration_ = cluster.folder() / "evenkeel.yaml";
  proxy.log_ = cluster.folder() / "proxy.log";
  SeededRandom random(system_seed());
  std::set<uint16_t> taken;
  for (size_t i = 0; i < cluster.size(); ++i) taken.insert(cluster.port(i));
  for (int attempt = 1;; ++attempt) {
    for (uint16_t* port : {&proxy.ports_.clients, &proxy.ports_.admin, &proxy.ports_.dashboard}) {
      EVENKEEL_ASSIGN(*port, find_free_port(random, taken));
      taken.insert(*port);
    }
    EVENKEEL_TRY(write_private_file(
        proxy.configuration_,
        proxy_configuration(cluster, table, proxy.ports_, cluster.folder() / "proxy-state")));
    EVENKEEL_ASSIGN(
        proxy.process_,
        Process::start({.command = {program.string(), "serve", proxy.configuration_.string()},
                        .log = proxy.log_,
                        .working_directory = cluster.folder(),
                        .environment = {"APP_PASSWORD=" + proxy.account_.password,
                                        "OPERATOR_PASSWORD=" + proxy.operator_.password,
                                        "INSTANCE_PASSWORD=" + cluster.proxy_account().password}}));
    const auto deadline = std::chrono::steady_clock::now() + start_patience;
    const auto starting = [&] { return proxy.running(); };
    // The dashboard is there when the admin port is.
    if (wait_for_greeting(proxy.ports_.clients, deadline, starting) &&
        wait_for_greeting(proxy.ports_.admin, deadline, starting))
      return proxy;
    const std::string words = last_lines(proxy.log_, 12);
    if (attempt == port_attempts || words.find("Address already in use") == std::string::npos) {
      return fail(
          make_error(ErrorKind::io, mysql::er::unknown_error,
                     fmt::format("the proxy {}; the last lines of its log:\n{}",
                                 proxy.running() ? "does not answer" : "ended while starting", words)));
    }
  }
}

}  // namespace evenkeel::demo
