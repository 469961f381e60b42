#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <pthread.h>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/mysql/error_codes.h"
#include "base/random.h"
#include "config/config.h"
#include "config/read_file.h"
#include "proxy/admin/dashboard/routes.h"
#include "proxy/admin/skew_samples.h"
#include "proxy/admin_port.h"
#include "proxy/commands.h"
#include "proxy/control/catalog_watch.h"
#include "proxy/control/checks.h"
#include "proxy/key_generators.h"
#include "proxy/net/server.h"
#include "proxy/reload.h"
#include "proxy/signals.h"
#include "proxy/steering_service.h"

namespace evenkeel {
namespace {

session::ServerFacts agreed(const std::vector<control::InstanceFacts>& all) {
  const control::InstanceFacts& first = all.front();
  session::ServerFacts facts;
  facts.version = first.version;
  facts.flavour = first.flavour;
  facts.version_id = first.version_id;
  facts.sql_mode = first.sql_mode;
  if (first.collation_id != 0) facts.default_collation = first.collation_id;
  facts.max_allowed_packet = first.max_allowed_packet;
  for (const auto& other : all) {
    facts.max_allowed_packet = std::min<size_t>(facts.max_allowed_packet, other.max_allowed_packet);
  }
  return facts;
}

// What a running proxy consists of, in the order in which it is made; taken down in the other.
struct Running {
  config::Config config;
  // Of the process: a thread that hangs in the registry may outlive everything else.
  static inline const SystemClock clock;
  control::CatalogStore catalog;
  std::unique_ptr<control::CatalogWatch> watch;
  std::unique_ptr<KeyGenerators> generators;
  std::unique_ptr<SteeringService> steering;
  std::unique_ptr<net::Server> server;
  admin::PageSessions page_sessions{clock, fill_secure};
  std::unique_ptr<AdminPort> admin;
  // Made when everything runs; the admin port's threads find it a moment after they have begun.
  std::atomic<Reload*> reload{nullptr};
};

Result<mysql::ResultTable> reload(Running& running, std::string_view by) {
  Reload* reload = running.reload.load();
  if (reload == nullptr) {
    return fail(make_error(ErrorKind::limit, mysql::er::unknown_error,
                           "the proxy has not started yet, or is stopping: try again"));
  }
  return reload->run(by);
}

Status start_catalog(Running& running) {
  std::vector<control::Finding> findings;
  EVENKEEL_ASSIGN(
      running.watch,
      control::CatalogWatch::start(running.config.rules, running.config.backend,
                                   control::reading_accounts(running.config.session, running.config.control),
                                   running.catalog, control::WatchSettings{}, findings));
  for (const control::Finding& finding : findings) log::warn("{}", finding.text);
  return {};
}

Status start_server(Running& running) {
  net::ServerParts parts;
  parts.net = running.config.net;
  parts.backend = running.config.backend;
  parts.session = running.config.session;
  parts.state_directory = running.config.state_directory;
  session::Environment& environment = parts.environment;
  environment.clock = &running.clock;
  environment.rules = running.config.rules;
  environment.instance_names = running.config.rules->instances();
  environment.server = agreed(running.watch->facts());
  environment.catalog = [&running] { return running.catalog.current(); };
  environment.refresh_catalog = [&running](const std::string& reason) {
    running.catalog.request_refresh(reason);
  };
  environment.generators = running.generators->by_table();
  environment.traffic = running.steering->traffic();
  EVENKEEL_ASSIGN(running.server, net::Server::start(std::move(parts)));
  return {};
}

Status start_admin(Running& running) {
  AdminParts parts;
  parts.config = &running.config;
  parts.clock = &running.clock;
  parts.server = running.server.get();
  parts.generators = running.generators.get();
  parts.skew = &running.steering->steering();
  parts.reload = [&running] { return reload(running, "RELOAD CONFIG"); };
  parts.add_routes = [&running](http::Router& router, http::Gate& gate) {
    admin::DashboardParts dashboard;
    dashboard.rules = running.config.rules.get();
    dashboard.operations = &running.steering->steering();
    dashboard.figures = &running.steering->steering();
    dashboard.sessions = &running.page_sessions;
    dashboard.proxy = "evenkeel " EVENKEEL_VERSION;
    admin::add_dashboard(router, gate, std::move(dashboard));
  };
  parts.add_metrics = [&running](metrics::Page& page) {
    const skew::Steering& steering = running.steering->steering();
    page.gauge("evenkeel_steering_leads", "1: this proxy counts the tables and decides for all.", {},
               steering.leads() ? 1 : 0);
    admin::add_skew_samples(page, *running.config.rules, steering);
  };
  EVENKEEL_ASSIGN(running.admin, AdminPort::start(std::move(parts)));
  return {};
}

Status start(Running& running) {
  EVENKEEL_TRY(start_catalog(running));
  EVENKEEL_ASSIGN(running.generators, KeyGenerators::start(running.config, running.clock));
  running.steering = SteeringService::start(running.config, *running.generators, running.clock);
  EVENKEEL_TRY(start_server(running));
  for (size_t i = 0; i < running.server->ports().size(); ++i) {
    log::info("listening on {}:{}", running.config.net.listeners[i].address, running.server->ports()[i]);
  }
  return start_admin(running);
}

Reload::Parts reload_parts(Running& running, std::string text) {
  Reload::Parts parts;
  parts.text = std::move(text);
  parts.started_with = &running.config;
  parts.clock = &running.clock;
  parts.server = running.server.get();
  parts.steering = running.steering.get();
  parts.watch = running.watch.get();
  parts.admin = running.admin.get();
  parts.admin_accounts = [&running](const std::vector<answer::Account>& same) {
    running.page_sessions.keep(same);
  };
  return parts;
}

// Lets sessions finish within the drain timeout; a further signal ends them at once.
void drain(net::Server& server, const sigset_t& signals) {
  log::info("draining: no new clients, {} connected; a second signal ends them", server.clients());
  server.drain();
  std::thread second([&] {
    for (int signal = await_signal(signals); signal != SIGUSR1; signal = await_signal(signals)) {
      if (signal != SIGHUP) server.stop_now();
    }
  });
  if (!server.wait()) log::warn("the drain timeout has passed: the remaining sessions were ended");
  pthread_kill(second.native_handle(), SIGUSR1);
  second.join();
}

}  // namespace

int serve(const std::string& config_path) {
  const sigset_t signals = block_signals();
  Running running;
  auto text = config::read_file(config_path);
  if (!text) return complain(text.error().message);
  auto config = config::parse(*text, config_path, config::process_environment(), running.clock.unix_millis());
  if (!config) return complain(config.error().message);
  running.config = std::move(*config);
  if (running.config.backend.instances.empty()) {
    return complain(
        fmt::format("{} describes an id service and no proxy: `evenkeel ids` serves it", config_path));
  }
  log::set_up(running.config.log_level);
  for (const std::string& warning : running.config.warnings) log::warn("{}", warning);
  if (auto started = start(running); !started) return complain(started.error().message);
  Reload reloading(reload_parts(running, std::move(*text)));
  running.reload = &reloading;
  await_stop(signals, [&running] {
    if (const auto done = reload(running, "HUP"); !done)
      log::error("configuration not read again (HUP): {}", done.error().message);
  });
  running.admin->drain();
  drain(*running.server, signals);
  running.reload = nullptr;
  running.admin.reset();
  running.server.reset();
  running.steering->stop();
  running.generators->stop();
  log::info("stopped");
  return 0;
}

}  // namespace evenkeel
