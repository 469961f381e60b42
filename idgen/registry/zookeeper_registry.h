// A registry in ZooKeeper, through its multi-threaded C client.
//
// A record is a node below "/<prefix>", its key with '+' for '/' and one in front; its version is ZooKeeper's
// own, counted from 1. Every read is preceded by a sync, so that a member that lags tells nothing old. With
// an account the nodes belong to it (digest), else anybody may change them. No TLS: Debian 12 builds the
// client without it. The time is that of the leader, read off a node written for it.
#pragma once

#include <memory>

#include "idgen/registry/registry.h"
#include "idgen/registry/settings.h"

namespace evenkeel::idgen {

// One session, opened by the first call and again after it expired; calls of several threads run side by
// side. `settings` are checked.
std::unique_ptr<Registry> make_zookeeper_registry(const RegistrySettings& settings);

}  // namespace evenkeel::idgen
