// A registry in Redis: hiredis writes and reads the protocol, over a stream of our own, because the hiredis
// of Debian 12 (0.14) has no TLS.
//
// All records are fields of one hash, `<prefix>:{registry}:records`, each "version:value"; a sorted set
// beside it gives them in order. A compare-and-put is a Lua script, which Redis runs alone. The server must
// append to its file before it answers (appendonly yes, appendfsync always), and must not evict;
// shortcomings() asks. One server, not a cluster whose failover may forget what was confirmed.
#pragma once

#include <memory>

#include "idgen/registry/registry.h"
#include "idgen/registry/settings.h"

namespace evenkeel::idgen {

// One connection, opened by the first call and again after it was lost; calls of several threads queue for
// it. Reads are repeated once on a new connection, a compare-and-put never. `settings` are checked.
std::unique_ptr<Registry> make_redis_registry(const RegistrySettings& settings);

}  // namespace evenkeel::idgen
