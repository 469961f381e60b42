// `evenkeel demo` and `evenkeel cluster`: options and calls.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "proxy/commands.h"
#include "proxy/demo/cluster_command.h"
#include "proxy/demo/tour.h"

namespace evenkeel {
namespace {

int finish(const Status& done) { return done ? 0 : complain(done.error().message); }

// "4x16x128": instances, databases on each, tables in each.
demo::Layout parse_layout(const std::string& text) {
  demo::Layout layout;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%5ux%5ux%5u%c", &layout.instances, &layout.databases, &layout.tables,
                  &rest) != 3 ||
      layout.instances == 0 || layout.databases == 0 || layout.tables == 0) {
    throw CLI::ValidationError("--layout",
                               "the layout is written INSTANCESxDATABASESxTABLES, such as 4x16x128");
  }
  return layout;
}

demo::ServerKind parse_server(const std::string& text) {
  auto parsed = demo::parse_server_kind(text);
  if (!parsed) throw CLI::ValidationError("--server", parsed.error().message);
  return *parsed;
}

}  // namespace

void add_demo(CLI::App& app, demo::DemoOptions& options, std::function<int()>& chosen) {
  CLI::App* command =
      app.add_subcommand("demo", "Start real servers and the proxy, insert rows, show where they went");
  command
      ->add_option("--rows", options.rows,
                   "Rows to insert; by default 100 for each table, fewer for large layouts")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  command->add_flag(
      "--skew", options.skew,
      "Begin with tables 0-31 at twice the rows of the others; steer new rows until all are even");
  command->add_option("--rate", options.rate, "Rows a second; 0: as fast as one client goes")
      ->check(CLI::NonNegativeNumber);
  command->add_option_function<std::string>(
      "--layout", [&](const std::string& text) { options.layout = parse_layout(text); },
      "INSTANCESxDATABASESxTABLES: databases on each instance, tables in each database");
  command->add_option_function<std::string>(
      "--server", [&](const std::string& text) { options.server = parse_server(text); },
      "mariadbd or mysqld");
  command->add_flag("--once", options.once, "End after the tour");
  command->add_flag("--keep", options.keep, "Leave data, logs and configuration behind");
  command->callback([&] { chosen = [&] { return finish(demo::run_demo(options)); }; });
}

void add_cluster(CLI::App& app, demo::ClusterCommandOptions& options, std::function<int()>& chosen) {
  CLI::App* command =
      app.add_subcommand("cluster", "Start real servers for tests and benches, until input ends");
  command->add_option("--dir", options.folder, "Folder for their data; made, and removed at the end")
      ->required();
  command->add_option_function<std::string>(
      "--server", [&](const std::string& text) { options.server = parse_server(text); },
      "mariadbd or mysqld");
  command->add_option("--instances", options.instances, "How many")->check(CLI::Range(1, 64));
  command->add_option_function<std::string>(
      "--layout", [&](const std::string& text) { options.layout = parse_layout(text); },
      "Make the demo's tables of this layout");
  command->add_option("--connections", options.connections, "max_connections of each server");
  command->callback([&] { chosen = [&] { return finish(demo::run_cluster_command(options)); }; });
}

}  // namespace evenkeel
