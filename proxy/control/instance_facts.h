// What an instance says of itself, and what all of them must agree on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mysql/flavour.h"
#include "base/result.h"
#include "proxy/control/connection.h"
#include "proxy/control/finding.h"

namespace evenkeel::control {

using mysql::Flavour;

struct InstanceFacts {
  std::string instance;
  std::string version;  // as the server announces it: "10.11.6-MariaDB-1", "9.7.0"
  Flavour flavour = Flavour::mysql;
  uint32_t version_id = 0;  // 101106, 90700
  int lower_case_table_names = 0;
  std::string collation;            // collation_server
  uint16_t collation_id = 0;        // 0: unknown to this program
  uint64_t max_allowed_packet = 0;  // bytes
  std::string sql_mode;             // the server's default
  uint64_t max_prepared_statements = 0;
  std::string time_zone;  // "SYSTEM (UTC)", "+00:00"

  bool operator==(const InstanceFacts&) const = default;
};

Result<InstanceFacts> read_facts(Connection& connection);

// "10.11.6-MariaDB-log" -> {mariadb, 101106}; nullopt when it is no version.
struct ParsedVersion {
  Flavour flavour;
  uint32_t id;
  bool operator==(const ParsedVersion&) const = default;
};
std::optional<ParsedVersion> parse_version(const std::string& version);

// Version family (flavour, major and minor), lower_case_table_names and default collation must be equal:
// errors. What may differ but deserves a look (sql_mode, time zone, max_allowed_packet): warnings.
void compare_facts(const std::vector<InstanceFacts>& all, std::vector<Finding>& findings);

}  // namespace evenkeel::control
