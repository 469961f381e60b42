// Words of SQL: which there are, and which are reserved for whom.
#pragma once

#include <cstdint>
#include <string_view>

#include "router/sql/lexer.h"
#include "router/sql/token.h"

namespace evenkeel::sql {

enum class Keyword : uint16_t {
  none,
#define EVENKEEL_SQL_KEYWORD(name, word, reserved) name,
#include "router/sql/keyword_list.inc"
#undef EVENKEEL_SQL_KEYWORD
};

// `none` when `word` is not in the list. Letter case does not count. Constant time, no allocation. `readable`
// is how many bytes may be read from word.data() on: at least word.size(), faster from eight on.
Keyword find_keyword(std::string_view word, size_t readable);
inline Keyword find_keyword(std::string_view word) { return find_keyword(word, word.size()); }

// The word in lower case; empty for none.
std::string_view to_string(Keyword keyword);

// Whether the word cannot be an unquoted identifier in this flavour and version.
bool is_reserved(Keyword keyword, mysql::Flavour flavour, uint32_t version);

}  // namespace evenkeel::sql
