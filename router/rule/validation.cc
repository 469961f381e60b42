#include "router/rule/validation.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "router/rule/names.h"
#include "router/rule/residues.h"

namespace evenkeel::rule {
namespace {

constexpr size_t faults_shown_max = 20;

std::string full_name(const LogicalTable& table) { return table.schema + "." + table.name; }

using ActualKey = std::tuple<InstanceId, std::string, std::string>;
ActualKey folded(const ActualTable& actual) {
  return {actual.instance, fold_case(actual.database), fold_case(actual.table)};
}

// Calls `visit(table, settings of it)` for every table, in the order of the configuration.
template <typename Visit>
void for_each_table(const std::vector<LogicalSchema>& schemas, const Settings& settings, Visit visit) {
  for (size_t i = 0; i < schemas.size(); ++i) {
    for (size_t j = 0; j < schemas[i].tables.size(); ++j) {
      visit(schemas[i], *schemas[i].tables[j], settings.schemas[i].tables[j]);
    }
  }
}

std::string binding_difference(const LogicalTable& first, const LogicalTable& other) {
  if (first.slot_count() != other.slot_count()) {
    return fmt::format("has {} tables, the other {}", other.slot_count(), first.slot_count());
  }
  if (first.algorithm->description() != other.algorithm->description()) {
    return fmt::format("is sharded by {}, the other by {}", other.algorithm->description(),
                       first.algorithm->description());
  }
  for (Slot slot = 0; slot < first.slot_count(); ++slot) {
    const ActualTable& a = first.slots[slot];
    const ActualTable& b = other.slots[slot];
    if (a.instance != b.instance || a.database != b.database) {
      return fmt::format("has slot {} in database {}, the other in {}{}", slot, b.database, a.database,
                         a.instance != b.instance ? " of another instance" : "");
    }
  }
  return {};
}

}  // namespace

void Faults::add(const std::string& where, const std::string& message) {
  lines_.push_back(where.empty() ? message : where + ": " + message);
}

Error Faults::to_error() const {
  std::string text;
  for (size_t i = 0; i < lines_.size() && i < faults_shown_max; ++i) {
    if (i > 0) text += '\n';
    text += lines_[i];
  }
  if (lines_.size() > faults_shown_max)
    text += fmt::format("\nand {} more", lines_.size() - faults_shown_max);
  return config_error(std::move(text));
}

void check_table_settings(const TableSettings& table, Faults& faults) {
  if (auto why = name_fault(table.name); !why.empty()) {
    faults.add(table.where, fmt::format("table \"{}\": {}", table.name, why));
  }
  if (auto why = name_fault(table.key); !why.empty()) {
    faults.add(table.where,
               fmt::format("sharding column \"{}\" of table \"{}\": {}", table.key, table.name, why));
  }
  if (!table.generated_column.empty() && table.generator.empty()) {
    faults.add(table.where, fmt::format("generated key of table \"{}\" names no generator", table.name));
  }
}

void check_reachable(const LogicalTable& table, const TableSettings& settings, Faults& faults) {
  const std::vector<Slot> missing = unreachable_slots(*table.algorithm);
  if (missing.empty()) return;
  const size_t reached = table.slot_count() - missing.size();
  faults.add(
      settings.where,
      fmt::format("only {} of {} tables of \"{}\" reachable by {}: no key gives slot {}{}", reached,
                  table.slot_count(), table.name, table.algorithm->name(),
                  fmt::join(missing.begin(), missing.begin() + std::min<ptrdiff_t>(missing.size(), 8), ", "),
                  missing.size() > 8 ? ", …" : ""));
}

void check_actual_tables(const std::vector<LogicalSchema>& schemas, const Settings& settings,
                         const std::vector<std::string>& instances, Faults& faults) {
  // A logical table's own name in its logical schema on the default instance: rows there would answer for
  // what slips through unrewritten.
  std::map<ActualKey, std::string> kept_free;
  for_each_table(
      schemas, settings, [&](const LogicalSchema& schema, const LogicalTable& table, const TableSettings&) {
        kept_free.emplace(folded({schema.default_instance, schema.name, table.name}), full_name(table));
      });
  std::map<ActualKey, std::pair<const LogicalTable*, Slot>> owners;
  for_each_table(
      schemas, settings, [&](const LogicalSchema&, const LogicalTable& table, const TableSettings& from) {
        for (Slot slot = 0; slot < table.slot_count(); ++slot) {
          const ActualTable& actual = table.slots[slot];
          const auto [owner, added] = owners.emplace(folded(actual), std::pair(&table, slot));
          if (!added) {
            faults.add(
                from.where,
                fmt::format("actual table {}.{} on {} stands for slot {} of {} and for slot {} of {}",
                            actual.database, actual.table, instances[actual.instance], owner->second.second,
                            full_name(*owner->second.first), slot, full_name(table)));
            return;
          }
          if (auto reserved = kept_free.find(folded(actual)); reserved != kept_free.end()) {
            faults.add(
                from.where,
                fmt::format(
                    "actual table {}.{} on {} has the name of the logical table {} in the logical schema "
                    "itself; give it another table_pattern or database_pattern",
                    actual.database, actual.table, instances[actual.instance], reserved->second));
            return;
          }
        }
      });
}

void check_bindings(const std::vector<LogicalSchema>& schemas, const Settings& settings, Faults& faults) {
  std::map<std::string, const LogicalTable*> first_of;
  for_each_table(
      schemas, settings, [&](const LogicalSchema&, const LogicalTable& table, const TableSettings& from) {
        if (from.binding.empty()) return;
        const auto [first, added] = first_of.emplace(from.binding, &table);
        if (added) return;
        if (auto difference = binding_difference(*first->second, table); !difference.empty()) {
          faults.add(
              from.where,
              fmt::format(
                  "table {} is bound to {} (binding \"{}\") but {}; bound tables must have the same number "
                  "of tables, algorithm, instances and databases",
                  full_name(table), full_name(*first->second), from.binding, difference));
        }
      });
}

}  // namespace evenkeel::rule
