#include "router/plan/select_shape.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <functional>
#include <initializer_list>
#include <optional>

#include "router/plan/constants.h"
#include "router/plan/scope.h"
#include "router/plan/sort_column.h"
#include "router/sql/literal.h"

namespace evenkeel::plan {
namespace {

using sql::Expr;
using sql::ExprKind;

bool contains(const Expr& expr, const std::function<bool(const Expr&)>& test) {
  return test(expr) || std::any_of(expr.args.begin(), expr.args.end(),
                                   [&](const Expr* arg) { return contains(*arg, test); });
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Not what has been rounded since.
bool is_quotient(const Expr& expr) {
  if (expr.kind == ExprKind::binary && expr.op == sql::Op::slash) return true;
  if (expr.kind == ExprKind::cast) return false;
  if (expr.kind == ExprKind::function &&
      is_one_of(expr.name, {"round", "truncate", "floor", "ceil", "ceiling"}))
    return false;
  return std::any_of(expr.args.begin(), expr.args.end(), [](const Expr* arg) { return is_quotient(*arg); });
}

Error over_several(std::string_view what) { return unsupported(fmt::format("{} over several tables", what)); }

class ShapeBuilder {
 public:
  ShapeBuilder(const Analysis& analysis, const sql::Tokens& tokens)
      : query_(*analysis.statement->query),
        uses_(analysis.uses),
        tokens_(tokens),
        not_understood_(analysis.statement->has_opaque) {}

  Result<ScatterShape> build() {
    EVENKEEL_TRY(refuse_by_clause());
    block_ = query_.block;
    EVENKEEL_TRY(read_items());
    const bool grouped = !block_->group_by.empty() || any_aggregate_;
    if (block_->distinct && grouped)
      return fail(over_several("SELECT DISTINCT with GROUP BY or an aggregate"));
    if (grouped) {
      EVENKEEL_TRY(build_grouped());
    } else if (block_->distinct) {
      EVENKEEL_TRY(build_distinct());
    } else {
      EVENKEEL_TRY(build_ordered());
    }
    if (not_understood_) return fail(over_several("PROCEDURE or another clause that is not understood"));
    if (query_.lock != sql::LockClause::none || has_options()) {
      shape_.union_text = shape_.union_binary = false;
    }
    return std::move(shape_);
  }

 private:
  // One column of the result.
  struct Output {
    const Expr* expr = nullptr;               // null for a column of *
    const catalog::Column* column = nullptr;  // a plain column of the table
    std::string_view alias;
  };

  // Modifiers that a branch of a union may not have, or that would mean the union there.
  bool has_options() const {
    for (uint32_t i = block_->options.first; i < block_->options.last; ++i) {
      const std::string_view word = tokens_.text_of(i);
      if (!same_name(word, "distinct") && !same_name(word, "all")) return true;
    }
    return false;
  }

  Status refuse_by_clause() const {
    if (query_.op != sql::SetOp::none) return fail(over_several("UNION, INTERSECT or EXCEPT"));
    if (!query_.with.empty()) return fail(over_several("WITH"));
    if (query_.block == nullptr || query_.parenthesised) return fail(over_several("SELECT in parentheses"));
    const sql::SelectBlock& block = *query_.block;
    if (block.is_values) return fail(over_several("TABLE or VALUES"));
    EVENKEEL_TRY(check_from(*block.from));
    if (block.having != nullptr) return fail(over_several("HAVING"));
    if (block.with_rollup) return fail(over_several("WITH ROLLUP"));
    if (!block.window_span.empty()) return fail(over_several("WINDOW"));
    if (block.calc_found_rows) return fail(over_several("SQL_CALC_FOUND_ROWS"));
    return {};
  }

  // Tables, alone or joined. What else stands in a FROM may read other rows than those of one slot.
  static Status check_from(const sql::TableRef& from) {
    switch (from.kind) {
      case sql::TableKind::table:
        return {};
      case sql::TableKind::parenthesis:
        return check_from(*from.left);
      case sql::TableKind::join:
        if (!from.using_columns.empty()) return fail(over_several("JOIN … USING"));
        EVENKEEL_TRY(check_from(*from.left));
        return check_from(*from.right);
      default:
        return fail(over_several("JOIN with other than tables"));
    }
  }

  Status read_items() {
    for (const sql::SelectItem& item : block_->items) {
      if (item.expr->kind == ExprKind::star) {
        EVENKEEL_TRY(add_star(item));
        continue;
      }
      EVENKEEL_TRY(check_expression(*item.expr));
      Output output;
      output.expr = &bare(*item.expr);
      output.alias = item.alias.text;
      output.column = plain_column(*output.expr);
      any_aggregate_ |= output.expr->kind == ExprKind::aggregate;
      check_union(*output.expr, output.column);
      outputs_.push_back(output);
    }
    return {};
  }

  Status add_star(const sql::SelectItem& item) {
    ScatterShape::Star star{item.span, {}};
    const sql::Identifier& qualifier = item.expr->table;
    for (const TableUse& use : uses_) {
      if (qualifier && uses_.size() > 1 && !same_name(use.shown, qualifier.text)) continue;
      for (const catalog::Column& column : use.table->columns) {
        if (column.invisible) continue;
        outputs_.push_back({nullptr, stands_once(use) ? &column : nullptr, {}});
        check_union_column(column);
        if (!star.columns.empty()) star.columns += ", ";
        star.columns += column_name(use, column);
      }
    }
    if (star.columns.empty()) return fail(over_several("a * of no table"));
    stars_.push_back(std::move(star));
    return {};
  }

  static Status check_expression(const Expr& expr) {
    const Expr& top = bare(expr);
    for (const Expr* part : parts_of(top)) {
      if (part->kind == ExprKind::window || part->over != nullptr)
        return fail(over_several("a window function"));
      if (part->query != nullptr) return fail(over_several("a subquery in the select list"));
      if (part->kind == ExprKind::opaque) return fail(over_several("an expression that is not understood"));
      if (part->kind == ExprKind::aggregate && part != &top) {
        return fail(over_several("an expression over aggregates"));
      }
    }
    return {};
  }

  static std::vector<const Expr*> parts_of(const Expr& expr) {
    std::vector<const Expr*> parts{&expr};
    for (size_t i = 0; i < parts.size(); ++i) {
      parts.insert(parts.end(), parts[i]->args.begin(), parts[i]->args.end());
    }
    return parts;
  }

  // Of a join: the only table's that the name can mean; null as well when the same table stands in it twice,
  // whose columns cannot be told apart here.
  const catalog::Column* plain_column(const Expr& expr) const {
    if (expr.kind != ExprKind::column) return nullptr;
    if (uses_.size() == 1) return uses_.front().table->find_column(expr.column.text);
    const catalog::Column* found = nullptr;
    for (const TableUse& use : uses_) {
      if (expr.table && !same_name(use.shown, expr.table.text)) continue;
      const catalog::Column* column = use.table->find_column(expr.column.text);
      if (column == nullptr) continue;
      if (found != nullptr || !stands_once(use)) return nullptr;
      found = column;
    }
    return found;
  }

  bool stands_once(const TableUse& use) const {
    return std::count_if(uses_.begin(), uses_.end(),
                         [&](const TableUse& other) { return other.table == use.table; }) == 1;
  }

  std::string column_name(const catalog::Column& column) const {
    const auto owner = std::find_if(uses_.begin(), uses_.end(), [&](const TableUse& use) {
      return std::any_of(use.table->columns.begin(), use.table->columns.end(),
                         [&](const catalog::Column& own) { return &own == &column; });
    });
    return column_name(*owner, column);
  }

  static std::string column_name(const TableUse& use, const catalog::Column& column) {
    std::string name;
    sql::append_identifier(use.shown, name);
    name += '.';
    sql::append_identifier(column.name, name);
    return name;
  }

  // --- what a UNION would change (union_types.md)

  void check_union_column(const catalog::Column& column) {
    if (!column.zerofill || column.type == mysql::ColumnType::year) return;
    shape_.union_text = false;
    if (mysql::is_decimal(column.type)) shape_.union_binary = false;
  }

  void check_union(const Expr& expr, const catalog::Column* column) {
    if (column != nullptr) return check_union_column(*column);
    const bool changes = contains(expr, [&](const Expr& part) {
      if (part.kind == ExprKind::case_) return true;
      if (part.kind == ExprKind::function &&
          is_one_of(part.name,
                    {"if", "ifnull", "nullif", "coalesce", "nvl", "nvl2", "greatest", "least", "rand"})) {
        return true;
      }
      const catalog::Column* inner = plain_column(part);
      if (inner == nullptr) return part.kind == ExprKind::column && uses_.size() > 1;
      const bool fixed_float = mysql::is_floating(inner->type) && inner->decimals != 31;
      return inner->type == mysql::ColumnType::bit || fixed_float;
    });
    if (changes) shape_.union_text = shape_.union_binary = false;
  }

  // --- order

  struct Ordering {
    const catalog::Column* column = nullptr;
    bool descending = false;
  };

  // The column that an item of ORDER BY or GROUP BY names; null for NULL, which orders nothing.
  // `alias_first`: ORDER BY looks at the select list's names first, GROUP BY at the table's columns.
  Result<const catalog::Column*> named_column(const Expr& outer, std::string_view clause,
                                              bool alias_first) const {
    const Expr& expr = bare(outer);
    if (expr.kind == ExprKind::null_) return static_cast<const catalog::Column*>(nullptr);
    if (expr.kind == ExprKind::literal) {
      const std::string_view digits = tokens_.text_of(expr.span);
      size_t position = 0;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), position);
      const bool whole = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
      if (!whole || position == 0 || position > outputs_.size() || outputs_[position - 1].column == nullptr) {
        return fail(over_several(fmt::format("{} something other than a column", clause)));
      }
      return outputs_[position - 1].column;
    }
    if (expr.kind != ExprKind::column) {
      return fail(over_several(fmt::format("{} an expression", clause)));
    }
    const catalog::Column* of_table = plain_column(expr);
    if (expr.table) {
      if (of_table == nullptr) return fail(over_several(fmt::format("{} an unknown column", clause)));
      return of_table;
    }
    const Output* named = nullptr;
    for (const Output& output : outputs_) {
      if (!same_name(output.alias, expr.column.text)) continue;
      if (named != nullptr && named->column != output.column) {
        return fail(over_several(fmt::format("{} the ambiguous name '{}'", clause, expr.column.text)));
      }
      named = &output;
    }
    if (named == nullptr || (!alias_first && of_table != nullptr)) {
      if (of_table == nullptr) return fail(over_several(fmt::format("{} an unknown column", clause)));
      return of_table;
    }
    if (named->column == nullptr) {
      return fail(
          over_several(fmt::format("{} '{}', which is not a plain column", clause, expr.column.text)));
    }
    return named->column;
  }

