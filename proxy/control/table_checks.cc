#include "proxy/control/table_checks.h"

#include <fmt/format.h>

#include "base/mysql/collation.h"
#include "router/rule/names.h"

namespace evenkeel::control {
namespace {

using catalog::Column;
using mysql::ColumnType;

std::string name_of(const rule::LogicalTable& rules) { return rules.schema + "." + rules.name; }

bool same_column(std::string_view a, std::string_view b) { return rule::fold_case(a) == rule::fold_case(b); }

// CHAR, VARCHAR, BINARY and VARBINARY: strings that keep what is put in.
bool is_plain_string(ColumnType type) { return type == ColumnType::string || type == ColumnType::varchar; }

// TIMESTAMP is none: what it stores depends on the session's time zone.
bool is_date(ColumnType type) { return type == ColumnType::date || type == ColumnType::datetime; }

std::string takes(const rule::Algorithm& algorithm) {
  std::string text = algorithm.accepts_integers() ? "integers" : "";
  for (const auto& [accepted, what] :
       {std::pair(algorithm.accepts_strings(), "CHAR, VARCHAR, BINARY and VARBINARY"),
        std::pair(algorithm.accepts_dates(), "DATE and DATETIME")})
    if (accepted) text += (text.empty() ? "" : ", ") + std::string(what);
  return text;
}

void check_sharding_column(const rule::LogicalTable& rules, const Column& column, const std::string& where,
                           std::vector<Finding>& findings) {
  const std::string what = fmt::format("the sharding column {} of {} is {} ({})", column.name, name_of(rules),
                                       column.type_text, where);
  if (column.generated) {
    findings.push_back(error_finding(what + ": a generated column cannot name the table"));
  } else if (is_plain_string(column.type) && rules.algorithm->accepts_strings()) {
    const mysql::Collation* collation = mysql::find_collation(column.collation);
    if (collation == nullptr || !collation->binary) {
      findings.push_back(
          error_finding(fmt::format("{} with the collation {}: texts that compare equal there could lie in "
                                    "different tables; use a _bin or "
                                    "binary collation",
                                    what, column.collation_name)));
    }
  } else if (!(is_integer(column.type) && rules.algorithm->accepts_integers()) &&
             !(is_date(column.type) && rules.algorithm->accepts_dates())) {
    findings.push_back(error_finding(
        fmt::format("{}: {} takes {}", what, rules.algorithm->name(), takes(*rules.algorithm))));
  }
  if (column.nullable) {
    findings.push_back(warning_finding(
        what + ": it may be NULL, but a row with NULL there belongs to no table and is refused"));
  }
}

void check_generated_column(const rule::LogicalTable& rules, const Column& column, const std::string& where,
                            std::vector<Finding>& findings) {
  if (column.type == ColumnType::longlong && !column.generated) return;
  findings.push_back(error_finding(fmt::format("the generated key {} of {} is {} ({}); ids need a BIGINT",
                                               column.name, name_of(rules), column.type_text, where)));
}

void check_unique_keys(const rule::LogicalTable& rules, const catalog::Table& table,
                       std::vector<Finding>& findings) {
  if (rules.accept_table_unique) return;
  for (const catalog::Key* key : catalog::unique_keys_without(table, rules.key_column)) {
    // Ids are unique over all tables by their making.
    const bool is_generated_key =
        key->parts.size() == 1 && !rules.generated_column.empty() && key->parts[0].prefix == 0 &&
        same_column(table.columns[key->parts[0].column].name, rules.generated_column);
    if (is_generated_key) continue;
    findings.push_back(
        error_finding(fmt::format("unique key {} of {} lacks the sharding column {}: it holds within one "
                                  "actual table only. Add the column to the "
                                  "key, or accept it with unique_scope: table",
                                  key->name, name_of(rules), rules.key_column)));
  }
}

// Counters of the server's own: each actual table would count by itself.
void check_auto_increment(const rule::LogicalTable& rules, const catalog::Table& table,
                          std::vector<Finding>& findings) {
  for (const Column& column : table.columns) {
    if (!column.auto_increment || same_column(column.name, rules.generated_column)) continue;
    findings.push_back(
        warning_finding(fmt::format("column {} of {} is AUTO_INCREMENT and has no generator: each actual "
                                    "table counts by itself, so values repeat",
                                    column.name, name_of(rules))));
  }
}

}  // namespace

void check_table(const rule::LogicalTable& rules, const Description& found, const std::string& where,
                 std::vector<Finding>& findings) {
  const catalog::Table& table = found.table;
  if (found.is_view) {
    findings.push_back(error_finding(
        fmt::format("{} of {} is a view; sharded tables must be base tables", where, name_of(rules))));
    return;
  }
  for (const std::string& column : found.invisible_columns) {
    findings.push_back(
        error_finding(fmt::format("column {} of {} is invisible ({}): that is not supported in a sharded "
                                  "table",
                                  column, name_of(rules), where)));
  }
  if (!found.transactional) {
    findings.push_back(
        warning_finding(fmt::format("{} of {} has the engine {}: what was written there cannot be rolled "
                                    "back",
                                    where, name_of(rules), found.engine)));
  }
  for (const std::string* wanted : {&rules.key_column, &rules.generated_column}) {
    const bool generated = wanted == &rules.generated_column;
    if (wanted->empty()) continue;
    const Column* column = table.find_column(*wanted);
    if (column == nullptr) {
      findings.push_back(error_finding(fmt::format("the {} {} of {} does not exist in {}",
                                                   generated ? "generated key" : "sharding column", *wanted,
                                                   name_of(rules), where)));
    } else if (generated) {
      check_generated_column(rules, *column, where, findings);
    } else {
      check_sharding_column(rules, *column, where, findings);
    }
  }
  check_unique_keys(rules, table, findings);
  check_auto_increment(rules, table, findings);
}

}  // namespace evenkeel::control
