#include <fmt/format.h>

#include "router/plan/plan.h"

namespace evenkeel::plan {
namespace {

std::string_view to_string(PlanKind kind) {
  switch (kind) {
    case PlanKind::local:
      return "local";
    case PlanKind::forward:
      return "forward";
    case PlanKind::one_slot:
      return "one slot";
    case PlanKind::scatter:
      return "scatter";
    case PlanKind::write:
      return "write";
    case PlanKind::none:
      return "none";
  }
  return "unknown";
}

std::string_view to_string(merge::Comparison comparison) {
  switch (comparison) {
    case merge::Comparison::signed_integer:
      return "signed";
    case merge::Comparison::unsigned_integer:
      return "unsigned";
    case merge::Comparison::decimal:
      return "decimal";
    case merge::Comparison::real:
      return "real";
    case merge::Comparison::temporal:
      return "temporal";
    case merge::Comparison::bytes:
      return "bytes";
    case merge::Comparison::padded_bytes:
      return "padded bytes";
  }
  return "unknown";
}

// "1, 2, 5-9"
std::string slots_text(const std::vector<rule::Slot>& slots) {
  std::string out;
  for (size_t i = 0; i < slots.size();) {
    size_t end = i + 1;
    while (end < slots.size() && slots[end] == slots[end - 1] + 1) ++end;
    if (!out.empty()) out += ", ";
    out += end - i > 2 ? fmt::format("{}-{}", slots[i], slots[end - 1]) : fmt::format("{}", slots[i]);
    i = end - i > 2 ? end : i + 1;
  }
  return out;
}

std::string keys_text(const std::vector<merge::SortKey>& keys) {
  std::string out;
  for (const merge::SortKey& key : keys) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{}{} ({})", key.column + 1, key.descending ? " desc" : "", to_string(key.comparison));
  }
  return out;
}

std::string output_text(const merge::OutputColumn& output) {
  using What = merge::OutputColumn::What;
  switch (output.what) {
    case What::first:
      return fmt::format("first {}", output.column + 1);
    case What::count:
      return fmt::format("count {}", output.column + 1);
    case What::sum:
      return fmt::format("sum {}", output.column + 1);
    case What::min:
      return fmt::format("min {} ({})", output.column + 1, to_string(output.comparison));
    case What::max:
      return fmt::format("max {} ({})", output.column + 1, to_string(output.comparison));
    case What::avg:
      return fmt::format("avg {}/{}", output.column + 1, output.count_column + 1);
  }
  return {};
}

std::string merge_text(const merge::Spec& spec) {
  std::string out;
  switch (spec.how) {
    case merge::How::pass:
      out = "pass";
      break;
    case merge::How::concat:
      out = "concat";
      break;
    case merge::How::ordered:
      out = "ordered by " + keys_text(spec.order);
      break;
    case merge::How::grouped:
      out = spec.group.empty() ? std::string("one row") : "grouped by " + keys_text(spec.group);
      for (size_t i = 0; i < spec.outputs.size(); ++i) {
        out += (i == 0 ? ": " : ", ") + output_text(spec.outputs[i]);
      }
      break;
  }
  if (spec.visible_columns != 0) out += fmt::format("; {} columns shown", spec.visible_columns);
  if (spec.offset != 0) out += fmt::format("; offset {}", spec.offset);
  if (spec.limit) out += fmt::format("; limit {}", *spec.limit);
  return out;
}

void append_unit(const ExecutionUnit& unit, const rule::RuleSet& rules, std::string& out) {
  const auto& instances = rules.instances();
  out += fmt::format("unit: {}", unit.instance < instances.size() ? instances[unit.instance] : "?");
  if (!unit.slots.empty()) {
    out += fmt::format(" slot{} {}", unit.slots.size() > 1 ? "s" : "", slots_text(unit.slots));
  }
  out += fmt::format("\n  {}\n", unit.sql);
  if (!unit.database.empty()) out += fmt::format("  with a current database: {}\n", unit.database);
  if (unit.parameters.empty()) return;
  out += "  parameters:";
  for (const uint32_t parameter : unit.parameters) out += fmt::format(" {}", parameter);
  out += '\n';
}

}  // namespace

std::string_view to_string(RouteReason reason) {
  switch (reason) {
    case RouteReason::not_sharded:
      return "not sharded";
    case RouteReason::key_equality:
      return "key equality";
    case RouteReason::key_list:
      return "key list";
    case RouteReason::insert_values:
      return "insert values";
    case RouteReason::generated_key:
      return "generated key";
    case RouteReason::no_condition:
      return "no condition on the key";
    case RouteReason::not_exact:
      return "condition on the key is not exact";
    case RouteReason::impossible:
      return "no row can match";
  }
  return "unknown";
}

std::string to_text(const Plan& plan, const rule::RuleSet& rules) {
  std::string out = fmt::format("plan: {}, {}\n", to_string(plan.kind), to_string(plan.reason));
  std::string facts;
  const auto add = [&](bool holds, std::string_view word) {
    if (holds) facts += fmt::format("{}{}", facts.empty() ? "" : ", ", word);
  };
  add(plan.writes, "writes");
  add(plan.atomic, "atomic");
  add(plan.returns_rows, "returns rows");
  add(plan.changes_catalog, "changes catalog");
  add(plan.calc_found_rows, "found rows asked of the server");
  add(plan.backend_sets_last_insert_id, "server sets last insert id");
  if (!facts.empty()) out += fmt::format("facts: {}\n", facts);
  if (!plan.pin_reason.empty()) out += fmt::format("pin: {}\n", plan.pin_reason);
  if (plan.generated != 0)
    out += fmt::format("generated: {} from {}\n", plan.generated, plan.first_generated);
  if (plan.explicit_insert_id != 0) out += fmt::format("insert id: {}\n", plan.explicit_insert_id);
  if (plan.set_last_insert_id) out += fmt::format("last insert id: {}\n", *plan.set_last_insert_id);
  for (size_t i = 0; i < plan.local_columns.size(); ++i) {
    out += fmt::format("column: {} = {}\n", plan.local_columns[i], mysql::to_string(plan.local_row[i]));
  }
  for (const ExecutionUnit& unit : plan.units) append_unit(unit, rules, out);
  for (size_t i = 0; i < plan.extra_parameters.size(); ++i) {
    out += fmt::format("extra parameter {}: {}\n", i, mysql::to_string(plan.extra_parameters[i]));
  }
  if (plan.kind == PlanKind::scatter) out += fmt::format("merge: {}\n", merge_text(plan.merge));
  if (!plan.metadata_sql.empty()) out += fmt::format("metadata: {}\n", plan.metadata_sql);
  for (const NameRestore& name : plan.restore) {
    out += fmt::format("names: {} -> {}.{}\n", name.actual_tables.empty() ? "" : name.actual_tables.front(),
                       name.schema, name.table);
  }
  for (const CellRestore& cell : plan.cells) {
    out += fmt::format("cell {}: {} -> {}\n", cell.column + 1, cell.from, cell.to);
  }
  return out;
}

}  // namespace evenkeel::plan
