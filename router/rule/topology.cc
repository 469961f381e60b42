#include "router/rule/topology.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

#include "base/limits.h"
#include "router/rule/names.h"

namespace evenkeel::rule {
namespace {

using Layout = TopologySettings::Layout;
using Digit = TopologySettings::Digit;

// How many of each, on each level.
struct Shape {
  uint64_t instances = 0;
  uint64_t databases = 0;  // on each instance
  uint64_t tables = 0;     // in each database
  uint64_t slots() const { return instances * databases * tables; }
};

// Where a slot lies: the number of the instance, of the database on it, of the table within that.
struct Place {
  uint64_t instance = 0;
  uint64_t database = 0;
  uint64_t table = 0;
};

Error fault(std::string message) { return config_error(std::move(message)); }

Result<std::vector<InstanceId>> resolve_instances(const TopologySettings& topology,
                                                  std::span<const std::string> known) {
  if (topology.instances.empty()) return fail(fault("topology names no instance"));
  std::vector<InstanceId> ids;
  std::set<std::string> seen;
  for (const std::string& name : topology.instances) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      return fail(fault(
          fmt::format("topology names the instance \"{}\"; known are {}", name, fmt::join(known, ", "))));
    }
    if (!seen.insert(name).second) {
      return fail(fault(fmt::format("topology names the instance \"{}\" twice", name)));
    }
    ids.push_back(static_cast<InstanceId>(found - known.begin()));
  }
  return ids;
}

Status check_slots(uint64_t slots) {
  if (slots <= limits::slots_max) return {};
  return fail(fault(fmt::format("{} tables; at most {} are allowed", slots, limits::slots_max)));
}

// `whole` things shared out to `parts`: the message offers the nearest numbers that would do.
Status check_divisible(uint64_t whole, std::string_view things, uint64_t parts, std::string_view places) {
  if (whole % parts == 0) return {};
  const uint64_t above = (whole / parts + 1) * parts;
  const uint64_t below = whole / parts * parts;
  return fail(fault(fmt::format("{} {} cannot be shared evenly by {} {}; {}{} would do", whole, things, parts,
                                places, below == 0 ? "" : fmt::format("{} or ", below), above)));
}

Result<Shape> shape_of(const TopologySettings& topology) {
  if (topology.databases == 0 || topology.tables == 0) {
    return fail(fault("topology needs the numbers of databases and tables, both at least 1"));
  }
  Shape shape{topology.instances.size(), topology.databases, topology.tables};
  if (topology.layout == Layout::contiguous) {
    EVENKEEL_TRY(check_divisible(topology.databases, "databases", shape.instances, "instances"));
    EVENKEEL_TRY(check_divisible(topology.tables, "tables", topology.databases, "databases"));
    shape.databases = topology.databases / shape.instances;
    shape.tables = topology.tables / topology.databases;
  }
  // Each factor is below 2^32 and the number of instances below 2^16: only the last product could overflow.
  EVENKEEL_TRY(check_slots(shape.databases));
  EVENKEEL_TRY(check_slots(shape.tables));
  EVENKEEL_TRY(check_slots(shape.slots()));
  return shape;
}

Place place_of(uint64_t slot, const Shape& shape, const std::array<Digit, 3>& order) {
  Place place;
  for (auto digit = order.rbegin(); digit != order.rend(); ++digit) {
    switch (*digit) {
      case Digit::instance:
        place.instance = slot % shape.instances;
        slot /= shape.instances;
        break;
      case Digit::database:
        place.database = slot % shape.databases;
        slot /= shape.databases;
        break;
      case Digit::table:
        place.table = slot % shape.tables;
        slot /= shape.tables;
        break;
    }
  }
  return place;
}

struct Patterns {
  NamePattern database;
  NamePattern table;
};

Result<Patterns> patterns_of(const TopologySettings& topology) {
  EVENKEEL_ASSIGN(NamePattern database, NamePattern::parse(topology.database_pattern));
  EVENKEEL_ASSIGN(NamePattern table, NamePattern::parse(topology.table_pattern));
  return Patterns{std::move(database), std::move(table)};
}

