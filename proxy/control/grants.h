// What an account may do, from the lines of SHOW GRANTS.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::control {

// One GRANT on a database pattern or on everything.
struct Grant {
  std::set<std::string> privileges;  // "SELECT", "ALL PRIVILEGES", … in capitals
  std::string database;              // as written between backquotes: with % and _ as wildcards; "*": all
  bool operator==(const Grant&) const = default;
};

// Grants on single tables and routines, of roles and of proxies are left out: they give nothing on a whole
// database.
std::vector<Grant> parse_grants(const std::vector<std::string>& lines);

// `pattern` as in a GRANT: % any text, _ any character, \% and \_ those characters.
bool matches_pattern(std::string_view pattern, std::string_view name);

// Those of `wanted` that no grant gives on `database`.
std::vector<std::string> missing_privileges(const std::vector<Grant>& grants, const std::string& database,
                                            const std::vector<std::string>& wanted);

}  // namespace evenkeel::control