  // Adds the merge's key for `column`, with a hidden column where needed.
  Result<merge::SortKey> add_key(const Ordering& ordering, std::string_view clause) {
    EVENKEEL_ASSIGN(const SortColumn sort,
                    sort_column(*ordering.column, column_name(*ordering.column), clause));
    merge::SortKey key;
    key.descending = ordering.descending;
    key.comparison = sort.comparison;
    const auto visible = std::find_if(outputs_.begin(), outputs_.end(),
                                      [&](const Output& output) { return output.column == ordering.column; });
    if (sort.hidden.empty() && visible != outputs_.end()) {
      key.column = static_cast<uint16_t>(visible - outputs_.begin());
    } else {
      key.column = add_hidden({sort.hidden.empty() ? column_name(*ordering.column) : sort.hidden, {}});
    }
    if (!shape_.order.empty()) shape_.order += ", ";
    shape_.order += fmt::format("{}{}{}", shape_.order.empty() ? "ORDER BY " : "", key.column + 1,
                                key.descending ? " DESC" : "");
    return key;
  }

  uint16_t add_hidden(HiddenColumn column) {
    shape_.hidden.push_back(std::move(column));
    return static_cast<uint16_t>(outputs_.size() + shape_.hidden.size() - 1);
  }

  Status build_ordered() {
    shape_.spec.how = query_.order_by.empty() ? merge::How::concat : merge::How::ordered;
    for (const sql::OrderItem& item : query_.order_by) {
      EVENKEEL_ASSIGN(const catalog::Column* column, named_column(*item.expr, "ORDER BY", true));
      if (column == nullptr) continue;
      EVENKEEL_ASSIGN(merge::SortKey key, add_key({column, item.descending}, "ORDER BY"));
      shape_.spec.order.push_back(key);
    }
    if (shape_.spec.order.empty()) shape_.spec.how = merge::How::concat;
    if (!shape_.spec.order.empty()) shape_.stars = std::move(stars_);
    if (!shape_.hidden.empty()) shape_.spec.visible_columns = static_cast<uint16_t>(outputs_.size());
    return {};
  }

