#include "router/plan/analysis.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

#include "router/plan/company.h"
#include "router/plan/constants.h"
#include "router/plan/key_value.h"
#include "router/plan/scope.h"

namespace evenkeel::plan {
namespace {

using sql::ExprKind;
using sql::JoinKind;
using sql::TableKind;

// Walks a statement once. Blocks and uses are numbered in order of appearance.
class Analyser {
 public:
  // `whole`: the statement with the names and calls; another than the one analysed for EXPLAIN.
  Analyser(Analysis& out, const sql::Statement& whole, const sql::Tokens& tokens, const SessionFacts& facts)
      : out_(out), whole_(whole), tokens_(tokens), facts_(facts) {}

  Status run() {
    const sql::Statement& statement = *out_.statement;
    for (uint32_t i = statement.span.first; i < statement.span.last; ++i) {
      if (tokens_[i].kind == sql::TokenKind::parameter) out_.parameter_tokens.push_back(i);
    }
    EVENKEEL_TRY(walk_statement(statement));
    EVENKEEL_TRY(note_calls());
    EVENKEEL_TRY(check_names(out_, whole_, facts_, seen_names_));
    if (out_.sharded()) EVENKEEL_TRY(check_company(out_, opaque_table_));
    close_equalities();
    return {};
  }

 private:
  Status walk_statement(const sql::Statement& statement) {
    if (statement.query != nullptr) return walk_query(*statement.query, std::nullopt, false);
    if (statement.insert != nullptr) return walk_insert(*statement.insert);
    if (statement.update != nullptr) return walk_update(*statement.update);
    if (statement.del != nullptr) return walk_delete(*statement.del);
    return {};
  }

  // --- queries

  Status walk_query(const sql::Query& query, std::optional<uint32_t> parent, bool nested) {
    const size_t tables_in_scope = common_tables_.size();
    for (const sql::CommonTable& table : query.with) {
      // A recursive one sees itself.
      if (table.recursive) common_tables_.push_back(table.name.text);
      EVENKEEL_TRY(walk_query(*table.query, parent, true));
      if (!table.recursive) common_tables_.push_back(table.name.text);
    }
    if (query.block != nullptr) {
      EVENKEEL_TRY(walk_block(*query.block, query, parent, nested));
    } else {
      if (query.left != nullptr)
        EVENKEEL_TRY(walk_query(*query.left, parent, nested || query.op != sql::SetOp::none));
      if (query.right != nullptr) EVENKEEL_TRY(walk_query(*query.right, parent, true));
      const uint32_t block = new_block(parent);
      list_spans_.push_back(query.order_span);
      order_spans_.push_back(query.order_span);
      for (const sql::OrderItem& item : query.order_by) EVENKEEL_TRY(walk_expr(item.expr, block));
    }
    common_tables_.resize(tables_in_scope);
    return {};
  }

  Status walk_block(const sql::SelectBlock& select, const sql::Query& query, std::optional<uint32_t> parent,
                    bool nested) {
    const uint32_t block = new_block(parent);
    if (select.from != nullptr) {
      EVENKEEL_ASSIGN(const auto under, walk_from(*select.from, block, nested));
      (void)under;
    }
    for (const sql::Span span : {select.list, select.group_span, select.having_span, query.order_span}) {
      list_spans_.push_back(span);
    }
    order_spans_.push_back(select.group_span);
    order_spans_.push_back(query.order_span);
    for (const sql::SelectItem& item : select.items) {
      if (!item.alias) items_.push_back(&item);
      EVENKEEL_TRY(walk_expr(item.expr, block));
    }
    for (const sql::InsertRow& row : select.values_rows) {
      for (const sql::Expr* value : row.values) EVENKEEL_TRY(walk_expr(value, block));
    }
    EVENKEEL_TRY(walk_expr(select.where, block));
    if (select.where != nullptr) add_predicate(*select.where, block, all_of_block(block));
    for (const sql::OrderItem& item : select.group_by) EVENKEEL_TRY(walk_expr(item.expr, block));
    EVENKEEL_TRY(walk_expr(select.having, block));
    for (const sql::OrderItem& item : query.order_by) EVENKEEL_TRY(walk_expr(item.expr, block));
    return {};
  }

  uint32_t new_block(std::optional<uint32_t> parent) {
    blocks_.push_back(Block{parent, {}, {}, false});
    return static_cast<uint32_t>(blocks_.size() - 1);
  }

