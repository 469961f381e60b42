#include "proxy/admin/skew_samples.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace evenkeel::admin {
namespace {

using metrics::Labels;
using skew::FigureSource;
using skew::SlotFigures;
using skew::SteeringMode;
using skew::TableFigures;

Labels with(Labels labels, const char* name, std::string value) {
  labels.emplace_back(name, std::move(value));
  return labels;
}

// Of some of a table's slots.
struct Sum {
  double rows = 0;
  double bytes = 0;
  double inserted = 0;

  Sum& operator+=(const SlotFigures& slot) {
    rows += static_cast<double>(slot.rows);
    bytes += static_cast<double>(slot.bytes);
    inserted += static_cast<double>(slot.inserted);
    return *this;
  }
};

void add_table(metrics::Page& page, const Labels& labels, const TableFigures& figures) {
  Sum all;
  for (const SlotFigures& slot : figures.slots) all += slot;
  page.gauge("evenkeel_table_rows", "Rows of the logical table.", labels, all.rows);
  page.gauge("evenkeel_table_bytes", "Its data and indexes; 0 until an instance was asked.", labels,
             all.bytes);
  const auto [emptiest, fullest] =
      std::minmax_element(figures.slots.begin(), figures.slots.end(),
                          [](const SlotFigures& a, const SlotFigures& b) { return a.rows < b.rows; });
  if (fullest == figures.slots.end()) return;
  page.gauge("evenkeel_table_fullest_rows", "Rows of the fullest actual table.", labels,
             static_cast<double>(fullest->rows));
  page.gauge("evenkeel_table_emptiest_rows", "Rows of the emptiest actual table.", labels,
             static_cast<double>(emptiest->rows));
}

void add_instances(metrics::Page& page, const Labels& labels, const rule::RuleSet& rules,
                   const rule::LogicalTable& table, const TableFigures& figures) {
  std::map<rule::InstanceId, Sum> sums;
  for (size_t slot = 0; slot < figures.slots.size(); ++slot)
    sums[table.slots[slot].instance] += figures.slots[slot];
  for (const auto& [instance, sum] : sums) {
    const Labels named = with(labels, "instance", rules.instances()[instance]);
    page.gauge("evenkeel_instance_rows", "Rows of the logical table on the instance.", named, sum.rows);
    page.gauge("evenkeel_instance_bytes", "Its bytes on the instance.", named, sum.bytes);
    page.counter("evenkeel_instance_new_rows_total",
                 "Rows that all proxies which share their counts put there, from an arbitrary start.", named,
                 sum.inserted);
  }
}

void add_slot_groups(metrics::Page& page, const Labels& labels, size_t tables, const TableFigures& figures) {
  const auto slots = static_cast<uint32_t>(figures.slots.size());
  const uint32_t size = slots_of_group(slots, tables);
  for (uint32_t first = 0; first < slots; first += size) {
    const uint32_t last = std::min(first + size, slots) - 1;
    Sum sum;
    for (uint32_t slot = first; slot <= last; ++slot) sum += figures.slots[slot];
    const Labels named =
        with(labels, "slots", first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    page.gauge("evenkeel_slot_group_rows", "Rows of a group of consecutive slots.", named, sum.rows);
    page.gauge("evenkeel_slot_group_bytes", "Bytes of a group of consecutive slots.", named, sum.bytes);
    page.counter("evenkeel_slot_group_new_rows_total",
                 "Rows that all proxies which share their counts put there, from an arbitrary start.", named,
                 sum.inserted);
  }
}

void add_skew(metrics::Page& page, const Labels& labels, const TableFigures& figures) {
  for (const auto& [by, uneven] :
       {std::pair("rows", figures.by_rows), std::pair("bytes", figures.by_bytes)}) {
    const Labels named = with(labels, "by", by);
    page.gauge("evenkeel_skew_max_over_mean_ratio", "The fullest actual table over the mean; 1 is even.",
               named, uneven.max_over_mean);
    page.gauge("evenkeel_skew_variation_ratio", "Coefficient of variation of the actual tables; 0 is even.",
               named, uneven.variation);
  }
  page.gauge("evenkeel_skew_even_ratio", "max/mean up to which the rows that the table has count as even.",
             labels, figures.bound);
}

void add_sources(metrics::Page& page, const Labels& labels, const TableFigures& figures) {
  constexpr std::array names = {
      std::pair(FigureSource::unknown, "unknown"), std::pair(FigureSource::exact, "exact"),
      std::pair(FigureSource::estimate, "estimate"), std::pair(FigureSource::carried, "carried")};
  for (const auto& [source, name] : names) {
    const auto slots =
        std::count_if(figures.slots.begin(), figures.slots.end(),
                      [each = source](const SlotFigures& slot) { return slot.source == each; });
    page.gauge("evenkeel_skew_figures", "Actual tables, by where their number of rows comes from.",
               with(labels, "source", name), static_cast<double>(slots));
  }
  std::chrono::seconds oldest{0};
  for (const SlotFigures& slot : figures.slots) oldest = std::max(oldest, slot.age);
  page.gauge("evenkeel_skew_oldest_figure_age_seconds",
             "Since the instance was asked that was asked longest ago.", labels,
             static_cast<double>(oldest.count()));
}

void add_mode(metrics::Page& page, const Labels& labels, const TableFigures& figures) {
  constexpr std::array names = {
      std::pair(SteeringMode::off, "off"), std::pair(SteeringMode::ordered, "ordered"),
      std::pair(SteeringMode::advise, "advise"), std::pair(SteeringMode::automatic, "auto")};
  for (const auto& [mode, name] : names) {
    page.gauge("evenkeel_steering_mode", "1 for what steers the table: nothing, an order, advice, itself.",
               with(labels, "mode", name), figures.mode == mode ? 1 : 0);
  }
  const std::vector<uint32_t>& weights = figures.map.weights;
  page.gauge("evenkeel_steering_applies", "1: new rows of the table can be steered.", labels,
             figures.not_steerable_because.empty() ? 1 : 0);
  page.gauge("evenkeel_steering_active", "1: a map is in force by which tables get unlike parts of new rows.",
             labels, weights.empty() ? 0 : 1);
  page.gauge("evenkeel_steering_closed_slots", "Actual tables that get no new rows by the map in force.",
             labels, static_cast<double>(std::count(weights.begin(), weights.end(), 0U)));
}

double seconds_of(skew::WallTime time) { return static_cast<double>(time.time_since_epoch().count()) / 1000; }

void add_map(metrics::Page& page, const Labels& labels, const TableFigures& figures) {
  page.gauge("evenkeel_steering_map_version", "Of the map in force; 0: there has never been one.", labels,
             static_cast<double>(figures.map.version));
  const size_t told = std::min(figures.proxies.size(), proxies_told);
  for (size_t i = 0; i < told; ++i) {
    page.gauge("evenkeel_steering_proxy_map_version", "The version that a proxy draws by, as it told last.",
               with(labels, "proxy", figures.proxies[i].proxy),
               static_cast<double>(figures.proxies[i].version));
  }
  page.gauge("evenkeel_steering_proxies_behind", "Proxies that draw by an older map than the one in force.",
             labels,
             static_cast<double>(std::count_if(
                 figures.proxies.begin(), figures.proxies.end(),
                 [&](const skew::ProxyMapVersion& proxy) { return proxy.version < figures.map.version; })));
  if (figures.map.since) {
    page.gauge("evenkeel_steering_began_timestamp_seconds", "Since when the map is in force.", labels,
               seconds_of(*figures.map.since));
  }
  if (figures.map.until) {
    page.gauge("evenkeel_steering_ends_timestamp_seconds", "When the map ends at the latest.", labels,
               seconds_of(*figures.map.until));
  }
}

void add_outlook(metrics::Page& page, const Labels& labels, const TableFigures& figures) {
  const skew::Outlook& outlook = figures.outlook;
  page.gauge("evenkeel_steering_capacity_ratio", "Part of the sequence numbers that the map lets ids use.",
             labels, figures.map.capacity);
  page.gauge("evenkeel_steering_capacity_ids_per_second",
             "The most ids that all proxies together can make under the map.", labels,
             outlook.ids_per_second_possible);
  page.gauge("evenkeel_steering_new_rows_per_second", "Rows that the table gets now, of all proxies.", labels,
             outlook.rows_per_second);
  if (outlook.rows_until_even) {
    page.gauge("evenkeel_steering_rows_until_even", "New rows that the table needs until it counts as even.",
               labels, *outlook.rows_until_even);
  }
  if (outlook.until_even) {
    page.gauge("evenkeel_steering_until_even_seconds", "How long those take at the present rate.", labels,
               static_cast<double>(outlook.until_even->count()));
  }
}

}  // namespace

uint32_t slots_of_group(uint32_t slots, size_t tables) {
  const auto groups = static_cast<uint32_t>(
      std::clamp<size_t>(slot_groups_of_all / std::max<size_t>(1, tables), 1, slot_groups_of_table));
  return std::max(1U, (slots + groups - 1) / groups);
}

void add_skew_samples(metrics::Page& page, const rule::RuleSet& rules, const skew::Figures& source) {
  const size_t tables = source.tables().size();
  for (const auto& schema : rules.schemas()) {
    for (const auto& table : schema.tables) {
      const Result<TableFigures> figures = source.figures({table->schema, table->name});
      if (!figures || figures->slots.size() != table->slots.size()) continue;
      const Labels labels{{"table", table->schema + "." + table->name}};
      add_table(page, labels, *figures);
      add_instances(page, labels, rules, *table, *figures);
      add_slot_groups(page, labels, tables, *figures);
      add_skew(page, labels, *figures);
      add_sources(page, labels, *figures);
      add_mode(page, labels, *figures);
      add_map(page, labels, *figures);
      add_outlook(page, labels, *figures);
    }
  }
}

}  // namespace evenkeel::admin
