#include "proxy/admin/skew_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

namespace evenkeel::admin {
namespace {

using skew::FigureSource;
using skew::TableFigures;
using testing::HasSubstr;
using testing::Not;

class FakeFigures final : public skew::Figures {
 public:
  std::vector<skew::TableName> tables() const override { return names; }
  Result<TableFigures> figures(const skew::TableName& name) const override {
    const auto found = known.find(name.table);
    if (found == known.end()) return fail(internal_error("no such table"));
    return found->second;
  }
  Result<std::vector<skew::SkewPoint>> skew_over_time(const skew::TableName&) const override {
    return std::vector<skew::SkewPoint>{};
  }
  Result<skew::DryRunFigures> dry_run_figures(const skew::SteerOrder&) const override {
    return skew::DryRunFigures{};
  }

  std::vector<skew::TableName> names;
  std::map<std::string, TableFigures> known;
};

rule::RuleSetPtr rules_of(uint32_t slots, const std::vector<std::string>& tables = {"orders"}) {
  rule::Settings settings;
  settings.instances = {"ds0", "ds1"};
  rule::SchemaSettings shop;
  shop.name = "shop";
  shop.default_instance = "ds0";
  for (const std::string& name : tables) {
    rule::TableSettings table;
    table.name = name;
    table.key = "id";
    table.topology.instances = settings.instances;
    table.topology.databases = 2;
    table.topology.tables = slots;
    table.topology.database_pattern = "shop_{:02}";
    table.topology.table_pattern = name + "_{:04}";
    shop.tables.push_back(table);
  }
  settings.schemas = {shop};
  auto built = rule::RuleSet::build(settings);
  EXPECT_TRUE(built) << built.error().message;
  return *built;
}

TableFigures figures_of(uint32_t slots) {
  TableFigures figures;
  for (uint32_t slot = 0; slot < slots; ++slot)
    figures.slots.push_back({slot + 1, 10, FigureSource::exact, std::chrono::seconds(slot), 2});
  return figures;
}

std::string page_of(const rule::RuleSet& rules, const FakeFigures& figures) {
  metrics::Page page;
  add_skew_samples(page, rules, figures);
  return page.text();
}

size_t samples_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  size_t found = 0;
  for (std::string line; std::getline(lines, line);)
    found += line.rfind(name + "{", 0) == 0 || line.rfind(name + " ", 0) == 0;
  return found;
}

TEST(SkewSamples, SayWhatTheFiguresSay) {
  const auto rules = rules_of(4);
  FakeFigures fake;
  fake.names = {{"shop", "orders"}};
  TableFigures figures = figures_of(4);
  figures.slots[3].source = FigureSource::carried;
  figures.by_rows = {1.5, 0.25};
  figures.by_bytes = {1.25, 0.125};
  figures.bound = 1.0625;
  figures.mode = skew::SteeringMode::automatic;
  figures.map.version = 9;
  figures.map.weights = {0, 1, 0, 2};
  figures.map.capacity = 0.75;
  figures.map.since = skew::WallTime(std::chrono::milliseconds(1'500));
  figures.map.until = skew::WallTime(std::chrono::milliseconds(2'500));
  figures.outlook = {8, 4'000, 40, std::chrono::seconds(5), ""};
  figures.proxies = {{"evenkeel pid 7 on db1", 9}, {"evenkeel pid 8 on db2", 8}};
  fake.known["orders"] = figures;
  const std::string text = page_of(*rules, fake);
  for (const char* wanted : {
           "evenkeel_table_rows{table=\"shop.orders\"} 10\n",
           "evenkeel_table_bytes{table=\"shop.orders\"} 40\n",
           "evenkeel_table_fullest_rows{table=\"shop.orders\"} 4\n",
           "evenkeel_table_emptiest_rows{table=\"shop.orders\"} 1\n",
           "evenkeel_instance_rows{table=\"shop.orders\",instance=\"ds0\"} 3\n",
           "evenkeel_instance_rows{table=\"shop.orders\",instance=\"ds1\"} 7\n",
           "evenkeel_instance_bytes{table=\"shop.orders\",instance=\"ds1\"} 20\n",
           "evenkeel_instance_new_rows_total{table=\"shop.orders\",instance=\"ds1\"} 4\n",
           "evenkeel_slot_group_rows{table=\"shop.orders\",slots=\"2\"} 3\n",
           "evenkeel_slot_group_bytes{table=\"shop.orders\",slots=\"2\"} 10\n",
           "evenkeel_slot_group_new_rows_total{table=\"shop.orders\",slots=\"2\"} 2\n",
           "evenkeel_skew_max_over_mean_ratio{table=\"shop.orders\",by=\"rows\"} 1.5\n",
           "evenkeel_skew_max_over_mean_ratio{table=\"shop.orders\",by=\"bytes\"} 1.25\n",
           "evenkeel_skew_variation_ratio{table=\"shop.orders\",by=\"rows\"} 0.25\n",
           "evenkeel_skew_variation_ratio{table=\"shop.orders\",by=\"bytes\"} 0.125\n",
           "evenkeel_skew_even_ratio{table=\"shop.orders\"} 1.0625\n",
           "evenkeel_skew_figures{table=\"shop.orders\",source=\"exact\"} 3\n",
           "evenkeel_skew_figures{table=\"shop.orders\",source=\"carried\"} 1\n",
           "evenkeel_skew_figures{table=\"shop.orders\",source=\"unknown\"} 0\n",
           "evenkeel_skew_oldest_figure_age_seconds{table=\"shop.orders\"} 3\n",
           "evenkeel_steering_mode{table=\"shop.orders\",mode=\"auto\"} 1\n",
           "evenkeel_steering_mode{table=\"shop.orders\",mode=\"off\"} 0\n",
           "evenkeel_steering_applies{table=\"shop.orders\"} 1\n",
           "evenkeel_steering_active{table=\"shop.orders\"} 1\n",
           "evenkeel_steering_closed_slots{table=\"shop.orders\"} 2\n",
           "evenkeel_steering_map_version{table=\"shop.orders\"} 9\n",
           "evenkeel_steering_proxy_map_version{table=\"shop.orders\",proxy=\"evenkeel pid 8 on db2\"} 8\n",
           "evenkeel_steering_proxies_behind{table=\"shop.orders\"} 1\n",
           "evenkeel_steering_began_timestamp_seconds{table=\"shop.orders\"} 1.5\n",
           "evenkeel_steering_ends_timestamp_seconds{table=\"shop.orders\"} 2.5\n",
           "evenkeel_steering_capacity_ratio{table=\"shop.orders\"} 0.75\n",
           "evenkeel_steering_capacity_ids_per_second{table=\"shop.orders\"} 4000\n",
           "evenkeel_steering_new_rows_per_second{table=\"shop.orders\"} 8\n",
           "evenkeel_steering_rows_until_even{table=\"shop.orders\"} 40\n",
           "evenkeel_steering_until_even_seconds{table=\"shop.orders\"} 5\n",
       })
    EXPECT_THAT(text, HasSubstr(wanted));
}

TEST(SkewSamples, LeaveOutWhatIsNotKnown) {
  FakeFigures fake;
  fake.names = {{"shop", "orders"}};
  fake.known["orders"] = figures_of(4);
  fake.known["orders"].not_steerable_because = "its key is the application's";
  const std::string text = page_of(*rules_of(4), fake);
  EXPECT_THAT(text, HasSubstr("evenkeel_steering_applies{table=\"shop.orders\"} 0\n"));
  for (const char* name : {"_until_even_seconds", "_rows_until_even", "_timestamp_seconds", "_proxy_map"})
    EXPECT_THAT(text, Not(HasSubstr(name)));
  fake.known.clear();
  EXPECT_EQ(page_of(*rules_of(4), fake), "");
}

// Of a table that was configured anew while the page was made.
TEST(SkewSamples, LeaveOutFiguresOfAnotherLayout) {
  FakeFigures fake;
  fake.names = {{"shop", "orders"}};
  fake.known["orders"] = figures_of(8);
  EXPECT_EQ(page_of(*rules_of(4), fake), "");
}

TEST(SkewSamples, AreBoundedAt8192Tables) {
  FakeFigures fake;
  fake.names = {{"shop", "orders"}};
  fake.known["orders"] = figures_of(8'192);
  for (int i = 0; i < 500; ++i)
    fake.known["orders"].proxies.push_back({"evenkeel pid " + std::to_string(i), 1});
  const std::string text = page_of(*rules_of(8'192), fake);
  EXPECT_EQ(samples_of(text, "evenkeel_slot_group_rows"), slot_groups_of_table);
  EXPECT_THAT(text, HasSubstr("evenkeel_slot_group_rows{table=\"shop.orders\",slots=\"7936-8191\"}"));
  EXPECT_EQ(samples_of(text, "evenkeel_instance_rows"), 2);
  EXPECT_EQ(samples_of(text, "evenkeel_steering_proxy_map_version"), proxies_told);
  // Nothing is lost in the groups.
  std::istringstream lines(text);
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("evenkeel_slot_group_rows{", 0) == 0) sum += std::stod(line.substr(line.rfind(' ')));
  }
  EXPECT_EQ(sum, 8'192.0 * 8'193 / 2);
}

TEST(SkewSamples, AreBoundedWithManyLogicalTables) {
  for (const size_t tables : {1U, 64U, 65U, 200U, 2'048U, 5'000U}) {
    for (const uint32_t slots : {1U, 7U, 33U, 128U, 8'192U}) {
      const uint32_t size = slots_of_group(slots, tables);
      const uint32_t groups = (slots + size - 1) / size;
      EXPECT_GE(groups, 1U);
      EXPECT_LE(groups, slot_groups_of_table);
      EXPECT_LE(groups * tables, std::max<size_t>(slot_groups_of_all, tables)) << tables << " of " << slots;
    }
  }
  EXPECT_EQ(slots_of_group(32, 1), 1U);
  EXPECT_EQ(slots_of_group(128, 1), 4U);
}

TEST(SkewSamples, FollowPrometheusRulesOfNames) {
  FakeFigures fake;
  fake.names = {{"shop", "orders"}, {"shop", "lines"}};
  fake.known["orders"] = figures_of(4);
  fake.known["lines"] = figures_of(4);
  std::istringstream lines(page_of(*rules_of(4, {"orders", "lines"}), fake));
  std::set<std::string> series;
  std::string type;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# TYPE ", 0) == 0) {
      const bool counter = line.ends_with(" counter");
      const std::string name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(name.rfind("evenkeel_", 0) == 0) << line;
      EXPECT_EQ(name.ends_with("_total"), counter) << line;
    } else if (line[0] != '#') {
      EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << "twice: " << line;
    }
  }
}

}  // namespace
}  // namespace evenkeel::admin
