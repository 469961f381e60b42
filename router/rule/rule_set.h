// Which logical tables exist, how they are sharded, and where each actual table lies.
//
// A RuleSet is an immutable value, built once by `build` (config/ fills the settings) and shared by all
// threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/rule/algorithm.h"
#include "router/rule/names.h"
#include "router/rule/settings.h"

namespace evenkeel::rule {

using InstanceId = uint16_t;  // index into RuleSet::instances()

// The physical table behind one slot.
struct ActualTable {
  InstanceId instance = 0;
  std::string database;
  std::string table;
  bool operator==(const ActualTable&) const = default;
};

struct LogicalTable {
  std::string schema;
  std::string name;
  std::string key_column;                      // the sharding column
  std::shared_ptr<const Algorithm> algorithm;  // value -> slot
  std::vector<ActualTable> slots;              // by slot number
  std::string generated_column;                // the column that the proxy fills; empty: none
  std::string generator;                       // name of the key generator in the configuration
  GeneSettings gene;  // what the generated key carries, where it is not the key column
  // gene.routes: slot of a generated key; null otherwise.
  std::shared_ptr<const Algorithm> gene_algorithm;
  bool accept_table_unique = false;  // unique_scope: table
  // Tables of one binding group have the same slots count, algorithm and instance/database per slot; 0: none.
  uint32_t binding_group = 0;

  bool key_is_generated() const { return !generated_column.empty() && generated_column == key_column; }
  uint32_t slot_count() const { return static_cast<uint32_t>(slots.size()); }
};

struct LogicalSchema {
  std::string name;  // also a physical database of this name on the default instance
  InstanceId default_instance = 0;
  std::vector<std::shared_ptr<const LogicalTable>> tables;
};

class RuleSet {
 public:
  // Validates: names, slot counts, actual tables not named twice, every slot reachable (simulated over one
  // period of the algorithm; cases of unreachable tables are refused with the reason).
  // Of a configuration that describes no proxy: no instance, no schema.
  static std::shared_ptr<const RuleSet> none() { return std::shared_ptr<const RuleSet>(new RuleSet()); }
  static Result<std::shared_ptr<const RuleSet>> build(const Settings& settings);

  const std::vector<std::string>& instances() const { return instances_; }
  const std::vector<LogicalSchema>& schemas() const { return schemas_; }
  // Names are compared without regard to the case of ASCII letters, whatever the instances'
  // lower_case_table_names: two sharded tables may not differ in letter case alone. Null when unknown. The
  // pointers live as long as the set.
  const LogicalSchema* find_schema(std::string_view schema) const;
  const LogicalTable* find_table(std::string_view schema, std::string_view table) const;

 private:
  struct SchemaIndex {
    size_t position = 0;  // in schemas_
    std::map<std::string, const LogicalTable*, FoldedLess> tables;
  };

  RuleSet() = default;

  std::vector<std::string> instances_;
  std::vector<LogicalSchema> schemas_;
  std::map<std::string, SchemaIndex, FoldedLess> index_;
};

using RuleSetPtr = std::shared_ptr<const RuleSet>;

}  // namespace evenkeel::rule
