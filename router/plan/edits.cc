#include <fmt/format.h>

#include "router/plan/analysis.h"
#include "router/sql/literal.h"

namespace evenkeel::plan {
namespace {

// In a select list the type counts too: MariaDB takes a short literal for an INT where the function is a
// BIGINT.
Piece typed(SessionFunction function, const mysql::Value& value, const Arguments& arguments, Piece literal) {
  if (!value.is_integer()) return literal;
  switch (function) {
    case SessionFunction::connection_id:
      if (arguments.facts.lex.flavour == mysql::Flavour::mariadb) {
        return Piece{fmt::format("CAST({} AS UNSIGNED)", literal.text), {}};
      }
      [[fallthrough]];
    case SessionFunction::last_insert_id:
    case SessionFunction::warning_count:
    case SessionFunction::error_count:
      return Piece{fmt::format("({}|0)", literal.text), {}};
    default:
      return Piece{fmt::format("COALESCE({},9223372036854775807)", literal.text), {}};
  }
}

}  // namespace

void add_edits(const Analysis& analysis, const Arguments& arguments, NameStyle style, Rewrite& rewrite) {
  for (const SessionCall& call : analysis.calls) {
    const mysql::Value value = session_value(call.function, arguments.facts);
    Piece piece = call.literal_only ? rewrite.literal(value) : rewrite.value(value);
    // A bare number there would be a position.
    if (call.orders && value.is_integer()) piece.text += "+0";
    if (call.literal_only && !call.orders) {
      piece = typed(call.function, value, arguments, std::move(piece));
    }
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
