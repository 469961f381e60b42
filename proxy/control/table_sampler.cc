#include "proxy/control/table_sampler.h"

#include <charconv>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/mysql/error_codes.h"
#include "router/rule/names.h"
#include "router/sql/literal.h"

namespace evenkeel::control {
namespace {

uint64_t number_in(const Cell& cell) {
  uint64_t value = 0;
  if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), value);
  return value;
}

// By folded names: an instance with lower_case_table_names spells them in its own way.
std::string key_of(const std::string& database, const std::string& table) {
  return rule::fold_case(database) + "\n" + rule::fold_case(table);
}

}  // namespace

TableSampler::TableSampler(rule::RuleSetPtr rules, backend::Settings backend, Accounts accounts)
    : rules_(std::move(rules)), connect_timeout_(backend.connect_timeout) {
  for (const backend::Instance& instance : backend.instances)
    links_.push_back({instance, accounts(instance.name), std::nullopt, true});
}

TableSampler::~TableSampler() = default;

void TableSampler::take_accounts(const Accounts& accounts) {
  for (Link& link : links_) link.account = accounts(link.instance.name);
}

Result<std::vector<Row>> TableSampler::query(Link& link, const std::string& sql) {
  // A connection that lay idle may have been closed by the instance: one more try on a new one.
  for (;;) {
    const bool fresh = !link.connection;
    if (fresh) {
      EVENKEEL_ASSIGN(Connection opened, Connection::open(link.instance, link.account, connect_timeout_));
      link.connection.emplace(std::move(opened));
    }
    auto rows = link.connection->query(sql);
    if (rows) return rows;
    // The server's own errors leave the connection whole.
    const bool lost = rows.error().code >= 2000 && rows.error().code < 3000;
    if (!lost) return rows;
    link.connection.reset();
    if (fresh) return rows;
  }
}

Result<uint64_t> TableSampler::count(const rule::LogicalTable& table, rule::Slot slot) {
  const rule::ActualTable& actual = table.slots[slot];
  std::string name;
  sql::append_identifier(actual.database, name);
  name += '.';
  sql::append_identifier(actual.table, name);
  EVENKEEL_ASSIGN(const auto rows, query(links_[actual.instance], "SELECT COUNT(*) FROM " + name));
  if (rows.size() != 1 || rows[0].size() != 1) return fail(internal_error("COUNT(*) without one row"));
  return number_in(rows[0][0]);
}

Result<std::vector<Row>> TableSampler::read_estimates(Link& link, const std::string& databases) {
  if (link.may_read_statistics) {
    auto rows = query(link, fmt::format("SELECT database_name, table_name, n_rows, (clustered_index_size + "
                                        "sum_of_other_index_sizes) * @@innodb_page_size FROM "
                                        "mysql.innodb_table_stats WHERE database_name IN ({})",
                                        databases));
    if (rows && !rows->empty()) return rows;
    if (!rows && !link.connection) return rows;
    link.may_read_statistics = false;
  }
  if (!link.connection) {
    EVENKEEL_ASSIGN(Connection opened, Connection::open(link.instance, link.account, connect_timeout_));
    link.connection.emplace(std::move(opened));
  }
  // MariaDB does not know the variable (its error is expected) and does not keep the figures.
  (void)link.connection->execute("SET SESSION information_schema_stats_expiry = 0");
  return query(link,
               fmt::format("SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS, DATA_LENGTH + INDEX_LENGTH FROM "
                           "information_schema.TABLES WHERE TABLE_SCHEMA IN ({})",
                           databases));
}

Result<std::vector<TableEstimate>> TableSampler::estimates(rule::InstanceId instance) {
  std::map<std::string, TableEstimate> wanted;
  std::set<std::string> names;
  for (const auto& schema : rules_->schemas()) {
    for (const auto& table : schema.tables) {
      for (rule::Slot slot = 0; slot < table->slot_count(); ++slot) {
        const rule::ActualTable& actual = table->slots[slot];
        if (actual.instance != instance) continue;
        wanted[key_of(actual.database, actual.table)] = {table.get(), slot, 0, 0};
        names.insert(actual.database);
      }
    }
  }
  std::vector<TableEstimate> found;
  if (wanted.empty()) return found;
  std::string databases;
  for (const std::string& name : names) databases += (databases.empty() ? "" : ", ") + quoted(name);
  EVENKEEL_ASSIGN(const auto rows, read_estimates(links_[instance], databases));
  for (const Row& row : rows) {
    if (row.size() != 4 || !row[0] || !row[1]) continue;
    const auto known = wanted.find(key_of(*row[0], *row[1]));
    if (known == wanted.end()) continue;
    found.push_back(known->second);
    found.back().rows = number_in(row[2]);
    found.back().bytes = number_in(row[3]);
  }
  return found;
}

}  // namespace evenkeel::control
