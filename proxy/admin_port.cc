#include "proxy/admin_port.h"

#include <fmt/format.h>

#include "base/log.h"
#include "proxy/admin_tables.h"
#include "proxy/net/probe.h"

namespace evenkeel {

using http::Call;
using http::Outcome;
using mysql::ResultTable;

namespace {

// An answer about the instances is good for so long, and takes at most that.
constexpr std::chrono::seconds probe_kept(2);
constexpr std::chrono::milliseconds probe_patience(1000);

// Applies `make` to what the loops say.
template <typename Make>
auto from_report(net::Server& server, Make make) {
  return [&server, make]() -> Result<ResultTable> {
    EVENKEEL_ASSIGN(const net::LoopReport report, server.report());
    return make(report);
  };
}

}  // namespace

AdminPort::AdminPort(AdminParts parts) : parts_(std::move(parts)) {}

AdminPort::~AdminPort() = default;

Result<std::unique_ptr<AdminPort>> AdminPort::start(AdminParts parts) {
  std::unique_ptr<AdminPort> port(new AdminPort(std::move(parts)));
  if (!port->parts_.config->admin.given) return port;
  port->statements_ = std::make_unique<admin::AdminStatements>(port->sources());
  // In this order: who is greeted by the one finds the other.
  EVENKEEL_TRY(port->start_http());
  EVENKEEL_TRY(port->start_statements());
  return port;
}

admin::Sources AdminPort::sources() {
  const config::Config& config = *parts_.config;
  net::Server& server = *parts_.server;
  admin::Sources sources;
  sources.topology = [&config] { return topology_table(*config.rules); };
  sources.generators = [&config, generators = parts_.generators] {
    return generators_table(config, *generators);
  };
  sources.workers = [generators = parts_.generators]() -> Result<ResultTable> {
    const auto registry = generators->registry();
    if (registry == nullptr) return workers_table({});
    EVENKEEL_ASSIGN(const auto records, registry->list("workers/"));
    return workers_table(records);
  };
  sources.sessions =
      from_report(server, [](const net::LoopReport& report) { return sessions_table(report); });
  sources.pools =
      from_report(server, [&config](const net::LoopReport& report) { return pools_table(config, report); });
  sources.slow_queries =
      from_report(server, [](const net::LoopReport& report) { return slow_queries_table(report); });
  sources.statistics = [&server]() -> Result<ResultTable> {
    return statistics_table(server.totals(), server.latencies(), server.clients());
  };
  sources.decode = [&config](uint64_t id, const std::optional<skew::TableName>& table) {
    return decoded_table(config, id, table);
  };
  sources.reload = parts_.reload;
  sources.kill = [&server](uint64_t id, bool query_only) { return server.kill(id, query_only); };
  sources.skew = parts_.skew;
  return sources;
}

Result<AdminPort::Terms> AdminPort::prepare(const config::AdminConfig& admin) const {
  Terms terms;
  terms.accounts = admin.users;
  terms.http_settings = admin.http.settings;
  if (answering_) {
    EVENKEEL_ASSIGN(terms.statements, answering_->prepare(admin.listeners, admin.users));
  }
  if (http_) {
    EVENKEEL_ASSIGN(terms.http, http_->prepare(admin.http.listeners, admin.http.settings));
  }
  return terms;
}

void AdminPort::adopt(Terms terms, std::function<void()> also) {
  if (answering_) answering_->adopt(std::move(terms.statements));
  if (!http_) return;
  http_->adopt(std::move(terms.http), [gate = gate_.get(), accounts = std::move(terms.accounts),
                                       settings = std::move(terms.http_settings), also = std::move(also)] {
    gate->admit_by(accounts, settings);
    also();
  });
}

Status AdminPort::start_statements() {
  const config::AdminConfig& settings = parts_.config->admin;
  if (settings.listeners.empty()) return {};
  net::AnsweringParts answering;
  answering.listeners = settings.listeners;
  answering.accounts = settings.users;
  answering.answerer = statements_.get();
  answering.clock = parts_.clock;
  answering.version_comment = "Evenkeel admin port; HELP lists its statements";
  answering.state_directory = parts_.config->state_directory;
  answering.thread_name = "evenkeel-admin";
  EVENKEEL_ASSIGN(answering_, net::AnsweringServer::start(std::move(answering)));
  for (size_t i = 0; i < settings.listeners.size(); ++i) {
    log::info("admin: MySQL protocol on {}:{}", settings.listeners[i].address, answering_->ports()[i]);
  }
  return {};
}

std::optional<std::string> AdminPort::reason_not_ready() {
  if (draining_) return "the proxy is stopping";
  if (auto reason = parts_.generators->reason_not_ready()) return reason;
  const auto now = parts_.clock->steady();
  if (probed_at_.count() != 0 && now - probed_at_ < probe_kept) return probed_;
  std::vector<net::ProbeTarget> targets;
  for (const auto& instance : parts_.config->backend.instances)
    targets.push_back({instance.host, instance.port});
  const std::vector<std::string> answers = net::probe(targets, probe_patience);
  probed_.reset();
  for (size_t i = 0; i < answers.size() && !probed_; ++i) {
    if (!answers[i].empty()) {
      probed_ = fmt::format("instance '{}' is not reachable: {}", parts_.config->backend.instances[i].name,
                            answers[i]);
    }
  }
  probed_at_ = parts_.clock->steady();
  return probed_;
}

Status AdminPort::start_http() {
  const config::AdminConfig& settings = parts_.config->admin;
  if (settings.http.listeners.empty()) return {};
  gate_ = std::make_unique<http::Gate>(settings.users, settings.http.settings, *parts_.clock);
  router_ = std::make_unique<http::Router>(*gate_);
  router_->add("GET", "/healthz", std::nullopt,
               [](const Call&) { return Outcome{http::text_response("ok\n")}; });
  router_->add("GET", "/readyz", std::nullopt, [this](const Call&) {
    const auto reason = reason_not_ready();
    return Outcome{reason ? http::error_response(503, *reason) : http::text_response("ready\n")};
  });
  router_->add("GET", "/metrics", std::nullopt, [this](const Call&) {
    metrics::Page page;
    const auto report = parts_.server->report();
    add_samples(page, *parts_.config, *parts_.generators, *parts_.server, report ? &*report : nullptr,
                parts_.clock->unix_millis());
    if (parts_.add_metrics) parts_.add_metrics(page);
    return Outcome{http::text_response(page.text(), metrics::page_content_type)};
  });
  if (parts_.add_routes) parts_.add_routes(*router_, *gate_);
  net::HttpParts http;
  http.listeners = settings.http.listeners;
  http.settings = settings.http.settings;
  http.respond = [this](const http::Request& request) { return router_->respond(request); };
  http.state_directory = parts_.config->state_directory;
  EVENKEEL_ASSIGN(http_, net::HttpServer::start(std::move(http)));
  for (size_t i = 0; i < settings.http.listeners.size(); ++i) {
    const net::Listener& listener = settings.http.listeners[i];
    log::info("admin: {} on {}:{}", listener.tls.mode == net::TlsSettings::Mode::off ? "http" : "https",
              listener.address, http_->ports()[i]);
  }
  return {};
}

}  // namespace evenkeel
