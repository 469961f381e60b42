// Measuring the tables and steering new rows: the section `steering`.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "config/sections.h"
#include "router/rule/names.h"

namespace evenkeel::config {
namespace {

using namespace std::chrono_literals;
using skew::Settings;
using skew::TableSettings;

void read_decimal(const Place& place, double& out, double least, double most) {
  const std::string& text = place.node().text;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (place.node().kind != Node::Kind::scalar || place.node().quoted || !whole ||
      !(value >= least && value <= most))
    return place.expected(fmt::format("a number from {} to {}", least, most));
  out = value;
}

// "shop.orders"
void read_table_name(const Place& place, TableSettings& out) {
  std::string name;
  read(place, name);
  const size_t dot = name.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == name.size())
    return place.expected("a table with its schema, such as shop.orders");
  out.schema = name.substr(0, dot);
  out.table = name.substr(dot + 1);
}

// "22:00"
std::optional<uint16_t> minute_of(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const size_t i : {0, 1, 3, 4}) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
  }
  const int hour = (text[0] - '0') * 10 + text[1] - '0';
  const int minute = (text[3] - '0') * 10 + text[4] - '0';
  if (hour > 23 || minute > 59) return std::nullopt;
  return static_cast<uint16_t>(hour * 60 + minute);
}

void read_windows(const Place& place, TableSettings& out) {
  if (place.node().kind != Node::Kind::list)
    return place.expected("a list of windows such as \"22:00-05:00\"");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    const Place item = place.item(i);
    const std::string_view text = item.node().text;
    const auto from = text.size() == 11 && text[5] == '-' ? minute_of(text.substr(0, 5)) : std::nullopt;
    const auto to = from ? minute_of(text.substr(6)) : std::nullopt;
    if (!to) {
      item.expected("a part of the day in UTC such as \"22:00-05:00\"");
      continue;
    }
    out.windows.push_back({*from, *to});
  }
}

void check_table(const Place& place, TableSettings& table) {
  table.where = place.where();
  if (table.lower >= table.upper) {
    place.fault(fmt::format("lower ({}) is not below upper ({}): steering would end before it begins",
                            table.lower, table.upper));
  }
}

void read_tables(const Place& place, Settings& out) {
  read_list(place, steered_table_section(), out.tables, check_table);
  for (size_t i = 0; i < out.tables.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const TableSettings& one = out.tables[i];
      const TableSettings& other = out.tables[j];
      if (one.table.empty()) continue;  // told already
      if (rule::fold_case(one.schema) == rule::fold_case(other.schema) &&
          rule::fold_case(one.table) == rule::fold_case(other.table))
        place.item(i).fault(
            fmt::format("table {}.{} a second time", out.tables[i].schema, out.tables[i].table));
    }
  }
}

}  // namespace

const Section<TableSettings>& steered_table_section() {
  using skew::Measure;
  using skew::Mode;
  static const Section<TableSettings> section = {
      "steered_table",
      {
          {"table", read_table_name, true},
          {"mode",
           [](const Place& place, TableSettings& out) {
             read_choice<Mode>(place, out.mode,
                               {{"off", Mode::off}, {"advise", Mode::advise}, {"auto", Mode::automatic}});
           }},
          {"by",
           [](const Place& place, TableSettings& out) {
             read_choice<Measure>(place, out.by, {{"rows", Measure::rows}, {"bytes", Measure::bytes}});
           }},
          {"upper",
           [](const Place& place, TableSettings& out) { read_decimal(place, out.upper, 1.001, 100); }},
          {"lower",
           [](const Place& place, TableSettings& out) { read_decimal(place, out.lower, 1.0001, 100); }},
          {"weight_cap",
           [](const Place& place, TableSettings& out) { read_decimal(place, out.weight_cap, 1, 64); }},
          {"windows", read_windows},
          {"max_duration",
           [](const Place& place, TableSettings& out) {
             read_duration(place, out.max_duration, 1s, std::chrono::hours(24 * 365));
           }},
      }};
  return section;
}

const Section<Settings>& steering_section() {
  static const Section<Settings> section = {
      "steering",
      {
          {"reweight",
           [](const Place& place, Settings& out) { read_duration(place, out.reweight_interval, 1s, 1h); }},
          {"exact_interval",
           [](const Place& place, Settings& out) {
             read_duration(place, out.sampling.exact_interval, 0ms, std::chrono::hours(24 * 30));
           }},
          {"exact_per_second",
           [](const Place& place, Settings& out) {
             read_number(place, out.sampling.exact_per_second, 1, 1'000);
           }},
          {"estimate_interval",
           [](const Place& place, Settings& out) {
             read_duration(place, out.sampling.estimate_interval, 0ms, std::chrono::hours(24));
           }},
          {"estimate_error",
           [](const Place& place, Settings& out) {
             uint32_t percent = 30;
             read_number(place, percent, 1, 100);
             out.sampling.estimate_error = percent / 100.0;
           }},
          {"tables", read_tables},
      }};
  return section;
}

void read_steering(const Place& place, Settings& out) { read_section(place, steering_section(), out); }

}  // namespace evenkeel::config
