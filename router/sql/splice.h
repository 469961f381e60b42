// Rewriting by edits on the client's own bytes: comments, hints and whatever was not understood survive to
// the letter. With no edits the result is byte-identical.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "router/sql/lexer.h"

namespace evenkeel::sql {

// Replaces the bytes of tokens [first, last) (from the first token's begin to the last one's end) by `text`;
// an empty span inserts before token `first`. Removing may leave the blanks around it.
struct Edit {
  Span span;
  std::string text;
};

// Applies `edits` (sorted by span.first, not overlapping; several insertions at one place keep their order)
// to the bytes of tokens in `part`, appending to `out`. Leading and trailing comments of the part are kept
// when part covers the whole text.
void splice(const Tokens& tokens, Span part, const std::vector<Edit>& edits, std::string& out);

}  // namespace evenkeel::sql
