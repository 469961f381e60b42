// `evenkeel cluster`: real servers for tests and benches of any language.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "proxy/demo/folders.h"
#include "proxy/demo/layout.h"
#include "proxy/demo/server_program.h"

namespace evenkeel::demo {

struct ClusterCommandOptions {
  std::filesystem::path folder;
  ServerKind server = ServerKind::mariadb;
  uint32_t instances = 4;
  // Makes the demo's tables of this layout (its instance count wins); without it the servers are empty.
  std::optional<Layout> layout;
  uint32_t connections = 1000;
  std::filesystem::path cache = default_cache_folder();
};

// Starts the servers and prints one line of JSON to standard output:
//   {"server":"MariaDB","version":"…","folder":"…","administrator":{"user":"…","password":"…"},
//    "proxy_account":{…},"instances":[{"number":1,"port":20123,"pid":4711,"log":"…"}, …]}
// Then reads commands from standard input, one a line, numbers counted from 1, and answers each with one line
// of JSON, {"ok":true} or {"ok":false,"reason":"…"}:
//   kill N (as a crash), stop N, start N
// Ends, stopping the servers and removing the folder, when standard input closes or on SIGINT or SIGTERM.
Status run_cluster_command(const ClusterCommandOptions& options);

}  // namespace evenkeel::demo
