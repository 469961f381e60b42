// What each subcommand of `evenkeel` does once its options are read. Each prints, and returns the exit
// status: 0 done, 1 a problem that was told, 2 wrong use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace evenkeel::demo {
struct DemoOptions;
struct ClusterCommandOptions;
}  // namespace evenkeel::demo

namespace evenkeel {

// command_serve.cc
int serve(const std::string& config_path);

// command_ids.cc
int serve_ids(const std::string& config_path);

// command_check.cc
int check(const std::string& config_path, bool connect);

// command_decode.cc
struct DecodeOptions {
  std::string id;
  std::string layout = "classic";  // a known name, or "41|7|15" for milliseconds since 2024
  std::optional<uint32_t> slots;   // prints the slot too
  // Instead of both: the layout and the tables of a configuration.
  std::string config_path;
  std::string of;  // a logical table, key space or generator; empty: where all have one layout
};
int decode(const DecodeOptions& options);

// command_plan.cc
struct PlanOptions {
  std::string config_path;
  std::string sql;
  std::optional<std::string> schema_path;  // CREATE TABLE statements of the logical tables
  std::string schema;                      // the current schema; empty: the first of the configuration
  std::vector<std::string> parameters;     // SQL literals, one for each ?
};
int run_plan(const PlanOptions& options);

// command_skew.cc
struct SkewOptions {
  std::string config_path;
  std::string table;            // "orders" or "shop.orders"; empty: all sharded tables
  std::string by = "instance";  // instance, database or table
};
int run_skew(const SkewOptions& options);

// command_demo.cc: options and calls of `demo` and `cluster`.
void add_demo(CLI::App& app, demo::DemoOptions& options, std::function<int()>& chosen);
void add_cluster(CLI::App& app, demo::ClusterCommandOptions& options, std::function<int()>& chosen);

// Prints "evenkeel: …" on standard error and returns 1.
int complain(const std::string& message);

}  // namespace evenkeel