bool is_permutation_of_digits(std::array<Digit, 3> order) {
  std::sort(order.begin(), order.end());
  return order == std::array<Digit, 3>{Digit::instance, Digit::database, Digit::table};
}

Result<std::vector<ActualTable>> expand_layout(const TopologySettings& topology, const Patterns& patterns,
                                               const std::vector<InstanceId>& instances) {
  if (!is_permutation_of_digits(topology.digit_order)) {
    return fail(fault("digit_order must name instance, database and table, each once"));
  }
  EVENKEEL_ASSIGN(const Shape shape, shape_of(topology));
  const bool global_databases = topology.database_number == TopologySettings::DatabaseNumber::global;
  const bool global_tables = topology.table_number == TopologySettings::TableNumber::global;
  const std::array<Digit, 3> most_significant_first = {Digit::instance, Digit::database, Digit::table};
  const auto& order = topology.layout == Layout::digits ? topology.digit_order : most_significant_first;
  std::vector<ActualTable> slots;
  slots.reserve(shape.slots());
  for (uint64_t slot = 0; slot < shape.slots(); ++slot) {
    const Place place = place_of(slot, shape, order);
    const uint64_t database_over_all = place.instance * shape.databases + place.database;
    const uint64_t table_over_all = database_over_all * shape.tables + place.table;
    slots.push_back({instances[place.instance],
                     patterns.database.format(global_databases ? database_over_all : place.database),
                     patterns.table.format(global_tables ? table_over_all : place.table)});
  }
  return slots;
}

// Three remainders of one number agree on nothing but what lcm(a, b, c) consecutive numbers show.
Result<std::vector<ActualTable>> expand_moduli(const TableSettings::Moduli& moduli, const Patterns& patterns,
                                               const std::vector<InstanceId>& instances) {
  if (moduli.instance != instances.size() || moduli.database == 0 || moduli.table == 0) {
    return fail(
        fault(fmt::format("moduli need instance: {} (the number of instances named), database and table, "
                          "all at least 1",
                          instances.size())));
  }
  EVENKEEL_TRY(check_slots(moduli.database));
  EVENKEEL_TRY(check_slots(moduli.table));
  const uint64_t all = uint64_t{moduli.instance} * moduli.database * moduli.table;
  const uint64_t period =
      std::lcm(std::lcm(uint64_t{moduli.instance}, uint64_t{moduli.database}), uint64_t{moduli.table});
  if (period < all) {
    return fail(
        fault(fmt::format("only {0} of {1} tables reachable: instance = key % {2}, database = key % {3} and "
                          "table = key % {4} repeat "
                          "together after {0} keys; write the digits of one number instead: slot = key % "
                          "{1}, instance = slot / {5}, "
                          "database = slot / {4} % {3}, table = slot % {4} (topology: {{layout: digits, "
                          "databases: {3}, tables: {4}}})",
                          period, all, moduli.instance, moduli.database, moduli.table,
                          uint64_t{moduli.database} * moduli.table)));
  }
  EVENKEEL_TRY(check_slots(period));
  std::vector<ActualTable> slots;
  slots.reserve(period);
  for (uint64_t slot = 0; slot < period; ++slot) {
    slots.push_back({instances[slot % moduli.instance], patterns.database.format(slot % moduli.database),
                     patterns.table.format(slot % moduli.table)});
  }
  return slots;
}

}  // namespace

Result<std::vector<ActualTable>> expand(const TableSettings& settings,
                                        std::span<const std::string> instances) {
  const TopologySettings& topology = settings.topology;
  EVENKEEL_ASSIGN(const std::vector<InstanceId> ids, resolve_instances(topology, instances));
  EVENKEEL_ASSIGN(const Patterns patterns, patterns_of(topology));
  if (settings.moduli.any()) return expand_moduli(settings.moduli, patterns, ids);
  return expand_layout(topology, patterns, ids);
}

}  // namespace evenkeel::rule
