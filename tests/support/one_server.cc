#include "tests/support/one_server.h"

#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace evenkeel::testing_support {

std::string absent_reason(demo::ServerKind kind) {
  const auto program = demo::find_server_program(kind, demo::default_cache_folder());
  return program ? "" : program.error().message;
}

Result<std::unique_ptr<demo::Cluster>> start_one_server(demo::ServerKind kind) {
  static std::atomic<int> number{0};
  demo::ClusterOptions options;
  options.server = kind;
  options.instances = 1;
  options.connections = 50;
  options.folder =
      std::filesystem::temp_directory_path() / fmt::format("evenkeel-server-{}-{}", getpid(), ++number);
  return demo::Cluster::start(options);
}

}  // namespace evenkeel::testing_support
