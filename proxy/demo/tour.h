// `evenkeel demo`: a real cluster, the proxy before it, an ordinary client inserting through it, and a
// picture of where the rows went.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "proxy/demo/folders.h"
#include "proxy/demo/layout.h"
#include "proxy/demo/server_program.h"

namespace evenkeel::demo {

struct DemoOptions {
  // Default: 100 for every table up to 12,800 rows, 4 for every table of larger layouts.
  std::optional<uint64_t> rows;
  // Tables of the first instance begin with twice the rows of the others, and new rows are steered.
  bool skew = false;
  double rate = 0;  // rows a second; 0: as fast as one client goes
  Layout layout;
  bool once = false;  // end after the tour instead of serving until Ctrl-C
  bool keep = false;  // leave data directories, logs and configuration behind
  ServerKind server = ServerKind::mariadb;
  // The evenkeel program itself; it is called with `serve`.
  std::filesystem::path program = "/proc/self/exe";
  std::filesystem::path cache = default_cache_folder();
  std::filesystem::path state = default_state_folder();
};

// Prints to standard output. Call from the main thread, before other threads are started. Ends when the tour
// is over (once), on SIGINT, SIGTERM or SIGHUP (which is no error), or when a part of it fails; stops and
// removes what it started in every case.
Status run_demo(const DemoOptions& options);

}  // namespace evenkeel::demo
