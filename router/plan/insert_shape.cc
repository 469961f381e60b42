#include "router/plan/insert_shape.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "router/plan/constants.h"
#include "router/plan/scope.h"
#include "router/sql/literal.h"

namespace evenkeel::plan {
namespace {

using sql::Expr;
using sql::ExprKind;

Status refuse_forms(const sql::Insert& insert, const TableUse& use) {
  const auto refuse = [&](std::string_view what) {
    return fail(unsupported(fmt::format("{} sharded table '{}'", what, use.rule->name)));
  };
  if (insert.query != nullptr)
    return refuse(insert.replace ? "REPLACE … SELECT into" : "INSERT … SELECT into");
  if (!insert.partition.empty()) return refuse("INSERT with PARTITION (…) into");
  if (use.table->has_triggers) return refuse("INSERT by way of triggers into");
  return {};
}

Status read_columns(const sql::Insert& insert, const TableUse& use, InsertShape& shape) {
  const auto add = [&](std::string_view name) -> Status {
    const auto index = use.table->index_of(name);
    if (!index) {
      return fail(make_error(ErrorKind::statement, mysql::er::bad_field,
                             fmt::format("Unknown column '{}' in 'field list'", name)));
    }
    if (shape.position_of(*index)) {
      return fail(make_error(ErrorKind::statement, 1110, fmt::format("Column '{}' specified twice", name)));
    }
    shape.columns.push_back(*index);
    return {};
  };
  if (insert.set_form) {
    for (const sql::Assignment& assignment : insert.set) EVENKEEL_TRY(add(assignment.column.text));
    return {};
  }
  if (insert.has_column_list && !insert.columns.empty()) {
    for (const sql::Identifier& column : insert.columns) EVENKEEL_TRY(add(column.text));
    return {};
  }
  // INSERT INTO t VALUES () fills all columns with their defaults.
  const bool all_defaults = !insert.rows.empty() && insert.rows.front().values.empty();
  if (insert.has_column_list || all_defaults) return {};
  for (uint32_t i = 0; i < use.table->columns.size(); ++i) {
    if (!use.table->columns[i].invisible) shape.columns.push_back(i);
  }
  return {};
}

Status check_rows(const sql::Insert& insert, InsertShape& shape) {
  shape.rows = insert.set_form ? 1 : static_cast<uint32_t>(insert.rows.size());
  for (size_t row = 0; row < insert.rows.size(); ++row) {
    if (insert.rows[row].values.size() == shape.columns.size()) continue;
    return fail(make_error(ErrorKind::statement, mysql::er::wrong_value_count_on_row,
                           fmt::format("Column count doesn't match value count at row {}", row + 1)));
  }
  if (shape.rows == 0) return fail(unsupported("an INSERT without rows that are understood"));
  return {};
}

std::string identifier(std::string_view name) {
  std::string out;
  sql::append_identifier(name, out);
  return out;
}

// Rewritten INSERTs always name their columns, so that a row never lands in columns that were added since.
void name_columns(const sql::Insert& insert, const TableUse& use, InsertShape& shape) {
  const bool adds_key = shape.generates && !shape.generated_position;
  if (insert.set_form) return;
  if (insert.has_column_list) {
    if (!adds_key) return;
    shape.columns_at = insert.column_list.last - 1;
    shape.columns_text = (insert.columns.empty() ? "" : ", ") + identifier(use.rule->generated_column);
  } else {
    std::string names;
    for (const uint32_t column : shape.columns) {
      names += (names.empty() ? "" : ", ") + identifier(use.table->columns[column].name);
    }
    if (adds_key) names += (names.empty() ? "" : ", ") + identifier(use.rule->generated_column);
    shape.columns_at = insert.table.span.last;
    shape.columns_text = " (" + names + ")";
  }
  if (adds_key && !insert.column_aliases.empty()) shape.alias_at = insert.column_aliases.back().token + 1;
}

// key = VALUES(key), key = key, key = alias.key, key = LAST_INSERT_ID(key): the row stays in its slot.
// `name`: of the column in question.
bool keeps_key(const Expr& outer, const sql::Insert& insert, std::string_view name) {
  const Expr& expr = bare(outer);
  const auto is_key = [&](const Expr& column) {
    return column.kind == ExprKind::column && same_name(column.column.text, name);
  };
  if (is_last_insert_id_of(expr)) return expr.args.size() == 1 && keeps_key(*expr.args[0], insert, name);
  if (expr.kind == ExprKind::values_of) return expr.args.size() == 1 && is_key(bare(*expr.args[0]));
  if (!is_key(expr)) return false;
  // Renamed columns of a row alias: the name may be another column's.
  return insert.column_aliases.empty();
}

Status check_on_duplicate(const sql::Insert& insert, std::string_view name, std::string_view what) {
  for (const sql::Assignment& assignment : insert.on_duplicate) {
    if (!same_name(assignment.column.text, name)) continue;
    if (assignment.value != nullptr && keeps_key(*assignment.value, insert, name)) continue;
    return fail(unsupported(fmt::format("ON DUPLICATE KEY UPDATE of {} '{}'", what, name)));
  }
  return {};
}

}  // namespace

std::optional<uint32_t> InsertShape::position_of(uint32_t catalog_column) const {
  const auto found = std::find(columns.begin(), columns.end(), catalog_column);
  if (found == columns.end()) return std::nullopt;
  return static_cast<uint32_t>(found - columns.begin());
}

const Expr* InsertShape::value(const sql::Insert& insert, uint32_t row,
                               std::optional<uint32_t> position) const {
  if (!position) return nullptr;
  return insert.set_form ? insert.set[*position].value : insert.rows[row].values[*position];
}

Result<InsertShape> insert_shape(const Analysis& analysis) {
  const sql::Insert& insert = *analysis.statement->insert;
  const TableUse& use = analysis.uses.front();
  EVENKEEL_TRY(refuse_forms(insert, use));
  if (analysis.uses.size() > 1) {
    return fail(unsupported(
        fmt::format("a subquery on a sharded table in an INSERT into sharded table '{}'", use.rule->name)));
  }
  InsertShape shape;
  EVENKEEL_TRY(read_columns(insert, use, shape));
  EVENKEEL_TRY(check_rows(insert, shape));
  const auto key = use.table->index_of(use.rule->key_column);
  shape.key_position = key ? shape.position_of(*key) : std::nullopt;
  if (!use.rule->generated_column.empty()) {
    const auto generated = use.table->index_of(use.rule->generated_column);
    if (!generated) {
      return fail(make_error(ErrorKind::backend, mysql::er::bad_field,
                             fmt::format("sharded table '{}' has no column '{}', which the proxy is to fill",
                                         use.rule->name, use.rule->generated_column)));
    }
    shape.generates = true;
    shape.generated_position = shape.position_of(*generated);
  }
  name_columns(insert, use, shape);
  EVENKEEL_TRY(check_on_duplicate(insert, use.rule->key_column, "sharding column"));
  if (use.gene_key != nullptr)
    EVENKEEL_TRY(check_on_duplicate(insert, use.gene_key->name, "table-naming column"));
  const auto table_keys = catalog::unique_keys_without(*use.table, use.rule->key_column);
  if (!table_keys.empty()) shape.table_unique_key = table_keys.front()->name;
  shape.looks_for_duplicates = insert.replace || insert.ignore || !insert.on_duplicate.empty();
  return shape;
}

Status check_time_calls(const Analysis& analysis, const Arguments& arguments) {
  for (const Expr* call : analysis.time_calls) {
    if (arguments.facts.unix_micros != 0 && fixed_time(*call, arguments.facts.unix_micros, arguments))
      continue;
    std::string name(call->name);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    return fail(unsupported(fmt::format("{}() in a write that goes to several tables", name)));
  }
  return {};
}

void fix_time(const Analysis& analysis, const Arguments& arguments, Rewrite& rewrite) {
  for (const Expr* call : analysis.time_calls) {
    if (auto text = fixed_time(*call, arguments.facts.unix_micros, arguments)) {
      rewrite.replace(call->span, std::move(*text));
    }
  }
}

}  // namespace evenkeel::plan
