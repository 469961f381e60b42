#include "proxy/demo/cluster.h"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <signal.h>
#include <thread>
#include <unistd.h>

#include "base/mysql/error_codes.h"
#include "proxy/demo/io_error.h"
#include "proxy/demo/network.h"
#include "proxy/demo/pid_record.h"

namespace evenkeel::demo {
namespace fs = std::filesystem;
namespace {

constexpr auto start_patience = std::chrono::seconds(90);
constexpr auto stop_patience = std::chrono::seconds(30);
constexpr int port_attempts = 5;
constexpr std::string_view mark_name = "evenkeel-cluster";
constexpr std::string_view keep_name = "keep";

bool port_was_taken(const fs::path& log) {
  const std::string words = last_lines(log, 40);
  return words.find("Address already in use") != std::string::npos ||
         words.find("another mysqld server running on port") != std::string::npos ||
         words.find("another server running on port") != std::string::npos;
}

void stop_recorded_servers(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".pid") stop_recorded(entry.path(), stop_patience);
  }
}

}  // namespace

std::string random_password() {
  std::array<std::byte, 12> bytes;
  fill_secure(bytes);
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

Cluster::Cluster(ClusterOptions options, ServerProgram program, FolderLock lock)
    : options_(std::move(options)),
      program_(std::move(program)),
      lock_(std::move(lock)),
      random_(system_seed()),
      administrator_{"root", random_password()},
      proxy_account_{"evenkeel", random_password()} {}

Cluster::~Cluster() { stop(); }

Result<std::unique_ptr<Cluster>> Cluster::start(const ClusterOptions& options) {
  EVENKEEL_TRY(make_private_folder(options.folder));
  EVENKEEL_ASSIGN(std::optional<FolderLock> lock, FolderLock::try_take(options.folder / "lock"));
  if (!lock) {
    return fail(config_error(
        fmt::format("a cluster is already running in {}: end it with Ctrl-C there, or name another folder",
                    options.folder.string())));
  }
  EVENKEEL_TRY(write_private_file(options.folder / mark_name, "Made and removed by evenkeel.\n"));
  if (options.keep) EVENKEEL_TRY(write_private_file(options.folder / keep_name, ""));
  stop_recorded_servers(options.folder);

  EVENKEEL_ASSIGN(ServerProgram program, find_server_program(options.server, options.cache));
  options.progress(fmt::format("starting {} {} servers, version {}", options.instances,
                               to_string(options.server), program.version));
  EVENKEEL_ASSIGN(const fs::path source, template_folder(program, options.cache));

  std::unique_ptr<Cluster> cluster(new Cluster(options, std::move(program), std::move(*lock)));
  EVENKEEL_TRY(cluster->copy_template(source));
  for (Instance& instance : cluster->instances_) EVENKEEL_TRY(cluster->launch(instance));
  for (Instance& instance : cluster->instances_) {
    EVENKEEL_TRY(cluster->await(instance));
    std::error_code ignored;
    fs::remove(instance.place.first_statements, ignored);
    instance.place.first_statements.clear();
  }
  return cluster;
}

Status Cluster::copy_template(const fs::path& from) {
  for (uint32_t number = 1; number <= options_.instances; ++number) {
    Instance& instance = instances_.emplace_back();
    const std::string name = fmt::format("instance-{}", number);
    instance.log = options_.folder / (name + ".log");
    instance.pid_file = options_.folder / (name + ".pid");
    instance.place = {.folder = options_.folder / name,
                      .port = 0,
                      .number = number,
                      .first_statements = options_.folder / (name + ".sql"),
                      .tables = options_.tables_per_instance,
                      .connections = options_.connections,
                      .throwaway = !options_.keep};
    std::error_code cause;
    fs::remove_all(instance.place.folder, cause);
    fs::remove(instance.log, cause);
    fs::copy(from, instance.place.folder, fs::copy_options::recursive, cause);
    if (cause) return fail(io_error("copy the template to", instance.place.folder, cause));
    EVENKEEL_TRY(write_first_statements(instance));
  }
  return {};
}

// Accounts exist before the first client is let in: there is no moment without a password.
Status Cluster::write_first_statements(Instance& instance) {
  std::string text;
  const auto account = [&](const Account& who, std::string_view host) {
    return fmt::format("'{}'@'{}' IDENTIFIED BY '{}'", who.user, host, who.password);
  };
  text += fmt::format("ALTER USER {};\n", account(administrator_, "localhost"));
  text += fmt::format("CREATE USER IF NOT EXISTS {};\n", account(administrator_, "127.0.0.1"));
  text += fmt::format("ALTER USER {};\n", account(administrator_, "127.0.0.1"));
  text += fmt::format("GRANT ALL ON *.* TO '{}'@'127.0.0.1' WITH GRANT OPTION;\n", administrator_.user);
  text += fmt::format("CREATE USER {};\n", account(proxy_account_, "127.0.0.1"));
  if (options_.granted_schemas.empty()) {
    text += fmt::format("GRANT ALL ON *.* TO '{}'@'127.0.0.1';\n", proxy_account_.user);
  }
  for (const std::string& schema : options_.granted_schemas) {
    text += fmt::format("GRANT ALL ON `{}`.* TO '{}'@'127.0.0.1';\n", schema, proxy_account_.user);
  }
  return write_private_file(instance.place.first_statements, text);
}

Status Cluster::launch(Instance& instance) {
  if (instance.place.port == 0) {
    EVENKEEL_ASSIGN(instance.place.port, find_free_port(random_, ports_));
  }
  std::error_code cause;
  std::filesystem::create_directories(temporary_folder(instance.place), cause);
  if (cause) return fail(io_error("create", temporary_folder(instance.place), cause));
  EVENKEEL_ASSIGN(instance.process, Process::start({.command = server_command(program_, instance.place),
                                                    .log = instance.log,
                                                    .working_directory = instance.place.folder,
                                                    .environment = {}}));
  return record_pid(instance.pid_file, instance.process.pid());
}

Status Cluster::await(Instance& instance) {
  const auto deadline = std::chrono::steady_clock::now() + start_patience;
  for (int attempt = 1;; ++attempt) {
    if (wait_for_greeting(instance.place.port, deadline, [&] { return instance.process.running(); }))
      return {};
    const bool ended = !instance.process.running();
    if (!ended || attempt == port_attempts || !port_was_taken(instance.log)) {
      return fail(make_error(
          ErrorKind::backend, mysql::er::unknown_error,
          fmt::format("server {} {}; the last lines of its log:\n{}", instance.place.number,
                      ended ? "ended while starting" : "does not answer", last_lines(instance.log, 12))));
    }
    std::error_code ignored;
    fs::remove(instance.log, ignored);
    instance.place.port = 0;
    EVENKEEL_TRY(launch(instance));
  }
}

int Cluster::first_ended() {
  for (size_t i = 0; i < instances_.size(); ++i) {
    if (!instances_[i].process.running()) return static_cast<int>(i);
  }
  return -1;
}

void Cluster::kill_instance(size_t instance) { instances_[instance].process.kill(); }
void Cluster::stop_instance(size_t instance) { instances_[instance].process.stop(stop_patience); }

Status Cluster::start_instance(size_t instance) {
  if (instances_[instance].process.running()) return {};
  EVENKEEL_TRY(launch(instances_[instance]));
  return await(instances_[instance]);
}

void Cluster::stop() {
  for (Instance& instance : instances_) instance.process.ask_to_stop();
  std::error_code ignored;
  for (Instance& instance : instances_) {
    instance.process.stop(stop_patience);
    fs::remove(instance.pid_file, ignored);
  }
  if (instances_.empty()) return;
  instances_.clear();
  if (!options_.keep) fs::remove_all(options_.folder, ignored);
}

int remove_abandoned_clusters(const fs::path& parent) {
  int removed = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    const fs::path folder = entry.path();
    if (!fs::exists(folder / mark_name, ignored) || fs::exists(folder / keep_name, ignored)) continue;
    const auto lock = FolderLock::try_take(folder / "lock");
    if (!lock || !*lock) continue;
    stop_recorded_servers(folder);
    fs::remove_all(folder, ignored);
    ++removed;
  }
  return removed;
}

}  // namespace evenkeel::demo
