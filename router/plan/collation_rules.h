// What a collation's name tells: every server has hundreds, in families with one rule each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "router/catalog/catalog.h"

namespace evenkeel::plan {

// "utf8mb4" of "utf8mb4_general_ci"; "binary" of "binary"; MariaDB's and MySQL's "utf8" is "utf8mb3".
std::string_view charset_of(std::string_view collation_name);
// Characters below 128 are single bytes of the same value.
bool is_ascii_superset(std::string_view charset);
// Trailing blanks do not count.
bool pads_blanks(std::string_view collation_name);
// Compares by code: binary and *_bin.
bool compares_by_code(std::string_view collation_name);

// The expression whose bytes order and group like the string column `qualified_name`: WEIGHT_STRING, padded
// for PAD SPACE. Nullopt where no such expression is known to be exact: TEXT, columns longer than
// weight_characters_max, collations of unknown families.
std::optional<std::string> weight_expression(const catalog::Column& column, std::string_view qualified_name);
inline constexpr uint32_t weight_characters_max = 255;

}  // namespace evenkeel::plan
