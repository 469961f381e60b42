// Errors of files, sockets and processes, made from errno.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace evenkeel::demo {

// "cannot open /path: Permission denied"; reads errno, so call it right after the failing call.
Error io_error(std::string_view action, const std::filesystem::path& object);
// For the std::filesystem functions that return a code.
Error io_error(std::string_view action, const std::filesystem::path& object, const std::error_code& cause);

}  // namespace evenkeel::demo
