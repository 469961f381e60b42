#include "router/sql/syntax_error.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::sql {

Error syntax_error(std::string_view text, size_t offset, std::string_view reason) {
  constexpr size_t near_bytes = 80;  // as much as the server shows
  const std::string_view before = text.substr(0, offset);
  return make_error(
      ErrorKind::statement, mysql::er::parse_error,
      fmt::format("You have an error in your SQL syntax; check the manual that corresponds to your "
                  "MySQL server version for the right syntax to use near '{}' at line {} ({})",
                  text.substr(before.size(), near_bytes), 1 + std::count(before.begin(), before.end(), '\n'),
                  reason));
}

}  // namespace evenkeel::sql
