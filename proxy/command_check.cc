#include <fmt/format.h>

#include "base/clock.h"
#include "config/config.h"
#include "proxy/commands.h"
#include "proxy/control/checks.h"

namespace evenkeel {
namespace {

void print_configuration(const config::Config& config) {
  size_t tables = 0;
  size_t actual = 0;
  for (const auto& schema : config.rules->schemas()) {
    tables += schema.tables.size();
    for (const auto& table : schema.tables) actual += table->slot_count();
  }
  fmt::print("{}: correct: {} instances, {} logical schemas, {} sharded tables, {} actual tables\n",
             config.source, config.rules->instances().size(), config.rules->schemas().size(), tables, actual);
  for (const std::string& warning : config.warnings) fmt::print("warning: {}\n", warning);
}

}  // namespace

int check(const std::string& config_path, bool connect) {
  auto config = config::load(config_path, config::process_environment(), SystemClock().unix_millis());
  if (!config) return complain(config.error().message);
  print_configuration(*config);
  if (!connect || config->backend.instances.empty()) return 0;
  const control::CheckReport report =
      control::check_instances(config->rules, config->backend, config->session, config->control);
  for (const std::string& line : report.lines) fmt::print("{}\n", line);
  if (!report.findings.empty()) fmt::print("{}\n", control::to_text(report.findings));
  if (control::has_errors(report.findings)) return 1;
  fmt::print("the instances are fit\n");
  return 0;
}

}  // namespace evenkeel
