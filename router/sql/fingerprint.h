// The shape of a statement: its tokens with the texts of literals left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "router/sql/lexer.h"

namespace evenkeel::sql {

// Appends the normalised tokens of `part` to `out` (binary form: kinds, keywords, identifier texts as
// written; literals by kind only, but integer 0 apart from other integers, and a list of n literals is not
// folded). Two texts with equal bytes here differ in literal texts and blanks only. A cache compares these
// bytes, not only their hash.
void append_shape(const Tokens& tokens, Span part, std::string& out);

// xxh3 over the shape.
uint64_t shape_hash(std::string_view shape);

// For logs, metrics and the slow log: readable, no literals, IN lists and VALUES rows folded to "(?, ...)".
std::string fingerprint_text(const Tokens& tokens, Span part);

}  // namespace evenkeel::sql
