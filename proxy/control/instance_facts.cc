#include "proxy/control/instance_facts.h"

#include <charconv>
#include <fmt/format.h>

#include "base/mysql/collation.h"
#include "base/mysql/error_codes.h"

namespace evenkeel::control {
namespace {

template <typename Integer>
Integer number(const Cell& cell) {
  Integer value = 0;
  if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), value);
  return value;
}

std::string family(const InstanceFacts& facts) {
  return fmt::format("{} {}.{}", to_string(facts.flavour), facts.version_id / 10'000,
                     facts.version_id / 100 % 100);
}

template <typename Text>
void compare(const std::vector<InstanceFacts>& all, std::string_view what, Finding::Severity severity,
             Text text, std::vector<Finding>& findings) {
  const InstanceFacts& first = all.front();
  for (const InstanceFacts& other : all) {
    if (text(other) == text(first)) continue;
    findings.push_back({severity, fmt::format("{} differs: {} on {}, {} on {}", what, text(first),
                                              first.instance, text(other), other.instance)});
  }
}

}  // namespace

std::string to_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n",
                        finding.severity == Finding::Severity::error ? "error" : "warning", finding.text);
  }
  return text;
}

std::optional<ParsedVersion> parse_version(const std::string& version) {
  // Servers and proxies of old put "5.5.5-" before MariaDB's own version.
  const std::string_view prefix = "5.5.5-";
  std::string_view text = version;
  if (text.substr(0, prefix.size()) == prefix) text.remove_prefix(prefix.size());
  uint32_t parts[3] = {};
  for (int i = 0; i < 3; ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts[i]);
    if (error != std::errc() || parts[i] > 99) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (i < 2) {
      if (text.empty() || text.front() != '.') return std::nullopt;
      text.remove_prefix(1);
    }
  }
  const bool mariadb = version.find("MariaDB") != std::string::npos;
  return ParsedVersion{mariadb ? Flavour::mariadb : Flavour::mysql,
                       parts[0] * 10'000 + parts[1] * 100 + parts[2]};
}

Result<InstanceFacts> read_facts(Connection& connection) {
  EVENKEEL_ASSIGN(
      const std::vector<Row> rows,
      connection.query("SELECT VERSION(), @@global.lower_case_table_names, @@global.collation_server, "
                       "@@global.max_allowed_packet, @@global.sql_mode, "
                       "@@global.max_prepared_stmt_count, @@global.time_zone, "
                       "@@global.system_time_zone"));
  if (rows.size() != 1 || !rows[0][0]) return fail(internal_error("the instance did not tell its version"));
  const Row& row = rows[0];
  const auto version = parse_version(*row[0]);
  if (!version) {
    return fail(make_error(
        ErrorKind::backend, mysql::er::unknown_error,
        fmt::format("instance {}: its version {} is not understood", connection.instance(), *row[0])));
  }
  InstanceFacts facts;
  facts.instance = connection.instance();
  facts.version = *row[0];
  facts.flavour = version->flavour;
  facts.version_id = version->id;
  facts.lower_case_table_names = number<int>(row[1]);
  facts.collation = row[2].value_or("");
  if (const mysql::Collation* collation = mysql::find_collation(facts.collation))
    facts.collation_id = collation->id;
  facts.max_allowed_packet = number<uint64_t>(row[3]);
  facts.sql_mode = row[4].value_or("");
  facts.max_prepared_statements = number<uint64_t>(row[5]);
  facts.time_zone = row[6].value_or("");
  if (facts.time_zone == "SYSTEM") facts.time_zone += fmt::format(" ({})", row[7].value_or(""));
  return facts;
}

void compare_facts(const std::vector<InstanceFacts>& all, std::vector<Finding>& findings) {
  using Severity = Finding::Severity;
  if (all.empty()) return;
  compare(all, "the version family", Severity::error, family, findings);
  compare(
      all, "lower_case_table_names", Severity::error,
      [](const InstanceFacts& facts) { return facts.lower_case_table_names; }, findings);
  compare(
      all, "the default collation", Severity::error,
      [](const InstanceFacts& facts) { return facts.collation; }, findings);
  compare(
      all, "max_allowed_packet", Severity::warning,
      [](const InstanceFacts& facts) { return facts.max_allowed_packet; }, findings);
  compare(
      all, "the default sql_mode", Severity::warning,
      [](const InstanceFacts& facts) { return fmt::format("'{}'", facts.sql_mode); }, findings);
  compare(
      all, "the time zone", Severity::warning, [](const InstanceFacts& facts) { return facts.time_zone; },
      findings);
}

}  // namespace evenkeel::control