  // --- tables

  using Uses = std::vector<uint32_t>;

  Result<Uses> walk_from(const sql::TableRef& ref, uint32_t block, bool nested) {
    switch (ref.kind) {
      case TableKind::table:
        return walk_table(ref, block, nested);
      case TableKind::derived: {
        // Not lateral: it does not see its neighbours.
        const std::optional<uint32_t> parent =
            ref.lateral ? std::optional<uint32_t>(block) : blocks_[block].parent;
        if (ref.query != nullptr) EVENKEEL_TRY(walk_query(*ref.query, parent, true));
        blocks_[block].sources.push_back(Source{ref.alias.text, {}, std::nullopt});
        return Uses{};
      }
      case TableKind::parenthesis:
        return walk_from(*ref.left, block, nested);
      case TableKind::opaque:
        blocks_[block].sources.push_back(Source{ref.alias.text, {}, std::nullopt});
        opaque_table_ = true;
        return Uses{};
      case TableKind::join:
        return walk_join(ref, block, nested);
    }
    return Uses{};
  }

  Result<Uses> walk_join(const sql::TableRef& ref, uint32_t block, bool nested) {
    EVENKEEL_ASSIGN(const Uses left, walk_from(*ref.left, block, nested));
    EVENKEEL_ASSIGN(const Uses right, walk_from(*ref.right, block, nested));
    Uses both = left;
    both.insert(both.end(), right.begin(), right.end());
    const bool inner = ref.join == JoinKind::inner || ref.join == JoinKind::cross ||
                       ref.join == JoinKind::straight || ref.join == JoinKind::comma;
    // Conditions of an outer join restrict the rows of its optional side alone.
    const Uses restricted = inner                         ? both
                            : ref.join == JoinKind::left  ? right
                            : ref.join == JoinKind::right ? left
                                                          : Uses{};
    Block& scope = blocks_[block];
    if (ref.join == JoinKind::natural || ref.join == JoinKind::natural_left ||
        ref.join == JoinKind::natural_right || ref.join == JoinKind::full) {
      scope.merges_unknown_columns = true;
    }
    for (const sql::Identifier& column : ref.using_columns) {
      scope.using_columns.push_back(column.text);
      if (!inner && ref.join != JoinKind::left) scope.merges_unknown_columns = true;
      for (const uint32_t a : left) {
        for (const uint32_t b : right) add_using(a, b, column.text, restricted);
      }
    }
    EVENKEEL_TRY(walk_expr(ref.on, block));
    if (ref.on != nullptr) add_predicate(*ref.on, block, restricted);
    return both;
  }

  void add_using(uint32_t a, uint32_t b, std::string_view column, const Uses& restricted) {
    const bool keys = same_name(out_.uses[a].key->name, column) && same_name(out_.uses[b].key->name, column);
    // With more tables on one side USING takes whichever has the column; only the plain case is certain.
    if (keys) add_equality(a, b, restricted);
  }

  bool is_common_table(const sql::TableName& name) const {
    return !name.schema &&
           std::any_of(common_tables_.begin(), common_tables_.end(),
                       [&](std::string_view known) { return same_name(known, name.table.text); });
  }

  std::string_view schema_of(const sql::TableName& name) const {
    return name.schema ? name.schema.text : facts_.database;
  }

  Result<Uses> walk_table(const sql::TableRef& ref, uint32_t block, bool nested) {
    seen_names_.insert(ref.name.table.token);
    const std::string_view shown = ref.alias ? ref.alias.text : ref.name.table.text;
    Source source{shown, ref.alias ? std::string_view{} : schema_of(ref.name), std::nullopt};
    if (is_common_table(ref.name)) {
      blocks_[block].sources.push_back(source);
      return Uses{};
    }
    EVENKEEL_ASSIGN(const auto use, use_of(ref.name, nested));
    if (!use) {
      note_other(ref.name);
      blocks_[block].sources.push_back(source);
      return Uses{};
    }
    out_.uses[*use].shown = shown;
    out_.uses[*use].has_alias = static_cast<bool>(ref.alias);
    if (!ref.partition.empty()) {
      return fail(unsupported(fmt::format("PARTITION (…) on sharded table '{}'", ref.name.table.text)));
    }
    source.use = use;
    blocks_[block].sources.push_back(source);
    return Uses{*use};
  }

