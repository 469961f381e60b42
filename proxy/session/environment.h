// What the sessions of one event loop share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "idgen/generator.h"
#include "proxy/session/counters.h"
#include "proxy/session/settings.h"
#include "proxy/session/timings.h"
#include "router/catalog/catalog.h"
#include "router/rule/rule_set.h"
#include "router/rule/slot_traffic.h"
#include "router/sql/lexer.h"

namespace evenkeel::session {

class StatementCache;

// What the instances agree on, learnt at start.
struct ServerFacts {
  std::string version;  // announced to clients: the instances' own
  mysql::Flavour flavour = mysql::Flavour::mariadb;
  uint32_t version_id = 101100;
  std::string sql_mode;  // the instances' default
  uint16_t default_collation = 45;
  size_t max_allowed_packet = 16 << 20;
};

// Outlives its sessions. Pointers to what other threads replace (the catalog), and `settings`, which may be
// replaced between two events, are taken anew per statement.
struct Environment {
  const Settings* settings = nullptr;
  const Clock* clock = nullptr;
  rule::RuleSetPtr rules;
  std::vector<std::string> instance_names;
  ServerFacts server;
  std::function<catalog::CatalogPtr()> catalog;
  std::function<void(const std::string& reason)> refresh_catalog;
  // Of logical tables with a generated column.
  std::unordered_map<const rule::LogicalTable*, idgen::KeyGenerator*> generators;
  // Of logical tables whose rows are counted by slot.
  std::unordered_map<const rule::LogicalTable*, rule::SlotTraffic*> traffic;
  StatementCache* statements = nullptr;
  Counters* counters = nullptr;
  Timings* timings = nullptr;
  // One counter, summed over all event loops.
  std::function<uint64_t(std::atomic<uint64_t> Counters::*)> total;
  // KILL [QUERY] id: false when there is no such session, or it belongs to another user.
  std::function<bool(uint64_t connection_id, bool query_only, const std::string& user)> kill;
};

}  // namespace evenkeel::session
