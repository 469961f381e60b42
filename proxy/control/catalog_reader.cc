#include "proxy/control/catalog_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "proxy/control/table_checks.h"
#include "router/rule/names.h"

namespace evenkeel::control {
namespace {

using rule::ActualTable;
using rule::LogicalSchema;
using rule::LogicalTable;

std::string place_of(const ActualTable& actual, const std::string& instance) {
  return fmt::format("{}.{} on {}", actual.database, actual.table, instance);
}

// Databases in turns over the instances, so that a pass at a steady rate loads each of them evenly.
std::vector<DatabaseTables> group_by_database(const rule::RuleSet& rules) {
  std::map<std::pair<std::string, rule::InstanceId>, DatabaseTables> groups;
  for (const LogicalSchema& schema : rules.schemas()) {
    for (const auto& table : schema.tables) {
      for (rule::Slot slot = 0; slot < table->slot_count(); ++slot) {
        const ActualTable& actual = table->slots[slot];
        DatabaseTables& group = groups[{actual.database, actual.instance}];
        group.instance = actual.instance;
        group.database = actual.database;
        group.tables.emplace_back(table.get(), slot);
      }
    }
  }
  std::vector<std::vector<DatabaseTables>> by_instance(rules.instances().size());
  for (auto& [key, group] : groups) by_instance[group.instance].push_back(std::move(group));
  std::vector<DatabaseTables> in_turns;
  for (size_t i = 0; in_turns.size() < groups.size(); ++i) {
    for (auto& databases : by_instance) {
      if (i < databases.size()) in_turns.push_back(std::move(databases[i]));
    }
  }
  return in_turns;
}

}  // namespace

// A connection to one instance that is opened when it is needed.
class CatalogReader::Link {
 public:
  Link(backend::Instance instance, session::BackendAccount account, std::chrono::milliseconds connect_timeout)
      : instance_(std::move(instance)), account_(std::move(account)), connect_timeout_(connect_timeout) {}

  const std::string& name() const { return instance_.name; }
  bool reachable() const { return facts_.has_value(); }
  const std::optional<InstanceFacts>& facts() const { return facts_; }
  const Error& error() const { return error_; }
  // As this instance spells names of databases and tables.
  std::string spelt(const std::string& name) const {
    return facts_ && facts_->lower_case_table_names != 0 ? rule::fold_case(name) : name;
  }

  void take_account(session::BackendAccount account) { account_ = std::move(account); }

  // Facts anew, on the connection at hand or a new one.
  void learn() {
    auto facts = with_connection([](Connection& connection) { return read_facts(connection); });
    if (facts) {
      facts_ = std::move(*facts);
    } else {
      facts_.reset();
      error_ = std::move(facts.error());
    }
  }

  // Calls with an open connection; one that was lost is opened anew once.
  template <typename Call>
  auto with_connection(Call call) -> decltype(call(std::declval<Connection&>())) {
    for (int attempt = 0;; ++attempt) {
      const bool fresh = !connection_;
      if (fresh) {
        auto opened = Connection::open(instance_, account_, connect_timeout_);
        if (!opened) return fail(std::move(opened.error()));
        connection_.emplace(std::move(*opened));
      }
      auto result = call(*connection_);
      if (result) return result;
      connection_.reset();
      if (fresh || attempt > 0) return result;
    }
  }

  Result<Descriptions> describe(const std::string& database, std::vector<std::string> names) {
    for (std::string& name : names) name = spelt(name);
    return with_connection(
        [&](Connection& connection) { return describe_tables(connection, spelt(database), names); });
  }

