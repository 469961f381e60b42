// The id service over HTTP:
//
//   POST /ids/orders?count=100[&layout=…]   {"key_space": "orders", "layout": "…", "ids": ["…", …]}
//   GET  /key-spaces, /key-spaces/orders    names, layouts, slots, the largest count
//   GET  /decode/12345[?space=orders]       an id's fields
//   GET  /healthz, /readyz, /metrics        without a login
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/metrics/page.h"
#include "proxy/http/router.h"
#include "proxy/ids/key_spaces.h"

namespace evenkeel::ids {

struct RouteParts {
  const KeySpaces* spaces = nullptr;
  const Clock* clock = nullptr;
  // Why the service should get no requests now; nothing when it may. Any thread.
  std::function<std::optional<std::string>()> not_ready;
  // More samples for /metrics.
  std::function<void(metrics::Page& page)> add_metrics;
};

// What `parts` points to must outlive the router.
void add_routes(http::Router& router, RouteParts parts);

}  // namespace evenkeel::ids
