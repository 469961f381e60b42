#include "router/plan/collation_rules.h"

#include <fmt/format.h>

namespace evenkeel::plan {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool ends_with(std::string_view text, std::string_view part) { return text.ends_with(part); }

// Weights that one character can have. A family in which it is one: general_ci, *_bin, latin1_swedish_ci. In
// the Unicode collation algorithm a character can expand to eight (both servers' tables hold no more).
std::optional<uint32_t> weights_per_character(std::string_view name) {
  if (ends_with(name, "_general_ci") || ends_with(name, "_bin") || name == "latin1_swedish_ci") return 1;
  if (contains(name, "_unicode_") || contains(name, "_uca1400_")) return 8;
  return std::nullopt;
}

}  // namespace

std::string_view charset_of(std::string_view collation_name) {
  const std::string_view charset = collation_name.substr(0, collation_name.find('_'));
  return charset == "utf8" ? "utf8mb3" : charset;
}

bool is_ascii_superset(std::string_view charset) {
  return charset != "ucs2" && charset != "utf16" && charset != "utf16le" && charset != "utf32";
}

bool pads_blanks(std::string_view collation_name) {
  return collation_name != "binary" && !contains(collation_name, "_0900_") &&
         !contains(collation_name, "nopad");
}

bool compares_by_code(std::string_view collation_name) {
  return collation_name == "binary" || ends_with(collation_name, "_bin");
}

std::optional<std::string> weight_expression(const catalog::Column& column, std::string_view qualified_name) {
  const std::string_view name = column.collation_name;
  const bool sized = column.type == mysql::ColumnType::string ||
                     column.type == mysql::ColumnType::var_string ||
                     column.type == mysql::ColumnType::varchar;
  if (!sized || column.char_length == 0 || column.char_length > weight_characters_max) return std::nullopt;
  if (!pads_blanks(name)) {
    if (contains(name, "_0900_") || weights_per_character(name) || contains(name, "_nopad_")) {
      return fmt::format("WEIGHT_STRING({})", qualified_name);
    }
    return std::nullopt;
  }
  const auto weights = weights_per_character(name);
  if (!weights) return std::nullopt;
  const uint32_t characters = column.char_length * *weights;
  const std::string padded = fmt::format("WEIGHT_STRING({} AS CHAR({}))", qualified_name, characters);
  // MySQL pads by characters, so that a text with a character of two weights (ß) gets more blanks than its
  // equal (ss): what is beyond the places that all have is cut.
  constexpr uint32_t weight_bytes = 2;
  if (contains(name, "_unicode_")) return fmt::format("LEFT({}, {})", padded, weight_bytes * characters);
  return padded;
}

}  // namespace evenkeel::plan
