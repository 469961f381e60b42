// A registry in etcd, through the JSON gateway of its v3 interface (etcd 3.4 and later), by libcurl.
//
// A record is the key "<prefix>/<key>"; its version is etcd's own. A compare-and-put is a transaction on that
// version. Reads are linearizable. etcd tells its time only in the Date of an HTTP answer, in whole seconds.
#pragma once

#include <memory>

#include "idgen/registry/registry.h"
#include "idgen/registry/settings.h"

namespace evenkeel::idgen {

// Asks the endpoint that answered last, the next one when it cannot be connected to; after a timeout the next
// call begins with the next one. Calls of several threads queue. `settings` are checked.
std::unique_ptr<Registry> make_etcd_registry(const RegistrySettings& settings);

}  // namespace evenkeel::idgen
