// Asks the instances how large the actual tables are: COUNT(*) of one, or InnoDB's estimates of all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/backend/settings.h"
#include "proxy/control/catalog_reader.h"
#include "proxy/control/connection.h"
#include "router/rule/rule_set.h"

namespace evenkeel::control {

// Of one actual table, as InnoDB guesses it.
struct TableEstimate {
  const rule::LogicalTable* table = nullptr;
  rule::Slot slot = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;  // data and indexes
};

// One thread. One connection to an instance, opened when it is needed; one that failed is opened anew at the
// next call. Errors have kind backend and name the instance.
class TableSampler {
 public:
  TableSampler(rule::RuleSetPtr rules, backend::Settings backend, Accounts accounts);
  ~TableSampler();

  // Connections from now on log in with these; those that are open stay.
  void take_accounts(const Accounts& accounts);

  Result<uint64_t> count(const rule::LogicalTable& table, rule::Slot slot);
  // Of all sharded tables on the instance. Read from mysql.innodb_table_stats where the account may; else
  // from information_schema.TABLES, whose figures MySQL 8 keeps for a day unless the session says
  // information_schema_stats_expiry = 0, as it does here.
  Result<std::vector<TableEstimate>> estimates(rule::InstanceId instance);
  size_t instances() const { return links_.size(); }

 private:
  struct Link {
    backend::Instance instance;
    session::BackendAccount account;
    std::optional<Connection> connection;
    bool may_read_statistics = true;
  };

  Result<std::vector<Row>> query(Link& link, const std::string& sql);
  Result<std::vector<Row>> read_estimates(Link& link, const std::string& databases);

  rule::RuleSetPtr rules_;
  std::chrono::milliseconds connect_timeout_;
  std::vector<Link> links_;
};

}  // namespace evenkeel::control
