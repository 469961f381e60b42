// Error 1064 in the server's own words.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace evenkeel::sql {

// "You have an error in your SQL syntax; …near '<up to 80 bytes of text from offset>' at line N", with
// `reason` in brackets behind it.
Error syntax_error(std::string_view text, size_t offset, std::string_view reason);

}  // namespace evenkeel::sql
