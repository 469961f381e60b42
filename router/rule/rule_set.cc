#include "router/rule/rule_set.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "router/rule/topology.h"
#include "router/rule/validation.h"

namespace evenkeel::rule {
namespace {

constexpr std::array<std::string_view, 4> system_schemas = {"information_schema", "mysql",
                                                            "performance_schema", "sys"};

// The table as far as it can be made; its own problems go to `faults`. Null when it has none to offer.
std::shared_ptr<LogicalTable> make_table(const std::string& schema, const TableSettings& settings,
                                         std::span<const std::string> instances, Faults& faults) {
  check_table_settings(settings, faults);
  auto slots = expand(settings, instances);
  if (!slots) {
    faults.add(settings.where, fmt::format("table \"{}\": {}", settings.name, slots.error().message));
    return nullptr;
  }
  for (const ActualTable& actual : *slots) {
    for (const std::string& name : {actual.database, actual.table}) {
      auto why = name_fault(name);
      if (why.empty()) continue;
      faults.add(settings.where,
                 fmt::format("table \"{}\": actual name \"{}\": {}", settings.name, name, why));
      return nullptr;
    }
  }
  auto algorithm =
      make_algorithm(settings.algorithm, static_cast<uint32_t>(slots->size()), settings.algorithm_parameters);
  if (!algorithm) {
    faults.add(settings.where, fmt::format("table \"{}\": {}", settings.name, algorithm.error().message));
    return nullptr;
  }
  auto table = std::make_shared<LogicalTable>();
  table->schema = schema;
  table->name = settings.name;
  table->key_column = settings.key;
  table->algorithm = std::move(*algorithm);
  table->slots = std::move(*slots);
  table->generated_column = settings.generated_column;
  table->generator = settings.generator;
  table->gene = settings.gene;
  if (table->gene.routes) {
    // A key that carries its gene has the number of the slot as its remainder, whatever the algorithm.
    auto by_gene = make_algorithm("mod", table->slot_count(), {});
    if (!by_gene) {
      faults.add(settings.where, by_gene.error().message);
      return nullptr;
    }
    table->gene_algorithm = std::move(*by_gene);
  }
  table->accept_table_unique = settings.unique_scope_table;
  check_reachable(*table, settings, faults);
  return table;
}

void check_instances(const std::vector<std::string>& instances, Faults& faults) {
  if (instances.empty()) faults.add("", "no instance is configured");
  if (instances.size() > UINT16_MAX) faults.add("", fmt::format("more than {} instances", UINT16_MAX));
  std::set<std::string> seen;
  for (const std::string& name : instances) {
    if (name.empty()) faults.add("", "an instance has an empty name");
    if (!seen.insert(name).second) faults.add("", fmt::format("instance \"{}\" is configured twice", name));
  }
}

LogicalSchema make_schema(const SchemaSettings& settings, const std::vector<std::string>& instances,
                          Faults& faults) {
  LogicalSchema schema;
  schema.name = settings.name;
  if (auto why = name_fault(settings.name); !why.empty()) {
    faults.add(settings.where, fmt::format("schema \"{}\": {}", settings.name, why));
  }
  if (std::find(system_schemas.begin(), system_schemas.end(), fold_case(settings.name)) !=
      system_schemas.end()) {
    faults.add(settings.where, fmt::format("schema \"{}\" belongs to the server itself", settings.name));
  }
  const auto found = std::find(instances.begin(), instances.end(), settings.default_instance);
  if (found == instances.end()) {
    faults.add(settings.where,
               fmt::format("default instance \"{}\" of schema \"{}\" is unknown; known are {}",
                           settings.default_instance, settings.name, fmt::join(instances, ", ")));
  } else {
    schema.default_instance = static_cast<InstanceId>(found - instances.begin());
  }
  return schema;
}

// Numbers from 1 in the order in which names first occur; 0 for no name.
class BindingNumbers {
 public:
  uint32_t of(const std::string& name) {
    if (name.empty()) return 0;
    return numbers_.emplace(name, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
  }

 private:
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace

Result<std::shared_ptr<const RuleSet>> RuleSet::build(const Settings& settings) {
  Faults faults;
  std::shared_ptr<RuleSet> rules(new RuleSet());
  rules->instances_ = settings.instances;
  check_instances(settings.instances, faults);
  BindingNumbers bindings;
  for (const SchemaSettings& from : settings.schemas) {
    LogicalSchema schema = make_schema(from, settings.instances, faults);
    const auto [index, new_schema] =
        rules->index_.emplace(from.name, SchemaIndex{rules->schemas_.size(), {}});
    if (!new_schema) {
      faults.add(from.where,
                 fmt::format("schema \"{}\" and schema \"{}\" have one name (letter case does not count)",
                             from.name, index->first));
    }
    for (const TableSettings& table_settings : from.tables) {
      auto table = make_table(from.name, table_settings, settings.instances, faults);
      if (table == nullptr) continue;
      table->binding_group = bindings.of(table_settings.binding);
      const auto [other, new_table] = index->second.tables.emplace(table->name, table.get());
      if (!new_table) {
        faults.add(
            table_settings.where,
            fmt::format("table \"{}\" and table \"{}\" of schema \"{}\" have one name (letter case does not "
                        "count)",
                        table->name, other->first, from.name));
      }
      schema.tables.push_back(std::move(table));
    }
    rules->schemas_.push_back(std::move(schema));
  }
  // The rest looks across tables and wants each of them whole.
  if (!faults.empty()) return fail(faults.to_error());
  check_actual_tables(rules->schemas_, settings, rules->instances_, faults);
  check_bindings(rules->schemas_, settings, faults);
  if (!faults.empty()) return fail(faults.to_error());
  return rules;
}

const LogicalSchema* RuleSet::find_schema(std::string_view schema) const {
  const auto found = index_.find(schema);
  return found == index_.end() ? nullptr : &schemas_[found->second.position];
}

const LogicalTable* RuleSet::find_table(std::string_view schema, std::string_view table) const {
  const auto in = index_.find(schema);
  if (in == index_.end()) return nullptr;
  const auto found = in->second.tables.find(table);
  return found == in->second.tables.end() ? nullptr : found->second;
}

}  // namespace evenkeel::rule
