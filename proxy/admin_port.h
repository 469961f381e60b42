// The admin port of a running proxy: its statements over the MySQL protocol, metrics and health over HTTP.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/metrics/page.h"
#include "base/result.h"
#include "config/config.h"
#include "proxy/admin/statements.h"
#include "proxy/http/router.h"
#include "proxy/key_generators.h"
#include "proxy/net/answering_server.h"
#include "proxy/net/http_server.h"
#include "proxy/net/server.h"

namespace evenkeel {

// Everything outlives the port.
struct AdminParts {
  const config::Config* config = nullptr;
  const Clock* clock = nullptr;
  net::Server* server = nullptr;
  const KeyGenerators* generators = nullptr;
  skew::Operations* skew = nullptr;  // null: nothing is measured or steered
  // RELOAD CONFIG.
  std::function<Result<mysql::ResultTable>()> reload;
  // More routes (the dashboard) and more samples for /metrics.
  std::function<void(http::Router& router, http::Gate& gate)> add_routes;
  std::function<void(metrics::Page& page)> add_metrics;
};

// Made and destroyed by one thread.
class AdminPort {
 public:
  // Nothing is started where the configuration has no section `admin`. Errors: an address that cannot be
  // bound, TLS files that cannot be read.
  static Result<std::unique_ptr<AdminPort>> start(AdminParts parts);
  ~AdminPort();

  // /readyz says no from now on, so that load balancers look elsewhere.
  void drain() { draining_ = true; }

  // Accounts, tokens and certificates for who comes from now on, in two steps: what cannot be prepared
  // changes nothing. Where nothing was started both do nothing. Not to be called on the port's HTTP thread.
  // Errors: TLS files that cannot be read.
  struct Terms {
    net::AnsweringServer::TermsPtr statements;
    net::HttpServer::TermsPtr http;
    std::vector<answer::Account> accounts;
    http::Settings http_settings;
  };
  Result<Terms> prepare(const config::AdminConfig& admin) const;
  // `also` runs on the HTTP thread.
  void adopt(Terms terms, std::function<void()> also);

 private:
  explicit AdminPort(AdminParts parts);
  Status start_statements();
  Status start_http();
  admin::Sources sources();
  std::optional<std::string> reason_not_ready();

  AdminParts parts_;
  std::atomic<bool> draining_{false};
  std::unique_ptr<admin::AdminStatements> statements_;
  std::unique_ptr<http::Gate> gate_;
  std::unique_ptr<http::Router> router_;
  // Of the HTTP thread.
  std::chrono::nanoseconds probed_at_{0};
  std::optional<std::string> probed_;
  std::unique_ptr<net::AnsweringServer> answering_;
  std::unique_ptr<net::HttpServer> http_;
};

}  // namespace evenkeel