  // A new use when `name` is a sharded table.
  Result<std::optional<uint32_t>> use_of(const sql::TableName& name, bool nested) {
    const rule::LogicalTable* rule = out_.rules->find_table(schema_of(name), name.table.text);
    if (rule == nullptr) return std::optional<uint32_t>{};
    TableUse use;
    use.rule = rule;
    use.table = out_.catalog->find(rule->schema, rule->name);
    if (use.table == nullptr) {
      return fail(
          make_error(ErrorKind::backend, 1146,
                     fmt::format("the columns of sharded table '{}.{}' are not known: none of its tables "
                                 "could be read",
                                 rule->schema, rule->name)));
    }
    use.key = use.table->find_column(rule->key_column);
    if (use.key == nullptr) {
      return fail(make_error(ErrorKind::backend, 1054,
                             fmt::format("sharded table '{}.{}' has no column '{}', its sharding column",
                                         rule->schema, rule->name, rule->key_column)));
    }
    if (rule->gene.routes) {
      use.gene_key = use.table->find_column(rule->generated_column);
      if (use.gene_key != nullptr && !integer_range(*use.gene_key)) use.gene_key = nullptr;
    }
    use.name = name.span;
    use.shown = name.table.text;
    use.nested = nested;
    out_.uses.push_back(std::move(use));
    return std::optional<uint32_t>(static_cast<uint32_t>(out_.uses.size() - 1));
  }

  void note_other(const sql::TableName& name) { out_.others.emplace_back(name.table.text); }

  // --- expressions

  Status walk_expr(const sql::Expr* expr, uint32_t block) {
    if (expr == nullptr) return {};
    if (expr->kind == ExprKind::column || expr->kind == ExprKind::star) note_qualifier(*expr, block);
    for (const sql::Expr* arg : expr->args) EVENKEEL_TRY(walk_expr(arg, block));
    if (expr->over != nullptr) {
      for (const sql::Expr* part : expr->over->partition_by) EVENKEEL_TRY(walk_expr(part, block));
      for (const sql::OrderItem& item : expr->over->order_by) EVENKEEL_TRY(walk_expr(item.expr, block));
    }
    if (expr->query != nullptr) EVENKEEL_TRY(walk_query(*expr->query, block, true));
    return {};
  }

  void note_qualifier(const sql::Expr& column, uint32_t block) {
    if (!column.table) return;
    const auto use = find_use(blocks_, block, out_.uses, column);
    if (!use) return;
    Qualifier qualifier;
    qualifier.use = *use;
    if (column.schema) qualifier.with_schema = {column.schema.token, column.table.token};
    if (!out_.uses[*use].has_alias) {
      qualifier.table = {column.schema ? column.schema.token : column.table.token, column.table.token + 1};
    }
    out_.qualifiers.push_back(qualifier);
  }

  // --- calls

  static bool inside(sql::Span inner, sql::Span outer) {
    return inner.first >= outer.first && inner.last <= outer.last && !outer.empty();
  }

  // The bodies of routines, triggers and views mean the session that will run them.
  Status note_calls() {
    if (whole_.kind == sql::StatementKind::ddl) return check_created_from_calls();
    for (const sql::Expr* call : whole_.calls) note_call(*call);
    for (const sql::SelectItem* item : items_) {
      const bool holds_call = std::any_of(out_.calls.begin(), out_.calls.end(), [&](const SessionCall& call) {
        return inside(call.expr->span, item->span);
      });
      // A plain column is named by its own name, however it is qualified.
      const ExprKind kind = bare(*item->expr).kind;
      const bool plain = kind == ExprKind::column || kind == ExprKind::star;
      const bool loses_schema =
          !plain &&
          std::any_of(out_.qualifiers.begin(), out_.qualifiers.end(), [&](const Qualifier& qualifier) {
            return !qualifier.with_schema.empty() && inside(qualifier.with_schema, item->span);
          });
      if (holds_call || loses_schema) out_.named_items.push_back(item);
    }
    const bool not_understood = whole_.kind == sql::StatementKind::opaque;
    if (not_understood && (!out_.calls.empty() || out_.last_insert_id_of != nullptr)) {
      return fail(unsupported("a function that tells of the session, in a statement that is not understood"));
    }
    return {};
  }

