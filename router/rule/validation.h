// What a rule set must satisfy beyond each part being right by itself.
#pragma once

#include <string>
#include <vector>

#include "router/rule/rule_set.h"
#include "router/rule/settings.h"

namespace evenkeel::rule {

// Problems found, each with the place it was found at in front. Many are collected, so that one start shows
// all.
class Faults {
 public:
  void add(const std::string& where, const std::string& message);
  bool empty() const { return lines_.empty(); }
  // One problem a line.
  Error to_error() const;

 private:
  std::vector<std::string> lines_;
};

// The settings of one table, before it is expanded: names, generator.
void check_table_settings(const TableSettings& table, Faults& faults);
// Every slot reached by some key, counted over one period of the algorithm.
void check_reachable(const LogicalTable& table, const TableSettings& settings, Faults& faults);
// No actual table stands behind two slots, of one logical table or of two, and none has a logical table's
// name in the logical schema itself.
void check_actual_tables(const std::vector<LogicalSchema>& schemas, const Settings& settings,
                         const std::vector<std::string>& instances, Faults& faults);
// Tables of one binding group are sharded alike.
void check_bindings(const std::vector<LogicalSchema>& schemas, const Settings& settings, Faults& faults);

}  // namespace evenkeel::rule
