// What `evenkeel check --connect` asks the instances.
#pragma once

#include <string>
#include <vector>

#include "proxy/backend/settings.h"
#include "proxy/control/catalog_reader.h"
#include "proxy/control/finding.h"
#include "proxy/session/settings.h"
#include "router/rule/rule_set.h"

namespace evenkeel::control {

struct CheckReport {
  std::vector<std::string> lines;  // what was found, good or bad: one an instance, one a pass over the tables
  std::vector<Finding> findings;
};

// Reachability, versions and settings of all instances and whether they agree; the logical schemas; columns,
// keys and differences of all actual tables; logins and grants of every user's account on every instance.
// `control` is the account to read with; with an empty user, the first user's accounts. Blocking.
CheckReport check_instances(const rule::RuleSetPtr& rules, const backend::Settings& backend,
                            const session::Settings& session, const session::BackendAccount& control);

// The accounts that the catalog is read with.
Accounts reading_accounts(const session::Settings& session, const session::BackendAccount& control);

}  // namespace evenkeel::control
