#include "idgen/registry/registry.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::idgen {

Result<std::vector<KeyedRecord>> Registry::changes(std::string_view prefix, SeenVersions& seen) {
  EVENKEEL_ASSIGN(auto records, list(prefix));
  std::vector<KeyedRecord> changed;
  for (auto& keyed : records) {
    auto [position, is_new] = seen.try_emplace(keyed.key, keyed.record.version);
    if (!is_new && position->second == keyed.record.version) continue;
    position->second = keyed.record.version;
    changed.push_back(std::move(keyed));
  }
  return changed;
}

Result<HoldAttempt> Registry::try_hold(std::string_view key, std::string_view) {
  return fail(internal_error(fmt::format("this registry cannot prove who holds {}", key)));
}

Result<std::vector<std::string>> Registry::shortcomings() { return std::vector<std::string>{}; }

Error registry_error(std::string message) {
  return make_error(ErrorKind::registry, mysql::er::unknown_error, std::move(message));
}

Status check_key(std::string_view key) {
  const bool spelled = std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
  });
  if (spelled && !key.empty() && key.size() <= Registry::key_length_max) return {};
  return fail(
      registry_error(fmt::format("registry key '{}': 1 to {} letters, digits, '_', '-', '.', '/' are allowed",
                                 key, Registry::key_length_max)));
}

Status check_value(std::string_view key, std::string_view value) {
  if (value.size() <= Registry::value_size_max) return {};
  return fail(registry_error(fmt::format("registry record {} would have {} bytes; at most {} are allowed",
                                         key, value.size(), Registry::value_size_max)));
}

}  // namespace evenkeel::idgen