  // --- groups

  // The rows are groups by all of their columns.
  Status build_distinct() {
    if (!stars_.empty()) return fail(over_several("SELECT DISTINCT *"));
    shape_.spec.how = merge::How::grouped;
    std::vector<Ordering> groups;
    for (const Output& output : outputs_) {
      if (output.column == nullptr) {
        if (!is_constant(*output.expr)) return fail(over_several("SELECT DISTINCT of other than columns"));
      } else if (!is_group(groups, output.column)) {
        groups.push_back({output.column, false});
      }
    }
    if (groups.empty()) return fail(over_several("SELECT DISTINCT of constants"));
    return add_groups(std::move(groups));
  }

  Status build_grouped() {
    if (!stars_.empty()) return fail(over_several("SELECT * with GROUP BY or an aggregate"));
    shape_.spec.how = merge::How::grouped;
    std::vector<Ordering> groups;
    for (const sql::OrderItem& item : block_->group_by) {
      EVENKEEL_ASSIGN(const catalog::Column* column, named_column(*item.expr, "GROUP BY", false));
      if (column == nullptr) return fail(over_several("GROUP BY NULL"));
      if (!is_group(groups, column)) groups.push_back({column, item.descending});
    }
    return add_groups(std::move(groups));
  }

  Status add_groups(std::vector<Ordering> groups) {
    EVENKEEL_TRY(order_groups(groups));
    for (const Ordering& group : groups) {
      EVENKEEL_ASSIGN(merge::SortKey key, add_key(group, "GROUP BY"));
      shape_.spec.group.push_back(key);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) EVENKEEL_TRY(add_output(static_cast<uint16_t>(i), groups));
    return {};
  }

