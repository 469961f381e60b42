// One YAML file -> the settings of all rooms, checked. The only room that knows YAML.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "idgen/registry/settings.h"
#include "idgen/settings.h"
#include "proxy/answer/settings.h"
#include "proxy/backend/settings.h"
#include "proxy/http/settings.h"
#include "proxy/ids/settings.h"
#include "proxy/net/settings.h"
#include "proxy/session/settings.h"
#include "proxy/skew/settings.h"
#include "router/rule/rule_set.h"
#include "router/rule/settings.h"

namespace evenkeel::config {

struct HttpConfig {
  std::vector<net::Listener> listeners;
  http::Settings settings;
};

// `evenkeel ids`: the id service.
struct IdsConfig {
  bool given = false;
  std::vector<net::Listener> listeners;  // MySQL protocol
  HttpConfig http;
  std::vector<answer::Account> users;
  answer::Limits limits;
  ids::Settings service;
  uint32_t threads = 1;  // event loops of the MySQL protocol
};

// The admin port of a proxy.
struct AdminConfig {
  bool given = false;
  std::vector<net::Listener> listeners;  // MySQL protocol
  HttpConfig http;
  std::vector<answer::Account> users;
};

// A plain value; copied into each room at start. `rules` was built from `rule` and is shared.
struct Config {
  std::string source;  // the file's name, for messages
  std::string log_level = "info";
  std::string state_directory;  // generated keys (0600), worker leases, upper ticks of issued ids
  net::Settings net;
  backend::Settings backend;
  session::Settings session;
  // What the catalog is read with on every instance; empty user: the first user's backend accounts.
  session::BackendAccount control;
  // Key generators by name. A logical table makes its own generator from the one it names: worker ids are
  // shared by all tables of a name, ids are unique per table.
  std::vector<idgen::GeneratorSettings> generators;
  // Who holds which worker id. Files in the state directory when the configuration says nothing.
  idgen::RegistrySettings registry;
  IdsConfig ids;
  AdminConfig admin;
  skew::Settings steering;
  rule::Settings rule;
  rule::RuleSetPtr rules;
  std::vector<std::string> warnings;  // things that work but deserve a look (case C03), one sentence each

  // Null when there is none of this name.
  const idgen::GeneratorSettings* find_generator(std::string_view name) const;
};

// The value of an environment variable, or of the file that NAME_FILE names, without its last end of line;
// nullopt: neither is there. Asked anew for each reading.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
Environment process_environment();

// Errors are of kind config. Their message holds every problem found, one a line:
//   evenkeel.yaml:12:7: users[0].pasword: unknown key; allowed here: backend, hosts, name, …
// Secrets stand in no message. `now_unix_ms` serves the checks of how long an id layout will last.
Result<Config> parse(std::string_view text, const std::string& source, const Environment& environment,
                     int64_t now_unix_ms);
Result<Config> load(const std::string& path, const Environment& environment, int64_t now_unix_ms);

}  // namespace evenkeel::config
