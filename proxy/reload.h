// RELOAD CONFIG and SIGHUP: the configuration is read again, and what may change takes effect together or not
// at all.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mysql/result_table.h"
#include "base/result.h"
#include "config/changes.h"
#include "config/config.h"
#include "proxy/admin_port.h"
#include "proxy/control/catalog_watch.h"
#include "proxy/net/server.h"
#include "proxy/steering_service.h"

namespace evenkeel {

// Thread-safe: one reload at a time. Not to be called on an event loop of `server`.
class Reload {
 public:
  // Everything outlives it.
  struct Parts {
    std::string text;  // that the proxy was started with
    const config::Config* started_with = nullptr;
    const Clock* clock = nullptr;
    net::Server* server = nullptr;
    SteeringService* steering = nullptr;
    control::CatalogWatch* watch = nullptr;
    AdminPort* admin = nullptr;
    // On the thread of the admin port's HTTP: the accounts whose passwords are what they were.
    std::function<void(const std::vector<answer::Account>& same)> admin_accounts;
  };

  explicit Reload(Parts parts) : parts_(std::move(parts)), now_(*parts_.started_with) {}

  // One row for each setting that changed, and one for each warning. Errors (nothing has changed then): a
  // file with faults, all of them told; changes that need a new start, all of them named; certificates that
  // cannot be read. `by`: who wanted it, for the log.
  Result<mysql::ResultTable> run(std::string_view by);

 private:
  Status check(const std::vector<config::Change>& changes, const config::Config& fresh) const;
  std::string why_not_the_tables(const config::Config& fresh) const;
  Status take(const config::Config& fresh);

  Parts parts_;
  std::mutex mutex_;    // guards what follows, and lets one reload run at a time
  config::Config now_;  // in force
};

}  // namespace evenkeel