  static bool is_group(const std::vector<Ordering>& groups, const catalog::Column* column) {
    return std::any_of(groups.begin(), groups.end(),
                       [&](const Ordering& group) { return group.column == column; });
  }

  // Groups come in the order of their keys, so an ORDER BY of group columns only arranges the keys.
  Status order_groups(std::vector<Ordering>& groups) const {
    if (!query_.order_by.empty() && block_->group_by.empty() && !block_->distinct) {
      return fail(over_several("ORDER BY with an aggregate and no GROUP BY"));
    }
    size_t placed = 0;
    for (const sql::OrderItem& item : query_.order_by) {
      const Expr& expr = bare(*item.expr);
      if (expr.kind == ExprKind::aggregate) return fail(over_several("ORDER BY an aggregate"));
      EVENKEEL_ASSIGN(const catalog::Column* column, named_column(expr, "ORDER BY", true));
      if (column == nullptr) continue;
      const auto group = std::find_if(groups.begin(), groups.end(),
                                      [&](const Ordering& known) { return known.column == column; });
      if (group == groups.end()) return fail(over_several("ORDER BY a column that is not grouped by"));
      const auto at = static_cast<size_t>(group - groups.begin());
      if (at < placed) continue;  // named before: orders nothing further
      std::rotate(groups.begin() + static_cast<ptrdiff_t>(placed), group, group + 1);
      groups[placed++].descending = item.descending;
    }
    return {};
  }

  Status add_output(uint16_t position, const std::vector<Ordering>& groups) {
    const Output& output = outputs_[position];
    merge::OutputColumn column;
    column.column = position;
    const Expr& expr = *output.expr;
    if (expr.kind != ExprKind::aggregate) {
      const bool constant_item = is_constant(expr);
      if (!constant_item && (output.column == nullptr || !is_group(groups, output.column))) {
        return fail(
            over_several("a select list with GROUP BY or an aggregate that holds more than group columns and "
                         "aggregates"));
      }
      shape_.spec.outputs.push_back(column);
      return {};
    }
    EVENKEEL_TRY(set_aggregate(expr, column));
    shape_.spec.outputs.push_back(column);
    return {};
  }

  Status set_aggregate(const Expr& expr, merge::OutputColumn& column) {
    using What = merge::OutputColumn::What;
    const bool adds = expr.name == "sum" || expr.name == "avg";
    if (adds && expr.args.size() == 1 && is_quotient(*expr.args[0])) {
      return fail(over_several(
          fmt::format("{} of a quotient, which servers keep to more digits than they send, (ROUND it first)",
                      upper(expr.name))));
    }
    if (expr.distinct) {
      return fail(over_several(fmt::format("{}(DISTINCT …)", upper(expr.name))));
    }
    if (expr.args.size() != 1) return fail(over_several(fmt::format("{}()", upper(expr.name))));
    if (expr.name == "count") {
      column.what = What::count;
    } else if (expr.name == "sum") {
      column.what = What::sum;
    } else if (expr.name == "avg") {
      column.what = What::avg;
      shape_.averages.push_back(expr.span.first);
      column.count_column = add_hidden({{}, expr.args[0]->span});
    } else if (expr.name == "min" || expr.name == "max") {
      const catalog::Column* argument = plain_column(bare(*expr.args[0]));
      const auto comparison = argument == nullptr ? std::nullopt : extreme_comparison(*argument);
      if (!comparison) {
        return fail(
            over_several(fmt::format("{} of other than a number, time or binary column", upper(expr.name))));
      }
      column.what = expr.name == "min" ? What::min : What::max;
      column.comparison = *comparison;
    } else {
      return fail(over_several(fmt::format("{}()", upper(expr.name))));
    }
    return {};
  }

  static std::string upper(std::string_view name) {
    std::string out(name);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::toupper(c); });
    return out;
  }

  const sql::Query& query_;
  const std::vector<TableUse>& uses_;
  const sql::Tokens& tokens_;
  const bool not_understood_;
  const sql::SelectBlock* block_ = nullptr;
  std::vector<Output> outputs_;
  std::vector<ScatterShape::Star> stars_;
  bool any_aggregate_ = false;
  ScatterShape shape_;
};

}  // namespace

Result<ScatterShape> scatter_shape(const Analysis& analysis, const sql::Tokens& tokens) {
  return ShapeBuilder(analysis, tokens).build();
}

}  // namespace evenkeel::plan
