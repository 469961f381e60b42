#include "idgen/registry/tests/real_server.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <thread>
#include <unistd.h>

#include "base/random.h"
#include "idgen/registry/holder.h"
#include "idgen/registry/open_registry.h"
#include "idgen/registry/tests/scratch_directory.h"
#include "proxy/demo/network.h"
#include "proxy/demo/process.h"
#include "proxy/demo/sql_client.h"
#include "tests/support/one_server.h"

namespace evenkeel::idgen {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto start_patience = 60s;

uint16_t free_port() {
  static SeededRandom random(system_seed());
  static std::set<uint16_t> taken;
  return demo::find_free_port(random, taken).value();
}

std::string program(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/"})
    if (fs::exists(folder + name)) return folder + name;
  return "";
}

// Sent to a process of many threads, SIGSTOP stops them one after the other: one that still runs may answer
// the next call. Returns when the whole process stands.
void stop_and_see(pid_t pid) {
  ::kill(pid, SIGSTOP);
  const auto runs = [](const fs::path& thread) {
    std::ifstream file(thread / "stat");
    const std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const size_t name_end = stat.rfind(") ");
    return name_end != std::string::npos && stat[name_end + 2] != 'T';
  };
  const auto any_runs = [&] {
    std::error_code gone;
    for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", pid), gone))
      if (runs(thread.path())) return true;
    return false;
  };
  const auto deadline = std::chrono::steady_clock::now() + start_patience;
  while (any_runs() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
}

class SqlServer final : public RealServer {
 public:
  static Result<std::unique_ptr<RealServer>> start(demo::ServerKind kind) {
    auto server = std::make_unique<SqlServer>();
    EVENKEEL_ASSIGN(server->cluster_, testing_support::start_one_server(kind));
    EVENKEEL_ASSIGN(auto client, demo::SqlClient::connect(server->cluster_->port(0),
                                                          server->cluster_->administrator(), ""));
    EVENKEEL_ASSIGN([[maybe_unused]] const auto made, client.execute("CREATE DATABASE evenkeel"));
    return server;
  }

  RegistrySettings settings() const override {
    RegistrySettings settings;
    settings.provider = RegistryProvider::mysql;
    settings.endpoints = {{"127.0.0.1", cluster_->port(0)}};
    settings.user = cluster_->administrator().user;
    settings.password = cluster_->administrator().password;
    settings.timeout_ms = 2'000;
    return settings;
  }
  void pause() override { stop_and_see(cluster_->pid(0)); }
  void go_on() override { ::kill(cluster_->pid(0), SIGCONT); }
  void kill() override { cluster_->kill_instance(0); }
  Status restart() override { return cluster_->start_instance(0); }

 private:
  std::unique_ptr<demo::Cluster> cluster_;
};

// A server that is one program in one folder.
class ProgramServer : public RealServer {
 public:
  RegistrySettings settings() const override { return settings_; }
  void pause() override { stop_and_see(process_.pid()); }
  void go_on() override { ::kill(process_.pid(), SIGCONT); }
  void kill() override { process_.kill(); }
  Status restart() override {
    EVENKEEL_ASSIGN(process_, demo::Process::start(options_));
    const ManualClock clock;
    EVENKEEL_ASSIGN(const auto registry, open_registry(settings_, clock));
    const auto deadline = std::chrono::steady_clock::now() + start_patience;
    for (;;) {
      auto answered = registry->get("any");
      if (answered || !authenticated_) return {};
      if (std::chrono::steady_clock::now() > deadline || !process_.running())
        return fail(registry_error(answered.error().message + "\n" + demo::last_lines(options_.log, 10)));
      std::this_thread::sleep_for(20ms);
    }
  }
  ~ProgramServer() override { process_.kill(); }

 protected:
  ProgramServer() {
    options_.log = folder_.path() + "/log";
    settings_.timeout_ms = 2'000;
  }

  // A certificate for 127.0.0.1 that is its own authority.
  Status make_certificate() {
    demo::ProcessOptions openssl;
    openssl.log = folder_.path() + "/openssl.log";
    openssl.command = {"openssl",  "req",
                       "-x509",    "-newkey",
                       "rsa:2048", "-nodes",
                       "-days",    "2",
                       "-subj",    "/CN=registry",
                       "-addext",  "subjectAltName=IP:127.0.0.1",
                       "-keyout",  folder_.path() + "/key.pem",
                       "-out",     folder_.path() + "/cert.pem"};
    EVENKEEL_TRY(demo::run_to_end(openssl));
    settings_.tls.mode = RegistryTls::Mode::verify;
    settings_.tls.ca = folder_.path() + "/cert.pem";
    return {};
  }

  ScratchDirectory folder_;
  demo::ProcessOptions options_;
  demo::Process process_;
  RegistrySettings settings_;
  bool authenticated_ = true;
};

class RedisServer final : public ProgramServer {
 public:
  static Result<std::unique_ptr<RealServer>> start(bool tls) {
    const std::string path = program("redis-server");
    if (path.empty()) return fail(registry_error("redis-server is not installed"));
    std::unique_ptr<RedisServer> server(new RedisServer);
    auto& settings = server->settings_;
    settings.provider = RegistryProvider::redis;
    settings.endpoints = {{"127.0.0.1", free_port()}};
    settings.user = "proxy";
    settings.password = random_token();
    const std::string folder = server->folder_.path();
    const std::string port = std::to_string(settings.endpoints.front().port);
    std::ofstream(folder + "/redis.conf") << fmt::format(
        "bind 127.0.0.1\ndir {}\nappendonly yes\nappendfsync always\nsave \"\"\nuser default off\n"
        "user proxy on >{} ~* &* +@all\n",
        folder, settings.password);
    server->options_.command = {path, folder + "/redis.conf", "--port", tls ? "0" : port};
    if (tls) {
      EVENKEEL_TRY(server->make_certificate());
      for (const std::string& word :
           {std::string("--tls-port"), port, std::string("--tls-cert-file"), folder + "/cert.pem",
            std::string("--tls-key-file"), folder + "/key.pem", std::string("--tls-auth-clients"),
            std::string("no")})
        server->options_.command.push_back(word);
    }
    EVENKEEL_TRY(server->restart());
    return server;
  }
};

class EtcdServer final : public ProgramServer {
 public:
  static Result<std::unique_ptr<RealServer>> start(bool tls) {
    const std::string path = program("etcd");
    if (path.empty()) return fail(registry_error("etcd is not installed"));
    std::unique_ptr<EtcdServer> server(new EtcdServer);
    auto& settings = server->settings_;
    settings.provider = RegistryProvider::etcd;
    settings.endpoints = {{"127.0.0.1", free_port()}};
    if (tls) EVENKEEL_TRY(server->make_certificate());
    const std::string folder = server->folder_.path();
    const std::string own =
        fmt::format("{}://{}", tls ? "https" : "http", to_string(settings.endpoints.front()));
    const std::string peer = fmt::format("http://127.0.0.1:{}", free_port());
    server->options_.command = {path,
                                "--name",
                                "one",
                                "--data-dir",
                                folder + "/data",
                                "--listen-client-urls",
                                own,
                                "--advertise-client-urls",
                                own,
                                "--listen-peer-urls",
                                peer,
                                "--initial-advertise-peer-urls",
                                peer,
                                "--initial-cluster",
                                "one=" + peer};
    if (tls)
      for (const std::string& word :
           {std::string("--cert-file"), folder + "/cert.pem", std::string("--key-file"), folder + "/key.pem"})
        server->options_.command.push_back(word);
    EVENKEEL_TRY(server->restart());
    if (!tls) EVENKEEL_TRY(server->ask_for_accounts());
    return server;
  }

 private:
  // As an operator does it with etcdctl.
  Status ask_for_accounts() {
    const std::string etcdctl = program("etcdctl");
    if (etcdctl.empty()) return {};
    const std::string password = random_token();
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"user", "add", "root:" + password},
                                               {"user", "grant-role", "root", "root"},
                                               {"auth", "enable"}}) {
      demo::ProcessOptions call;
      call.log = folder_.path() + "/etcdctl.log";
      call.environment = {"ETCDCTL_API=3"};
      call.command = {etcdctl, "--endpoints", "http://" + to_string(settings_.endpoints.front())};
      call.command.insert(call.command.end(), words.begin(), words.end());
      EVENKEEL_TRY(demo::run_to_end(call));
    }
    settings_.user = "root";
    settings_.password = password;
    return {};
  }
};

