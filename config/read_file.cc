#include "config/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace evenkeel::config {

Result<std::string> read_file(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    return fail(config_error(fmt::format("{}: cannot be read: it is a directory", path)));
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(config_error(fmt::format("{}: cannot be read: {}", path, std::strerror(errno))));
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return fail(config_error(fmt::format("{}: reading failed", path)));
  return text;
}

}  // namespace evenkeel::config
