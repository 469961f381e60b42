// Files that the program is told to read, whole.
#pragma once

#include <string>

#include "base/result.h"

namespace evenkeel::config {

// Errors (kind config) name the file and why it cannot be read: a directory is none.
Result<std::string> read_file(const std::string& path);

}  // namespace evenkeel::config
