// A registry in one table of a MySQL or MariaDB server, through Connector/C++ 1.1.
//
// The table `<prefix>_registry` is made when it is missing. A compare-and-put is one statement, INSERT for a
// new record and UPDATE … WHERE version = ? for a present one, so that the row's lock decides. The server
// must flush each commit (innodb_flush_log_at_trx_commit = 1); a failover to an asynchronous replica may lose
// the last records, and with them the proof of who holds what.
#pragma once

#include <memory>

#include "idgen/registry/registry.h"
#include "idgen/registry/settings.h"

namespace evenkeel::idgen {

// One connection, opened by the first call and again after it was lost; calls of several threads queue for
// it. Reads are repeated once on a new connection, a compare-and-put never. `settings` are checked.
std::unique_ptr<Registry> make_mysql_registry(const RegistrySettings& settings);

}  // namespace evenkeel::idgen
