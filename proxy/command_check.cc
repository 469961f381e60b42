#include <fmt/format.h>

#include "base/clock.h"
#include "config/config.h"
#include "proxy/commands.h"
#include "proxy/control/checks.h"
#ifdef EVENKEEL_WITH_MYSQL_SEGMENTS
#include "idgen/segment/mysql_segment_store.h"
#endif

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

// False when something is wrong.
bool check_tables_and_accounts(const config::Config& config) {
  const control::CheckReport report =
      control::check_instances(config.rules, config.backend, config.session, config.control);
  for (const std::string& line : report.lines) fmt::print("{}\n", line);
  if (!report.findings.empty()) fmt::print("{}\n", control::to_text(report.findings));
  if (control::has_errors(report.findings)) return false;
  fmt::print("the instances are fit\n");
  return true;
}

bool check_segments(const idgen::GeneratorSettings& generator) {
#ifdef EVENKEEL_WITH_MYSQL_SEGMENTS
  bool fit = true;
  for (const auto& allocator : generator.segment.allocators) {
    const auto checked = idgen::check_mysql_segment_table(allocator, generator.segment.timeout_ms);
    if (!checked) {
      fmt::print("error: generator {}: {}\n", generator.name, checked.error().message);
      fit = false;
      continue;
    }
    for (const std::string& remark : *checked)
      fmt::print("warning: generator {}: {}\n", generator.name, remark);
    if (checked->empty())
      fmt::print("generator {}: table {}.{} of {}:{} is fit for segments\n", generator.name,
                 allocator.database, allocator.table, allocator.host, allocator.port);
  }
  return fit;
#else
  fmt::print("error: generator {}: this program was built without segments\n", generator.name);
  return false;
#endif
}

}  // namespace

int check(const std::string& config_path, bool connect) {
  auto config = config::load(config_path, config::process_environment(), SystemClock().unix_millis());
  if (!config) return complain(config.error().message);
  print_configuration(*config);
  if (!connect) return 0;
  bool fit = config->backend.instances.empty() || check_tables_and_accounts(*config);
  for (const auto& generator : config->generators)
    if (generator.kind != idgen::GeneratorKind::snowflake) fit = check_segments(generator) && fit;
  return fit ? 0 : 1;
}

}  // namespace evenkeel
