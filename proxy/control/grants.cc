#include "proxy/control/grants.h"

#include <algorithm>
#include <optional>

namespace evenkeel::control {
namespace {

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

// "SELECT, INSERT (a, b), UPDATE": a privilege on columns is none on the table.
std::set<std::string> split_privileges(std::string_view list) {
  std::set<std::string> privileges;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '(') ++depth;
    if (i < list.size() && list[i] == ')') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    std::string privilege = trimmed(list.substr(begin, i - begin));
    if (!privilege.empty() && privilege.find('(') == std::string::npos)
      privileges.insert(std::move(privilege));
    begin = i + 1;
  }
  return privileges;
}

// The database of "`shop\_%`.* TO …", "shop.* TO …" or "*.* TO …"; nullopt for a table or routine.
std::optional<std::string> database_of(std::string_view object) {
  std::string database;
  size_t at = 0;
  if (!object.empty() && object[0] == '`') {
    for (at = 1; at < object.size(); ++at) {
      if (object[at] == '`' && (at + 1 >= object.size() || object[at + 1] != '`')) break;
      if (object[at] == '`') ++at;
      database += object[at];
    }
    ++at;
  } else {
    at = object.find('.');
    if (at == std::string_view::npos) return std::nullopt;
    database = object.substr(0, at);
  }
  if (object.substr(std::min(at, object.size()), 3) != ".* ") return std::nullopt;
  return database;
}

}  // namespace

std::vector<Grant> parse_grants(const std::vector<std::string>& lines) {
  std::vector<Grant> grants;
  for (const std::string& line : lines) {
    const std::string_view text = line;
    const std::string_view grant = "GRANT ";
    const size_t on = text.find(" ON ");
    if (text.substr(0, grant.size()) != grant || on == std::string_view::npos) continue;
    auto database = database_of(text.substr(on + 4));
    if (!database) continue;
    grants.push_back({split_privileges(text.substr(grant.size(), on - grant.size())), std::move(*database)});
  }
  return grants;
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '%') {
    for (size_t skip = 0; skip <= name.size(); ++skip) {
      if (matches_pattern(pattern.substr(1), name.substr(skip))) return true;
    }
    return false;
  }
  if (name.empty()) return false;
  const bool escaped = pattern[0] == '\\' && pattern.size() > 1;
  if (escaped) pattern.remove_prefix(1);
  if ((escaped || pattern[0] != '_') && pattern[0] != name[0]) return false;
  return matches_pattern(pattern.substr(1), name.substr(1));
}

std::vector<std::string> missing_privileges(const std::vector<Grant>& grants, const std::string& database,
                                            const std::vector<std::string>& wanted) {
  std::vector<std::string> missing;
  for (const std::string& privilege : wanted) {
    const bool given = std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
      return (grant.database == "*" || matches_pattern(grant.database, database)) &&
             (grant.privileges.count(privilege) != 0 || grant.privileges.count("ALL PRIVILEGES") != 0);
    });
    if (!given) missing.push_back(privilege);
  }
  return missing;
}

}  // namespace evenkeel::control