 private:
  backend::Instance instance_;
  session::BackendAccount account_;
  std::chrono::milliseconds connect_timeout_;
  std::optional<Connection> connection_;
  std::optional<InstanceFacts> facts_;
  Error error_;
};

catalog::CatalogPtr Reading::to_catalog(uint64_t version) const {
  auto catalog = std::make_shared<catalog::Catalog>(version);
  for (const auto& [rules, description] : tables) {
    catalog::Table table = description.table;
    table.name = rules->name;
    catalog->add(rules->schema, std::move(table));
  }
  return catalog;
}

bool Reading::same_tables(const Reading& other) const {
  return std::equal(
      tables.begin(), tables.end(), other.tables.begin(), other.tables.end(),
      [](const auto& a, const auto& b) { return a.first == b.first && a.second.table == b.second.table; });
}

CatalogReader::CatalogReader(rule::RuleSetPtr rules, backend::Settings backend, Accounts accounts)
    : rules_(std::move(rules)), databases_(group_by_database(*rules_)) {
  for (const backend::Instance& instance : backend.instances) {
    links_.push_back(std::make_unique<Link>(instance, accounts(instance.name), backend.connect_timeout));
  }
}

CatalogReader::~CatalogReader() = default;

void CatalogReader::connect_all(Reading& reading) {
  {
    // One instance that does not answer must not add its timeout to the others'.
    std::vector<std::jthread> threads;
    for (auto& each : links_) threads.emplace_back([&each] { each->learn(); });
  }
  for (const auto& each : links_) {
    if (each->reachable()) {
      reading.facts.push_back(*each->facts());
    } else {
      reading.findings.push_back(warning_finding(fmt::format("not reachable: {}", each->error().message)));
    }
  }
  if (reading.facts.empty()) {
    reading.findings.push_back(error_finding("no instance answers"));
    return;
  }
  compare_facts(reading.facts, reading.findings);
}

void CatalogReader::read_table(const LogicalTable& table, Reading& reading) {
  const auto slot = std::find_if(table.slots.begin(), table.slots.end(), [&](const ActualTable& actual) {
    return link(actual.instance).reachable();
  });
  const std::string name = table.schema + "." + table.name;
  if (slot == table.slots.end()) {
    reading.findings.push_back(error_finding(fmt::format("no instance that holds {} answers", name)));
    return;
  }
  Link& at = link(slot->instance);
  const std::string where = place_of(*slot, at.name());
  auto found = at.describe(slot->database, {slot->table});
  if (!found) {
    reading.findings.push_back(error_finding(fmt::format("{}: {}", where, found.error().message)));
    return;
  }
  const auto description = found->find(at.spelt(slot->table));
  if (description == found->end() || description->second.table.columns.empty()) {
    reading.findings.push_back(error_finding(
        fmt::format("{}, an actual table of {}, does not exist or the account may not see it", where, name)));
    return;
  }
  check_table(table, description->second, where, reading.findings);
  reading.tables.emplace(&table, std::move(description->second));
}

void CatalogReader::check_schema(const LogicalSchema& schema, Reading& reading) {
  Link& at = link(schema.default_instance);
  if (!at.reachable()) {
    reading.findings.push_back(warning_finding(
        fmt::format("schema {} could not be checked on its default instance {}", schema.name, at.name())));
    return;
  }
  auto rows = at.with_connection([&](Connection& connection) {
    return connection.query(fmt::format(
        "SELECT s.SCHEMA_NAME, t.TABLE_NAME FROM information_schema.SCHEMATA s LEFT JOIN "
        "information_schema.TABLES t ON t.TABLE_SCHEMA = s.SCHEMA_NAME AND t.TABLE_SCHEMA = {0} WHERE "
        "s.SCHEMA_NAME = {0}",
        quoted(at.spelt(schema.name))));
  });
  if (!rows) {
    reading.findings.push_back(
        error_finding(fmt::format("schema {}: {}", schema.name, rows.error().message)));
    return;
  }
  if (rows->empty()) {
    reading.findings.push_back(
        error_finding(fmt::format("the logical schema {0} does not exist as a database on its default "
                                  "instance {1}; what is not sharded lies "
                                  "there: CREATE DATABASE `{0}`",
                                  schema.name, at.name())));
    return;
  }
  std::set<std::string, rule::FoldedLess> logical;
  for (const auto& table : schema.tables) logical.insert(table->name);
  for (const Row& row : *rows) {
    if (!row[1] || logical.count(*row[1]) == 0) continue;
    reading.findings.push_back(
        error_finding(fmt::format("{}.{} on {} is a table with the name of a sharded table: statements that "
                                  "reached it would see its rows and not "
                                  "the sharded ones; rename or drop it",
                                  schema.name, *row[1], at.name())));
  }
}

void CatalogReader::take_accounts(const Accounts& accounts) {
  for (const auto& each : links_) each->take_account(accounts(each->name()));
}

Reading CatalogReader::read() {
  Reading reading;
  connect_all(reading);
  if (reading.facts.empty()) return reading;
  for (const LogicalSchema& schema : rules_->schemas()) {
    check_schema(schema, reading);
    for (const auto& table : schema.tables) read_table(*table, reading);
  }
  return reading;
}

void CatalogReader::verify(const DatabaseTables& database, const Reading& expected,
                           std::vector<Finding>& findings) {
  Link& at = link(database.instance);
  // An instance that was away at the last reading may have come back, and must fit.
  if (!at.reachable()) {
    at.learn();
    if (at.reachable()) compare_facts({expected.facts.front(), *at.facts()}, findings);
  }
  if (!at.reachable()) {
    findings.push_back(warning_finding(fmt::format("not reachable: {}", at.error().message)));
    return;
  }
  std::vector<std::string> names;
  for (const auto& [table, slot] : database.tables) names.push_back(table->slots[slot].table);
  auto found = at.describe(database.database, std::move(names));
  if (!found) {
    findings.push_back(warning_finding(fmt::format("database {} on {} could not be verified: {}",
                                                   database.database, at.name(), found.error().message)));
    return;
  }
  for (const auto& [table, slot] : database.tables) {
    const auto like = expected.tables.find(table);
    if (like == expected.tables.end()) continue;
    const std::string where = place_of(table->slots[slot], at.name());
    const auto actual = found->find(at.spelt(table->slots[slot].table));
    if (actual == found->end() || actual->second.table.columns.empty()) {
      findings.push_back(
          error_finding(fmt::format("{}, slot {} of {}.{}, does not exist or the account may not see it",
                                    where, slot, table->schema, table->name)));
    } else if (auto text = difference(like->second, actual->second); !text.empty()) {
      findings.push_back(error_finding(fmt::format("{} differs from the other tables of {}.{}: {}", where,
                                                   table->schema, table->name, text)));
    }
  }
}

}  // namespace evenkeel::control
