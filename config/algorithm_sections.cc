#include <charconv>
#include <fmt/format.h>

#include "base/limits.h"
#include "config/sections.h"

namespace evenkeel::config {
namespace {

using rule::AlgorithmParameters;
using rule::TableSettings;
using Method = rule::GeneSettings::Method;

std::optional<int64_t> integer_at(const Node& node) {
  if (node.kind != Node::Kind::scalar || node.quoted) return std::nullopt;
  int64_t value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

void read_bounds(const Place& place, TableSettings& out) {
  if (place.node().kind != Node::Kind::list) return place.expected("a list of integers");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    const auto bound = integer_at(place.node().items[i]);
    if (!bound) return place.item(i).expected("an integer");
    out.algorithm_parameters.bounds.push_back(*bound);
  }
}

// One list a slot: integers as they stand, anything else is text.
void read_lists(const Place& place, TableSettings& out) {
  if (place.node().kind != Node::Kind::list) return place.expected("a list of lists, one for each table");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    const Node& list = place.node().items[i];
    if (list.kind != Node::Kind::list) return place.item(i).expected("a list of values");
    auto& values = out.algorithm_parameters.lists.emplace_back();
    for (const Node& item : list.items) {
      if (item.kind != Node::Kind::scalar) return place.item(i).expected("a list of integers or strings");
      if (const auto integer = integer_at(item))
        values.emplace_back(*integer);
      else
        values.emplace_back(item.text);
    }
  }
}

void read_unit(const Place& place, TableSettings& out) {
  using Unit = AlgorithmParameters::Unit;
  read_choice<Unit>(place, out.algorithm_parameters.unit,
                    {{"hour", Unit::hour}, {"day", Unit::day}, {"month", Unit::month}, {"year", Unit::year}});
}

void read_otherwise(const Place& place, TableSettings& out) {
  out.algorithm_parameters.otherwise = 0;
  read_number(place, *out.algorithm_parameters.otherwise, 0, limits::slots_max - 1);
}

void read_method(const Place& place, TableSettings& out) {
  read_choice<Method>(place, out.gene.method,
                      {{"shared", Method::shared}, {"blocks", Method::blocks}, {"classes", Method::classes}});
}

}  // namespace

void read_algorithm(const Place& place, TableSettings& out) {
  if (place.node().kind == Node::Kind::map) return read_section(place, algorithm_section(), out);
  read(place, out.algorithm);
}

void read_gene(const Place& place, TableSettings& out) {
  if (place.node().kind == Node::Kind::map) return read_section(place, gene_section(), out);
  read_method(place, out);
}

const Section<TableSettings>& algorithm_section() {
  static const Section<TableSettings> section = {
      "algorithm",
      {
          {"name", [](const Place& place, TableSettings& out) { read(place, out.algorithm); }, true},
          {"bounds", read_bounds},
          {"values", read_lists},
          {"otherwise", read_otherwise},
          {"start",
           [](const Place& place, TableSettings& out) { read(place, out.algorithm_parameters.start); }},
          {"every",
           [](const Place& place, TableSettings& out) {
             read_number(place, out.algorithm_parameters.every, 1, 1'000'000);
           }},
          {"unit", read_unit},
          {"cycle",
           [](const Place& place, TableSettings& out) { read(place, out.algorithm_parameters.cycle); }},
      }};
  return section;
}

const Section<TableSettings>& gene_section() {
  static const Section<TableSettings> section = {
      "gene",
      {
          {"method", read_method, true},
          {"modulus", [](const Place& place,
                         TableSettings& out) { read_number(place, out.gene.modulus, 1, limits::slots_max); }},
          {"routes", [](const Place& place, TableSettings& out) { read(place, out.gene.routes); }},
      }};
  return section;
}

}  // namespace evenkeel::config
