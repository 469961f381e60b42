// Reads the catalog from the instances and compares the actual tables with it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/backend/settings.h"
#include "proxy/control/describe.h"
#include "proxy/control/finding.h"
#include "proxy/control/instance_facts.h"
#include "proxy/session/settings.h"
#include "router/catalog/catalog.h"
#include "router/rule/rule_set.h"

namespace evenkeel::control {

// The account to read with on an instance.
using Accounts = std::function<session::BackendAccount(const std::string& instance)>;

// What one pass over the instances gave.
struct Reading {
  std::vector<InstanceFacts> facts;  // of the instances that answered, in their order
  // By logical table (of the reader's rule set): what its first reachable actual table looks like.
  std::map<const rule::LogicalTable*, Description> tables;
  std::vector<Finding> findings;

  catalog::CatalogPtr to_catalog(uint64_t version) const;
  bool same_tables(const Reading& other) const;
};

// The actual tables of one database on one instance: what one verification step looks at.
struct DatabaseTables {
  rule::InstanceId instance = 0;
  std::string database;
  std::vector<std::pair<const rule::LogicalTable*, rule::Slot>> tables;
};

// Blocking; one thread at a time. Keeps its connections between calls and opens lost ones anew.
class CatalogReader {
 public:
  CatalogReader(rule::RuleSetPtr rules, backend::Settings backend, Accounts accounts);
  ~CatalogReader();

  // Connections from now on log in with these; those that are open stay.
  void take_accounts(const Accounts& accounts);

  // Asks all instances at once for their facts, then reads one actual table of each logical table. An
  // instance that does not answer is a warning; none at all, or a table that no instance shows, is an error
  // finding. Leftover tables with a logical table's name in its logical schema are errors.
  Reading read();

  // Every database that holds actual tables, spread over the instances: neighbours in the list lie apart.
  const std::vector<DatabaseTables>& databases() const { return databases_; }
  // Tables that are missing or differ from the reading: errors, named with what differs.
  void verify(const DatabaseTables& database, const Reading& expected, std::vector<Finding>& findings);

 private:
  class Link;

  Link& link(rule::InstanceId instance) { return *links_[instance]; }
  void connect_all(Reading& reading);
  void read_table(const rule::LogicalTable& table, Reading& reading);
  void check_schema(const rule::LogicalSchema& schema, Reading& reading);

  rule::RuleSetPtr rules_;
  std::vector<std::unique_ptr<Link>> links_;  // by instance
  std::vector<DatabaseTables> databases_;
};

}  // namespace evenkeel::control