class ZookeeperServer final : public ProgramServer {
 public:
  static Result<std::unique_ptr<RealServer>> start() {
    const std::string java = program("java");
    const std::string jar = "/usr/share/java/zookeeper.jar";
    if (java.empty() || !fs::exists(jar))
      return fail(registry_error("java or zookeeper.jar is not installed"));
    std::unique_ptr<ZookeeperServer> server(new ZookeeperServer);
    auto& settings = server->settings_;
    settings.provider = RegistryProvider::zookeeper;
    settings.endpoints = {{"127.0.0.1", free_port()}};
    settings.user = "proxy";
    settings.password = random_token();
    const std::string folder = server->folder_.path();
    std::ofstream(folder + "/zoo.cfg") << fmt::format(
        "tickTime=1000\ndataDir={}/"
        "data\nclientPort={}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n",
        folder, settings.endpoints.front().port);
    server->options_.working_directory = folder;
    server->options_.command = {java,
                                "-Xmx192m",
                                "-cp",
                                jar,
                                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                                folder + "/zoo.cfg"};
    EVENKEEL_TRY(server->restart());
    return server;
  }
};

}  // namespace

std::string to_string(ServerKind kind) {
  switch (kind) {
    case ServerKind::mariadb:
      return "mariadb";
    case ServerKind::mysql:
      return "mysql";
    case ServerKind::redis:
      return "redis";
    case ServerKind::redis_tls:
      return "redis_tls";
    case ServerKind::etcd:
      return "etcd";
    case ServerKind::etcd_tls:
      return "etcd_tls";
    case ServerKind::zookeeper:
      return "zookeeper";
  }
  return "?";
}

Result<std::unique_ptr<RealServer>> start_server(ServerKind kind) {
  switch (kind) {
    case ServerKind::mariadb:
      return SqlServer::start(demo::ServerKind::mariadb);
    case ServerKind::mysql:
      return SqlServer::start(demo::ServerKind::mysql);
    case ServerKind::redis:
      return RedisServer::start(false);
    case ServerKind::redis_tls:
      return RedisServer::start(true);
    case ServerKind::etcd:
      return EtcdServer::start(false);
    case ServerKind::etcd_tls:
      return EtcdServer::start(true);
    case ServerKind::zookeeper:
      return ZookeeperServer::start();
  }
  return fail(registry_error("no such server"));
}

}  // namespace evenkeel::idgen
