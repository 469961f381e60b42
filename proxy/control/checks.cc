#include "proxy/control/checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "proxy/control/grants.h"

namespace evenkeel::control {
namespace {

const std::vector<std::string> wanted_privileges = {"SELECT", "INSERT", "UPDATE", "DELETE"};

std::string line_of(const InstanceFacts& facts) {
  return fmt::format("{}: {}, lower_case_table_names {}, {}, max_allowed_packet {} MiB, time zone {}",
                     facts.instance, facts.version, facts.lower_case_table_names, facts.collation,
                     facts.max_allowed_packet >> 20, facts.time_zone);
}

// Databases that statements of clients may reach on each instance.
std::map<rule::InstanceId, std::set<std::string>> databases_in_use(const rule::RuleSet& rules) {
  std::map<rule::InstanceId, std::set<std::string>> databases;
  for (const auto& schema : rules.schemas()) {
    databases[schema.default_instance].insert(schema.name);
    for (const auto& table : schema.tables) {
      for (const auto& actual : table->slots) databases[actual.instance].insert(actual.database);
    }
  }
  return databases;
}

Result<std::vector<Grant>> grants_of(const backend::Instance& instance,
                                     const session::BackendAccount& account,
                                     std::chrono::milliseconds timeout) {
  EVENKEEL_ASSIGN(Connection connection, Connection::open(instance, account, timeout));
  EVENKEEL_ASSIGN(const std::vector<Row> rows, connection.query("SHOW GRANTS"));
  std::vector<std::string> lines;
  for (const Row& row : rows) lines.push_back(row[0].value_or(""));
  return parse_grants(lines);
}

// Databases with the same lack in one finding: 16 databases want one line, not 16.
void report_missing(const backend::Instance& instance, const session::BackendAccount& account,
                    const std::vector<Grant>& grants, const std::set<std::string>& databases,
                    std::vector<Finding>& findings) {
  std::map<std::vector<std::string>, std::vector<std::string>> by_lack;
  for (const std::string& database : databases) {
    auto lack = missing_privileges(grants, database, wanted_privileges);
    if (!lack.empty()) by_lack[std::move(lack)].push_back(database);
  }
  for (const auto& [lack, places] : by_lack) {
    findings.push_back(
        warning_finding(fmt::format("account {} on {} lacks {} on {}", account.user, instance.name,
                                    fmt::join(lack, ", "), fmt::join(places, ", "))));
  }
}

void check_accounts(const rule::RuleSet& rules, const backend::Settings& backend,
                    const session::Settings& session, const std::vector<InstanceFacts>& reachable,
                    CheckReport& report) {
  const auto databases = databases_in_use(rules);
  std::set<std::pair<std::string, std::string>> seen;
  size_t good = 0;
  for (rule::InstanceId id = 0; id < backend.instances.size(); ++id) {
    const backend::Instance& instance = backend.instances[id];
    const bool answers = std::any_of(reachable.begin(), reachable.end(), [&](const InstanceFacts& facts) {
      return facts.instance == instance.name;
    });
    if (!answers) continue;
    for (const session::User& user : session.users) {
      const session::BackendAccount& account = user.account_on(instance.name);
      if (!seen.emplace(instance.name, account.user).second) continue;
      auto grants = grants_of(instance, account, backend.connect_timeout);
      if (!grants) {
        report.findings.push_back(error_finding(
            fmt::format("account {} of user {}: {}", account.user, user.name, grants.error().message)));
        continue;
      }
      ++good;
      const auto used = databases.find(id);
      if (used != databases.end()) report_missing(instance, account, *grants, used->second, report.findings);
    }
  }
  report.lines.push_back(fmt::format("{} accounts log in", good));
}

void check_all_tables(CatalogReader& reader, const Reading& reading, CheckReport& report) {
  size_t tables = 0;
  for (const DatabaseTables& database : reader.databases()) {
    reader.verify(database, reading, report.findings);
    tables += database.tables.size();
  }
  report.lines.push_back(
      fmt::format("{} actual tables in {} databases compared", tables, reader.databases().size()));
}

}  // namespace

Accounts reading_accounts(const session::Settings& session, const session::BackendAccount& control) {
  if (!control.user.empty()) return [control](const std::string&) { return control; };
  const session::User first = session.users.front();
  return [first](const std::string& instance) { return first.account_on(instance); };
}

CheckReport check_instances(const rule::RuleSetPtr& rules, const backend::Settings& backend,
                            const session::Settings& session, const session::BackendAccount& control) {
  CheckReport report;
  CatalogReader reader(rules, backend, reading_accounts(session, control));
  const Reading reading = reader.read();
  report.findings = reading.findings;
  // A proxy starts without an instance that is away; a check that could not look at one has not passed.
  for (const auto& instance : backend.instances) {
    const bool answered =
        std::any_of(reading.facts.begin(), reading.facts.end(),
                    [&](const InstanceFacts& facts) { return facts.instance == instance.name; });
    if (!answered) {
      report.findings.push_back(
          error_finding(fmt::format("instance {} could not be checked", instance.name)));
    }
  }
  for (const InstanceFacts& facts : reading.facts) report.lines.push_back(line_of(facts));
  if (reading.facts.empty()) return report;
  check_all_tables(reader, reading, report);
  check_accounts(*rules, backend, session, reading.facts, report);
  return report;
}

}  // namespace evenkeel::control
