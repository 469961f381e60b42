#include "router/plan/analysis.h"
#include "router/sql/literal.h"

namespace evenkeel::plan {

void add_edits(const Analysis& analysis, const Arguments& arguments, NameStyle style, Rewrite& rewrite) {
  for (const SessionCall& call : analysis.calls) {
    const mysql::Value value = session_value(call.function, arguments.facts);
    Piece piece = call.literal_only ? rewrite.literal(value) : rewrite.value(value);
    // A bare number there would be a position.
    if (call.orders && value.is_integer()) piece.text += "+0";
    rewrite.replace(call.expr->span, std::move(piece));
  }
  for (const sql::SelectItem* item : analysis.named_items) {
    Piece name{" AS ", {}};
    sql::append_identifier(arguments.tokens.text_of(item->span), name.text);
    rewrite.insert(item->span.last, std::move(name));
  }
  for (const Qualifier& qualifier : analysis.qualifiers) {
    if (style == NameStyle::with_alias || qualifier.table.empty()) {
      if (!qualifier.with_schema.empty()) rewrite.replace(qualifier.with_schema, std::string{});
    } else {
      rewrite.name(qualifier.table, *analysis.uses[qualifier.use].rule, NameStyle::bare, {});
    }
  }
  for (const sql::Span span : analysis.target_schemas) rewrite.replace(span, std::string{});
  for (const TableUse& use : analysis.uses) {
    rewrite.name(use.name, *use.rule, use.has_alias ? NameStyle::bare : style, use.shown);
  }
}

}  // namespace evenkeel::plan
