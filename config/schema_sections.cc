#include <algorithm>
#include <fmt/format.h>

#include "base/limits.h"
#include "config/sections.h"

namespace evenkeel::config {
namespace {

using rule::SchemaSettings;
using rule::TableSettings;
using rule::TopologySettings;
using Digit = TopologySettings::Digit;

const Choices<Digit>& digit_choices() {
  static const Choices<Digit> choices = {
      {"instance", Digit::instance}, {"database", Digit::database}, {"table", Digit::table}};
  return choices;
}

void read_digit_order(const Place& place, TableSettings& out) {
  auto& order = out.topology.digit_order;
  if (place.node().kind != Node::Kind::list || place.node().items.size() != order.size()) {
    return place.expected("instance, database and table as a list, the most significant digit first");
  }
  for (size_t i = 0; i < order.size(); ++i) read_choice(place.item(i), order[i], digit_choices());
}

void read_generator_name(const Place& place, TableSettings& out) {
  read(place, out.generator);
  const auto& known = place.reading().generators;
  if (!out.generator.empty() && std::find(known.begin(), known.end(), out.generator) == known.end()) {
    place.fault(fmt::format("no generator has the name {}; {}", out.generator,
                            known.empty() ? "none is configured" : "known are " + join_names(known)));
  }
}

void check_table(const Place& place, TableSettings& table) {
  table.where = place.where();
  // All instances, where a topology names none: what a configuration of one table family wants.
  if (table.topology.instances.empty()) table.topology.instances = place.reading().instances;
  if (table.moduli.any() && (table.topology.databases != 0 || table.topology.tables != 0)) {
    place.fault("topology: databases and tables are not used with moduli");
  }
  if (!table.generator.empty() && table.generated_column.empty()) table.generated_column = table.key;
  if (table.gene != rule::GeneSettings{} && table.generated_column == table.key) {
    place.fault(
        "generated_key.gene: the generated key is the sharding column itself, so it names the table already");
  }
  if (table.gene.modulus != 0 && table.algorithm != "mod") {
    place.fault(
        fmt::format("generated_key.gene.modulus: only with the algorithm mod do keys have a remainder beyond "
                    "their table; "
                    "with {} the key carries the number of the table",
                    table.algorithm));
  }
}

}  // namespace

const Section<TableSettings::Moduli>& moduli_section() {
  using Moduli = TableSettings::Moduli;
  static const Section<Moduli> section = {
      "moduli",
      {
          {"instance",
           [](const Place& place, Moduli& out) { read_number(place, out.instance, 1, limits::slots_max); },
           true},
          {"database",
           [](const Place& place, Moduli& out) { read_number(place, out.database, 1, limits::slots_max); },
           true},
          {"table",
           [](const Place& place, Moduli& out) { read_number(place, out.table, 1, limits::slots_max); },
           true},
      }};
  return section;
}

const Section<TableSettings>& topology_section() {
  using Layout = TopologySettings::Layout;
  using DatabaseNumber = TopologySettings::DatabaseNumber;
  using TableNumber = TopologySettings::TableNumber;
  static const Section<TableSettings> section = {
      "topology",
      {
          {"instances", [](const Place& place, TableSettings& out) { read(place, out.topology.instances); }},
          {"layout",
           [](const Place& place, TableSettings& out) {
             read_choice<Layout>(place, out.topology.layout,
                                 {{"contiguous", Layout::contiguous}, {"digits", Layout::digits}});
           }},
          {"digit_order", read_digit_order},
          {"databases",
           [](const Place& place, TableSettings& out) {
             read_number(place, out.topology.databases, 1, limits::slots_max);
           }},
          {"tables",
           [](const Place& place, TableSettings& out) {
             read_number(place, out.topology.tables, 1, limits::slots_max);
           }},
          {"moduli",
           [](const Place& place, TableSettings& out) { read_section(place, moduli_section(), out.moduli); }},
          {"database_pattern",
           [](const Place& place, TableSettings& out) { read(place, out.topology.database_pattern); }, true},
          {"table_pattern",
           [](const Place& place, TableSettings& out) { read(place, out.topology.table_pattern); }, true},
          {"database_number",
           [](const Place& place, TableSettings& out) {
             read_choice<DatabaseNumber>(
                 place, out.topology.database_number,
                 {{"global", DatabaseNumber::global}, {"within_instance", DatabaseNumber::within_instance}});
           }},
          {"table_number",
           [](const Place& place, TableSettings& out) {
             read_choice<TableNumber>(
                 place, out.topology.table_number,
                 {{"global", TableNumber::global}, {"within_database", TableNumber::within_database}});
           }},
      }};
  return section;
}

const Section<TableSettings>& generated_key_section() {
  static const Section<TableSettings> section = {
      "generated_key",
      {
          {"generator", read_generator_name, true},
          {"column", [](const Place& place, TableSettings& out) { read(place, out.generated_column); }},
          {"gene", read_gene},
      }};
  return section;
}

const Section<TableSettings>& table_section() {
  static const Section<TableSettings> section = {
      "table",
      {
          {"name", [](const Place& place, TableSettings& out) { read(place, out.name); }, true},
          {"key", [](const Place& place, TableSettings& out) { read(place, out.key); }, true},
          {"algorithm", read_algorithm},
          {"topology",
           [](const Place& place, TableSettings& out) { read_section(place, topology_section(), out); },
           true},
          {"generated_key",
           [](const Place& place, TableSettings& out) { read_section(place, generated_key_section(), out); }},
          {"unique_scope",
           [](const Place& place, TableSettings& out) {
             read_choice<bool>(place, out.unique_scope_table, {{"all", false}, {"table", true}});
           }},
          {"binding", [](const Place& place, TableSettings& out) { read(place, out.binding); }},
      }};
  return section;
}

const Section<SchemaSettings>& schema_section() {
  static const Section<SchemaSettings> section = {
      "schema",
      {
          {"name", [](const Place& place, SchemaSettings& out) { read(place, out.name); }, true},
          {"default_instance",
           [](const Place& place, SchemaSettings& out) { read(place, out.default_instance); }, true},
          {"tables", [](const Place& place,
                        SchemaSettings& out) { read_list(place, table_section(), out.tables, check_table); }},
      }};
  return section;
}

void read_schemas(const Place& place, std::vector<SchemaSettings>& out) {
  read_list<SchemaSettings>(place, schema_section(), out,
                            [](const Place& at, SchemaSettings& schema) { schema.where = at.where(); });
}

}  // namespace evenkeel::config