  // CREATE TABLE … SELECT stores what the session's functions say now.
  Status check_created_from_calls() const {
    if (!whole_.words.starts_with("create") || whole_.words.find("table") == std::string_view::npos)
      return {};
    const bool calls = std::any_of(whole_.calls.begin(), whole_.calls.end(), [](const sql::Expr* call) {
      return session_function(*call).has_value() || is_last_insert_id_of(*call);
    });
    bool selects = false;
    for (uint32_t i = whole_.span.first; i < whole_.span.last; ++i) {
      selects |= same_name(tokens_.text_of(i), "select");
    }
    if (calls && selects)
      return fail(unsupported("CREATE TABLE … SELECT of a function that tells of the session"));
    return {};
  }

  void note_call(const sql::Expr& expr) {
    const auto lies_in = [&](const std::vector<sql::Span>& spans) {
      return std::any_of(spans.begin(), spans.end(), [&](sql::Span span) { return inside(expr.span, span); });
    };
    if (const auto function = session_function(expr)) {
      out_.calls.push_back({&expr, *function, lies_in(list_spans_), lies_in(order_spans_)});
    } else if (is_last_insert_id_of(expr)) {
      out_.last_insert_id_of = &expr;
    } else if (reads_time(expr)) {
      out_.time_calls.push_back(&expr);
    } else if (leaves_state(expr)) {
      out_.leaves_state = true;
    } else if (expr.kind == ExprKind::user_variable || expr.kind == ExprKind::assign) {
      out_.user_variable = &expr;
      if (expr.kind == ExprKind::assign) out_.assigns_user_variable = true;
    }
  }

  // --- conditions

  Uses all_of_block(uint32_t block) const {
    Uses uses;
    for (const Source& source : blocks_[block].sources) {
      if (source.use) uses.push_back(*source.use);
    }
    return uses;
  }

  // `predicate` holds for every row that counts of the tables `restricted`.
  void add_predicate(const sql::Expr& predicate, uint32_t block, const Uses& restricted) {
    for (const uint32_t use : restricted) {
      const auto is_column = [&, use](const catalog::Column& column) -> IsKey {
        return [&, use](const sql::Expr& expr) {
          return expr.kind == ExprKind::column && same_name(expr.column.text, column.name) &&
                 find_use(blocks_, block, out_.uses, expr) == use;
        };
      };
      TableUse& found = out_.uses[use];
      add_part(found.condition, condition_of(predicate, is_column(*found.key)));
      if (found.gene_key != nullptr)
        add_part(found.gene_condition, condition_of(predicate, is_column(*found.gene_key)));
    }
    add_equalities(predicate, block, restricted);
  }

  void add_equalities(const sql::Expr& predicate, uint32_t block, const Uses& restricted) {
    if (predicate.kind == ExprKind::parenthesis || predicate.kind == ExprKind::and_) {
      for (const sql::Expr* part : predicate.args) add_equalities(*part, block, restricted);
      return;
    }
    if (predicate.kind != ExprKind::binary || predicate.op != sql::Op::eq || predicate.args.size() != 2)
      return;
    const auto left = key_of(*predicate.args[0], block);
    const auto right = key_of(*predicate.args[1], block);
    if (left && right && *left != *right) add_equality(*left, *right, restricted);
  }

  std::optional<uint32_t> key_of(const sql::Expr& expr, uint32_t block) const {
    if (expr.kind == ExprKind::parenthesis && expr.args.size() == 1) return key_of(*expr.args[0], block);
    if (expr.kind != ExprKind::column) return std::nullopt;
    const auto use = find_use(blocks_, block, out_.uses, expr);
    if (!use || !same_name(out_.uses[*use].key->name, expr.column.text)) return std::nullopt;
    return use;
  }

  void add_equality(uint32_t left, uint32_t right, const Uses& restricted) {
    if (!same_key_family(*out_.uses[left].key, *out_.uses[right].key)) return;
    const auto is_restricted = [&](uint32_t use) {
      return std::find(restricted.begin(), restricted.end(), use) != restricted.end();
    };
    if (is_restricted(left)) out_.uses[left].equal.push_back(right);
    if (is_restricted(right)) out_.uses[right].equal.push_back(left);
  }

  void close_equalities() {
    const size_t count = out_.uses.size();
    if (count < 2) return;
    for (uint32_t from = 0; from < count; ++from) {
      std::vector<bool> reached(count, false);
      reached[from] = true;
      Uses pending = out_.uses[from].equal;
      Uses closed;
      while (!pending.empty()) {
        const uint32_t at = pending.back();
        pending.pop_back();
        if (reached[at]) continue;
        reached[at] = true;
        closed.push_back(at);
        pending.insert(pending.end(), out_.uses[at].equal.begin(), out_.uses[at].equal.end());
      }
      out_.uses[from].equal = std::move(closed);
    }
  }

