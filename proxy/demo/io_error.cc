#include "proxy/demo/io_error.h"

#include <cerrno>
#include <fmt/format.h>
#include <system_error>

#include "base/mysql/error_codes.h"

namespace evenkeel::demo {

Error io_error(std::string_view action, const std::filesystem::path& object) {
  return io_error(action, object, std::error_code(errno, std::generic_category()));
}

Error io_error(std::string_view action, const std::filesystem::path& object, const std::error_code& cause) {
  return make_error(ErrorKind::io, mysql::er::unknown_error,
                    fmt::format("cannot {} {}: {}", action, object.string(), cause.message()));
}

}  // namespace evenkeel::demo
