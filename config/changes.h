// What differs between two texts of one configuration, and which of it may take effect while a proxy runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/yaml_tree.h"

namespace evenkeel::config {

struct Change {
  std::string path;  // "users[0].hosts", "limits.slow_query"
  Mark mark;         // in the new text; of what is no longer there, where it stood in the old one
  bool removed = false;
  // Of `ids`, which is another program's: told, without effect.
  bool foreign = false;
  // At run time; otherwise at the next start only.
  bool applies = false;
};

// In the order of the new text. Lists of different lengths are one change; values are compared as they are
// written, so that ${NAME} is unchanged whatever the variable says. Errors: a text that is not YAML.
Result<std::vector<Change>> changes(std::string_view before, std::string_view now, const std::string& source);

// Whether a change at this path may take effect while the proxy runs: docs/configuration.md has the table.
bool applies_at_run_time(std::string_view path);

}  // namespace evenkeel::config
