// The dashboard over HTTP: its page, and the JSON interface of docs/http-api.md on top of skew and steering.
#pragma once

#include <string>

#include "base/clock.h"
#include "proxy/admin/dashboard/page_sessions.h"
#include "proxy/http/gate.h"
#include "proxy/http/router.h"
#include "proxy/skew/figures.h"
#include "proxy/skew/operations.h"
#include "router/rule/rule_set.h"

namespace evenkeel::admin {

struct DashboardParts {
  const rule::RuleSet* rules = nullptr;
  skew::Operations* operations = nullptr;
  const skew::Figures* figures = nullptr;
  PageSessions* sessions = nullptr;
  std::string proxy;  // "evenkeel 0.1.0 on db-proxy-1", shown to who is logged in
};

// What `parts` points to must outlive the router and the gate, which accepts the sessions' tokens from now
// on. The page itself needs no login: it holds no figure.
void add_dashboard(http::Router& router, http::Gate& gate, DashboardParts parts);

}  // namespace evenkeel::admin
