// Any text: the parser ends, spans of the tree lie inside each other, and literals have a value or an error.
#include <cstdlib>

#include "router/sql/create_table.h"
#include "router/sql/fuzz/rules_byte.h"
#include "router/sql/literal.h"
#include "router/sql/parser.h"
#include "router/sql/tests/dump.h"

using namespace evenkeel::sql;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const FuzzInput input = fuzz_input(bytes, size);
  Tokens tokens;
  if (!lex(input.text, input.rules, tokens)) return 0;
  (void)parse_create_table(tokens, input.rules, {0, static_cast<uint32_t>(tokens.size() - 1)});
  const auto statement = parse(tokens, input.rules);
  if (!statement) return 0;
  for (const SpanPair& pair : nested_spans(**statement)) {
    if (pair.child.first < pair.parent.first || pair.child.last > pair.parent.last) std::abort();
  }
  (void)dump(**statement, tokens);
  for (const Insert* insert = (*statement)->insert; insert != nullptr; insert = nullptr) {
    for (const InsertRow& row : insert->rows) {
      for (const Expr* value : row.values) {
        if (is_literal(*value)) (void)literal_value(*value, tokens, input.rules);
      }
    }
  }
  return 0;
}
