// Lexer rules from a line of words: "mysql 80036 gbk ansi_quotes no_backslash_escapes pipes_as_concat".
#pragma once

#include <string_view>

#include "router/sql/lexer.h"

namespace evenkeel::sql {

LexRules rules_of(std::string_view words);

}  // namespace evenkeel::sql
