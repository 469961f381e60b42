// `evenkeel skew`: counts every actual table and says how uneven they are and what steering would do.
#include <algorithm>
#include <fmt/format.h>

#include "base/clock.h"
#include "config/config.h"
#include "proxy/commands.h"
#include "proxy/control/checks.h"
#include "proxy/control/table_sampler.h"
#include "proxy/steering_service.h"

namespace evenkeel {
namespace {

std::string cell_text(const mysql::Value& value) {
  if (value.is_null()) return "";
  if (value.is_integer()) {
    return value.kind() == mysql::Value::Kind::int64 ? fmt::format("{}", value.as_int64())
                                                     : fmt::format("{}", value.as_uint64());
  }
  return value.text();
}

void print_table(const mysql::ResultTable& table) {
  std::vector<size_t> widths;
  for (const auto& column : table.columns) widths.push_back(column.name.size());
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], cell_text(row[i]).size());
  }
  const auto print = [&](const auto& text_of) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) line += fmt::format("{:<{}}  ", text_of(i), widths[i]);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  };
  print([&](size_t i) { return table.columns[i].name; });
  for (const auto& row : table.rows) print([&](size_t i) { return cell_text(row[i]); });
}

Status measure(control::TableSampler& sampler, skew::Steering& steering) {
  for (size_t instance = 0; instance < sampler.instances(); ++instance) {
    EVENKEEL_ASSIGN(const auto estimates, sampler.estimates(static_cast<rule::InstanceId>(instance)));
    for (const auto& each : estimates) {
      for (size_t table = 0; table < steering.size(); ++table) {
        if (&steering.rules_of(table) == each.table)
          steering.note_estimate(table, each.slot, each.rows, each.bytes);
      }
    }
  }
  while (const auto task = steering.next_count()) {
    EVENKEEL_ASSIGN(const uint64_t rows, sampler.count(steering.rules_of(task->table), task->slot));
    steering.note_count(*task, rows);
  }
  return {};
}

Status report(skew::Steering& steering, const SkewOptions& options) {
  const auto by = options.by == "table"      ? skew::Grouping::table
                  : options.by == "database" ? skew::Grouping::database
                                             : skew::Grouping::instance;
  for (const skew::TableName& name : steering.tables()) {
    if (!options.table.empty() && options.table != name.table &&
        options.table != name.schema + "." + name.table)
      continue;
    EVENKEEL_ASSIGN(const auto skew, steering.skew(name, by));
    print_table(skew);
    fmt::print("\n");
    EVENKEEL_ASSIGN(const auto words, steering.explain(name, std::nullopt));
    for (const auto& row : words.rows) fmt::print("{}\n", cell_text(row[0]));
    fmt::print("\n");
    skew::SteerOrder order;
    order.table = name;
    order.what = skew::SteerOrder::What::automatic;
    order.ordered_by = "dry run";
    const auto dry_run = steering.dry_run(order);
    if (!dry_run) {
      fmt::print("STEER AUTO: {}\n\n", dry_run.error().message);
      continue;
    }
    fmt::print("Dry run of STEER {} AUTO: where the next 10,000 rows would go\n", name.table);
    mysql::ResultTable shown = *dry_run;
    std::erase_if(shown.rows, [&](const auto& row) {
      const std::string& part = row[0].text();
      return part != "remark" && part != options.by;
    });
    print_table(shown);
    fmt::print("\n");
  }
  return {};
}

}  // namespace

int run_skew(const SkewOptions& options) {
  const SystemClock clock;
  auto config = config::load(options.config_path, config::process_environment(), clock.unix_millis());
  if (!config) return complain(config.error().message);
  skew::Steering::Parts parts;
  parts.settings = config->steering;
  // All tables, once, whatever the configuration says of how often.
  parts.settings.sampling.exact_interval = std::chrono::hours(24);
  parts.instances = config->rules->instances();
  parts.process = process_name();
  parts.clock = &clock;
  std::vector<std::unique_ptr<rule::SlotTraffic>> traffic;
  for (const auto& schema : config->rules->schemas()) {
    for (const auto& table : schema.tables) {
      traffic.push_back(make_traffic(*table));
      parts.tables.push_back(steered_table(*config, *table, nullptr, *traffic.back()));
    }
  }
  skew::Steering steering(std::move(parts));
  control::TableSampler sampler(config->rules, config->backend,
                                control::reading_accounts(config->session, config->control));
  if (auto measured = measure(sampler, steering); !measured) return complain(measured.error().message);
  if (auto reported = report(steering, options); !reported) return complain(reported.error().message);
  return 0;
}

}  // namespace evenkeel