  // --- writes

  Status walk_insert(const sql::Insert& insert) {
    const uint32_t block = new_block(std::nullopt);
    seen_names_.insert(insert.table.table.token);
    EVENKEEL_ASSIGN(const auto use, use_of(insert.table, false));
    if (!use) note_other(insert.table);
    blocks_[block].sources.push_back(Source{insert.table.table.text, schema_of(insert.table), use});
    for (const sql::Assignment& assignment : insert.set) {
      note_assigned(assignment, block);
      EVENKEEL_TRY(walk_expr(assignment.value, block));
    }
    for (const sql::InsertRow& row : insert.rows) {
      for (const sql::Expr* value : row.values) EVENKEEL_TRY(walk_expr(value, block));
    }
    if (insert.query != nullptr) EVENKEEL_TRY(walk_query(*insert.query, std::nullopt, true));
    if (insert.row_alias) blocks_[block].sources.push_back(Source{insert.row_alias.text, {}, std::nullopt});
    for (const sql::Assignment& assignment : insert.on_duplicate) {
      note_assigned(assignment, block);
      EVENKEEL_TRY(walk_expr(assignment.value, block));
    }
    for (const sql::SelectItem& item : insert.returning) EVENKEEL_TRY(walk_expr(item.expr, block));
    return {};
  }

  void note_assigned(const sql::Assignment& assignment, uint32_t block) {
    sql::Expr column;
    column.kind = ExprKind::column;
    column.schema = assignment.schema;
    column.table = assignment.table;
    column.column = assignment.column;
    note_qualifier(column, block);
  }

  Status walk_update(const sql::Update& update) {
    const uint32_t block = new_block(std::nullopt);
    EVENKEEL_ASSIGN(const auto uses, walk_from(*update.tables, block, false));
    (void)uses;
    for (const sql::Assignment& assignment : update.set) {
      note_assigned(assignment, block);
      EVENKEEL_TRY(walk_expr(assignment.value, block));
    }
    return walk_write_tail(update.where, update.order_by, block);
  }

  Status walk_delete(const sql::Delete& del) {
    const uint32_t block = new_block(std::nullopt);
    EVENKEEL_ASSIGN(const auto uses, walk_from(*del.from, block, false));
    (void)uses;
    for (const sql::TableName& target : del.targets) {
      seen_names_.insert(target.table.token);
      if (target.schema) out_.target_schemas.push_back({target.schema.token, target.table.token});
    }
    for (const sql::SelectItem& item : del.returning) EVENKEEL_TRY(walk_expr(item.expr, block));
    return walk_write_tail(del.where, del.order_by, block);
  }

  Status walk_write_tail(const sql::Expr* where, std::span<const sql::OrderItem> order_by, uint32_t block) {
    EVENKEEL_TRY(walk_expr(where, block));
    if (where != nullptr) add_predicate(*where, block, all_of_block(block));
    for (const sql::OrderItem& item : order_by) EVENKEEL_TRY(walk_expr(item.expr, block));
    return {};
  }

  Analysis& out_;
  const sql::Statement& whole_;
  const sql::Tokens& tokens_;
  const SessionFacts& facts_;
  std::vector<Block> blocks_;
  std::vector<std::string_view> common_tables_;
  std::set<uint32_t> seen_names_;
  std::vector<sql::Span> list_spans_;          // select lists, GROUP BY, HAVING, ORDER BY
  std::vector<sql::Span> order_spans_;         // GROUP BY, ORDER BY
  std::vector<const sql::SelectItem*> items_;  // without an alias
  bool opaque_table_ = false;
};

}  // namespace

Result<Analysis> analyse(sql::StatementPtr statement, const sql::Statement& whole, const sql::Tokens& tokens,
                         catalog::CatalogPtr catalog, rule::RuleSetPtr rules, const SessionFacts& facts) {
  Analysis analysis;
  analysis.statement = std::move(statement);
  analysis.catalog = std::move(catalog);
  analysis.rules = std::move(rules);
  Analyser analyser(analysis, whole, tokens, facts);
  EVENKEEL_TRY(analyser.run());
  return analysis;
}

}  // namespace evenkeel::plan
