// One real server of the test's own, with the means of the local cluster: loopback only, new data, gone
// afterwards.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "proxy/demo/cluster.h"

namespace evenkeel::testing_support {

// Why there is no such server on this machine, with the remedy; empty when there is: a reason to skip a test.
std::string absent_reason(demo::ServerKind kind);

// Owned by the caller; destroying it stops the server and removes its data.
Result<std::unique_ptr<demo::Cluster>> start_one_server(demo::ServerKind kind);

}  // namespace evenkeel::testing_support
