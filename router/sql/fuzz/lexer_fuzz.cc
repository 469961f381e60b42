// Any bytes: the lexer ends, its tokens lie in order inside the text, and their text put together is the
// text.
#include <cstdlib>
#include <string>

#include "router/sql/fingerprint.h"
#include "router/sql/fuzz/rules_byte.h"
#include "router/sql/splice.h"

using namespace evenkeel::sql;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const FuzzInput input = fuzz_input(bytes, size);
  Tokens tokens;
  if (!lex(input.text, input.rules, tokens)) return 0;
  uint32_t before = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].begin < before || tokens[i].end <= tokens[i].begin) std::abort();
    before = tokens[i].end;
  }
  if (before > input.text.size()) std::abort();
  const Span all{0, static_cast<uint32_t>(tokens.size() - 1)};
  std::string out;
  splice(tokens, all, {}, out);
  if (out != input.text) std::abort();
  out.clear();
  append_shape(tokens, all, out);
  (void)fingerprint_text(tokens, all);
  (void)next_statement(tokens, 0);
  return 0;
}
