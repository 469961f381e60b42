#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "proxy/commands.h"
#include "proxy/http/router.h"
#include "proxy/ids/key_spaces.h"
#include "proxy/ids/routes.h"
#include "proxy/ids/statements.h"
#include "proxy/key_generators.h"
#include "proxy/net/answering_server.h"
#include "proxy/net/http_server.h"
#include "proxy/signals.h"

namespace evenkeel {
namespace {

// A running service, in the order in which it is made; taken down in the other.
struct IdService {
  config::Config config;
  // Of the process: a thread that hangs in the registry may outlive everything else.
  static inline const SystemClock clock;
  std::unique_ptr<KeyGenerators> generators;
  std::unique_ptr<ids::KeySpaces> spaces;
  std::unique_ptr<ids::IdStatements> statements;
  std::atomic<bool> draining{false};
  std::unique_ptr<http::Gate> gate;
  std::unique_ptr<http::Router> router;
  std::unique_ptr<net::AnsweringServer> server;
  std::unique_ptr<net::HttpServer> http;
};

std::unique_ptr<ids::KeySpaces> open_spaces(const config::Config& config, const KeyGenerators& generators) {
  std::vector<ids::OpenSpace> spaces;
  for (const auto& space : config.ids.service.key_spaces) {
    ids::OpenSpace open;
    open.name = space.name;
    open.slots = space.slots;
    const idgen::GeneratorSettings& generator = *config.find_generator(space.generator);
    // Ids of segments are numbers without fields.
    if (generator.kind != idgen::GeneratorKind::segment) open.layout = generator.layout;
    open.generator = generators.by_space().at(space.name);
    spaces.push_back(std::move(open));
  }
  return std::make_unique<ids::KeySpaces>(std::move(spaces), config.ids.service.max_count);
}

std::optional<std::string> reason_not_ready(const IdService& service) {
  if (service.draining) return "the service is stopping";
  return service.generators->reason_not_ready();
}

Status start_mysql(IdService& service) {
  const config::IdsConfig& settings = service.config.ids;
  if (settings.listeners.empty()) return {};
  net::AnsweringParts parts;
  parts.listeners = settings.listeners;
  parts.accounts = settings.users;
  parts.limits = settings.limits;
  parts.answerer = service.statements.get();
  parts.clock = &service.clock;
  parts.version_comment = "Evenkeel id service";
  parts.state_directory = service.config.state_directory;
  parts.threads = settings.threads;
  parts.thread_name = "evenkeel-ids";
  EVENKEEL_ASSIGN(service.server, net::AnsweringServer::start(std::move(parts)));
  for (size_t i = 0; i < settings.listeners.size(); ++i) {
    log::info("ids: MySQL protocol on {}:{}", settings.listeners[i].address, service.server->ports()[i]);
  }
  return {};
}

Status start_http(IdService& service) {
  const config::IdsConfig& settings = service.config.ids;
  if (settings.http.listeners.empty()) return {};
  service.gate = std::make_unique<http::Gate>(settings.users, settings.http.settings, service.clock);
  service.router = std::make_unique<http::Router>(*service.gate);
  ids::RouteParts routes;
  routes.clock = &service.clock;
  routes.spaces = service.spaces.get();
  routes.not_ready = [&service] { return reason_not_ready(service); };
  routes.add_metrics = [&service](metrics::Page& page) {
    if (service.server)
      page.gauge("evenkeel_clients", "Clients of the MySQL protocol.", {}, service.server->clients());
  };
  ids::add_routes(*service.router, std::move(routes));
  net::HttpParts parts;
  parts.listeners = settings.http.listeners;
  parts.settings = settings.http.settings;
  parts.respond = [&service](const http::Request& request) { return service.router->respond(request); };
  parts.state_directory = service.config.state_directory;
  EVENKEEL_ASSIGN(service.http, net::HttpServer::start(std::move(parts)));
  for (size_t i = 0; i < settings.http.listeners.size(); ++i) {
    const auto& listener = settings.http.listeners[i];
    log::info("ids: {} on {}:{}", listener.tls.mode == net::TlsSettings::Mode::off ? "http" : "https",
              listener.address, service.http->ports()[i]);
  }
  return {};
}

Status start(IdService& service) {
  EVENKEEL_ASSIGN(service.generators, KeyGenerators::start_spaces(service.config, service.clock));
  service.spaces = open_spaces(service.config, *service.generators);
  service.statements = std::make_unique<ids::IdStatements>(*service.spaces);
  EVENKEEL_TRY(start_mysql(service));
  return start_http(service);
}

}  // namespace

int serve_ids(const std::string& config_path) {
  const sigset_t signals = block_signals();
  IdService service;
  auto config = config::load(config_path, config::process_environment(), service.clock.unix_millis());
  if (!config) return complain(config.error().message);
  service.config = std::move(*config);
  if (!service.config.ids.given) {
    return complain(fmt::format("{} has no section `ids`; see docs/ids-service.md", config_path));
  }
  log::set_up(service.config.log_level);
  for (const std::string& warning : service.config.warnings) log::warn("{}", warning);
  if (auto started = start(service); !started) return complain(started.error().message);
  await_stop(signals, [] { log::warn("HUP: the configuration of an id service is read at start only"); });
  service.draining = true;
  // Answers take milliseconds: those under way are given, then everybody is told.
  service.http.reset();
  if (service.server) service.server->drain();
  const auto end = service.clock.steady() + service.config.net.drain_timeout;
  while (service.server && service.server->clients() > 0 && service.clock.steady() < end) {
    constexpr timespec moment{0, 10'000'000};
    nanosleep(&moment, nullptr);
  }
  service.server.reset();
  service.generators->stop();
  log::info("stopped");
  return 0;
}

}  // namespace evenkeel
