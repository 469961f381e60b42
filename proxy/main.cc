// evenkeel: the subcommands and their options. What they do lies in command_*.cc.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <functional>

#include "proxy/commands.h"
#include "proxy/demo/cluster_command.h"
#include "proxy/demo/tour.h"

namespace evenkeel {

int complain(const std::string& message) {
  fmt::print(stderr, "evenkeel: {}\n", message);
  return 1;
}

namespace {

void add_serve(CLI::App& app, std::string& config, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("serve", "Serve clients until TERM (a second TERM ends at once)");
  command->add_option("config", config, "YAML file; see docs/configuration.md")->required();
  command->callback([&] { chosen = [&] { return serve(config); }; });
}

void add_ids(CLI::App& app, std::string& config, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("ids", "Serve ids over the MySQL protocol and HTTP until TERM");
  command->add_option("config", config, "YAML file with a section `ids`; see docs/ids-service.md")
      ->required();
  command->callback([&] { chosen = [&] { return serve_ids(config); }; });
}

void add_check(CLI::App& app, std::string& config, bool& connect, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("check", "Report everything that is wrong with a configuration");
  command->add_option("config", config, "YAML file")->required();
  command->add_flag("--connect", connect,
                    "Ask the instances too: reachability, versions, grants, agreement, tables, unique keys");
  command->callback([&] { chosen = [&] { return check(config, connect); }; });
}

void add_decode(CLI::App& app, DecodeOptions& options, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("decode", "Show the time, worker and sequence of a generated id");
  command->add_option("id", options.id, "Decimal digits")->required();
  CLI::Option* layout =
      command
          ->add_option("--layout", options.layout,
                       "classic, business, wide, js_safe, js_safe_wide, or bits such as 41|7|15")
          ->capture_default_str();
  CLI::Option* slots = command->add_option("--slots", options.slots, "Show the slot among so many tables");
  CLI::Option* config = command->add_option(
      "--config", options.config_path, "YAML file that has the layout, and the tables to show the place in");
  config->excludes(layout)->excludes(slots);
  command
      ->add_option(
          "--of", options.of,
          "Which table, key space or generator of the file the id is of; needed where layouts differ")
      ->needs(config);
  command->callback([&] { chosen = [&] { return decode(options); }; });
}

void add_plan(CLI::App& app, PlanOptions& options, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("plan", "Show where a statement would go, without connecting");
  command->add_option("config", options.config_path, "YAML file")->required();
  command->add_option("sql", options.sql, "The statement")->required();
  command->add_option("--schema", options.schema_path,
                      "File with the CREATE TABLE statements of the logical tables");
  command->add_option("--database", options.schema,
                      "Current schema; by default the first of the configuration");
  command->add_option("--param", options.parameters, "Literal for the next ?; may be given again")
      ->allow_extra_args(false);
  command->callback([&] { chosen = [&] { return run_plan(options); }; });
}

void add_skew(CLI::App& app, SkewOptions& options, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand(
      "skew", "Count the actual tables; show how uneven they are and what steering would do");
  command->add_option("config", options.config_path, "YAML file")->required();
  command->add_option("--table", options.table, "One logical table; by default all");
  command->add_option("--by", options.by, "What a row of the report is")
      ->check(CLI::IsMember({"instance", "database", "table"}))
      ->capture_default_str();
  command->callback([&] { chosen = [&] { return run_skew(options); }; });
}

int run(int count, char** arguments) {
  CLI::App app("A MySQL-protocol proxy that fills, routes and evens out sharded tables", "evenkeel");
  app.set_version_flag("--version", "evenkeel " EVENKEEL_VERSION);
  app.require_subcommand(1);
  std::string config;
  bool connect = false;
  DecodeOptions decode_options;
  PlanOptions plan_options;
  SkewOptions skew_options;
  demo::DemoOptions demo_options;
  demo::ClusterCommandOptions cluster_options;
  std::function<int()> chosen;
  add_serve(app, config, chosen);
  add_ids(app, config, chosen);
  add_demo(app, demo_options, chosen);
  add_cluster(app, cluster_options, chosen);
  add_check(app, config, connect, chosen);
  add_decode(app, decode_options, chosen);
  add_plan(app, plan_options, chosen);
  add_skew(app, skew_options, chosen);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& stopped) {
    const int status = app.exit(stopped);
    return status == 0 ? 0 : 2;
  }
  return chosen();
}

}  // namespace
}  // namespace evenkeel

int main(int count, char** arguments) { return evenkeel::run(count, arguments); }
