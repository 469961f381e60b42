// SHOW and DESCRIBE where sharded tables are concerned: asked of one actual table, or of the schema's own
// list with the sharded names added.
#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "router/plan/bound.h"
#include "router/plan/route.h"
#include "router/plan/scope.h"
#include "router/sql/literal.h"

namespace evenkeel::plan {
namespace {

enum class Shown : uint8_t { columns, index, create_table };

// Of one sharded table: its first actual table's answer, with names put back.
class ShowTable final : public Bound {
 public:
  ShowTable(Analysis analysis, const rule::LogicalTable& table, sql::Span name, Shown shown)
      : Bound(std::move(analysis)), table_(table), name_(name), shown_(shown) {}

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t>) const override {
    const rule::ActualTable& actual = table_.slots.front();
    Plan plan;
    plan.kind = PlanKind::one_slot;
    plan.reason = RouteReason::no_condition;
    plan.returns_rows = true;
    Rewrite rewrite(arguments, analysis_.parameter_tokens);
    rewrite.replace(name_, qualified(actual));
    rewrite.seal();
    Piece piece;
    rewrite.write_statement(statement().span, piece);
    plan.units.push_back({actual.instance, std::move(piece.text), std::move(piece.parameters), {0}});
    if (shown_ != Shown::columns) plan.cells.push_back({0, actual.table, table_.name});
    if (shown_ == Shown::create_table) {
      std::string from = "CREATE TABLE ";
      std::string to = from;
      sql::append_identifier(actual.table, from);
      sql::append_identifier(table_.name, to);
      plan.cells.push_back({1, std::move(from), std::move(to)});
    }
    return plan;
  }
  Result<Plan> prototype(const Arguments& arguments) const override { return plan(arguments, {}); }

 private:
  const rule::LogicalTable& table_;
  sql::Span name_;
  Shown shown_;
};

// SHOW TABLES: the physical schema holds the other tables only, so the server is asked for both in one query.
class ShowTables final : public Bound {
 public:
  ShowTables(Analysis analysis, const rule::LogicalSchema& schema, bool full, sql::Span like, sql::Span where)
      : Bound(std::move(analysis)), schema_(schema), full_(full), like_(like), where_(where) {}

  Result<Plan> plan(const Arguments& arguments, std::span<const uint64_t>) const override {
    const sql::Tokens& tokens = arguments.tokens;
    const std::string_view pattern = tokens.text_of(like_);
    std::string column = fmt::format("Tables_in_{}", schema_.name);
    if (!like_.empty()) {
      column += fmt::format(" ({})", sql::unescape_string(pattern, arguments.facts.lex));
    }
    std::string name;
    sql::append_identifier(column, name);
    std::string rows =
        fmt::format("SELECT TABLE_NAME AS {}{} FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}", name,
                    full_ ? ", TABLE_TYPE AS `Table_type`" : "", quoted(schema_.name, arguments));
    for (const auto& table : schema_.tables) {
      rows += fmt::format(" UNION ALL SELECT {}{}", quoted(table->name, arguments),
                          full_ ? ", 'BASE TABLE'" : "");
    }
    std::string text = fmt::format("SELECT * FROM ({}) AS `tables`", rows);
    if (!like_.empty()) text += fmt::format(" WHERE {} LIKE {}", name, pattern);
    if (!where_.empty()) text += fmt::format(" {}", tokens.text_of(where_));
    text += " ORDER BY 1";
    Plan plan;
    plan.kind = PlanKind::forward;
    plan.reason = RouteReason::not_sharded;
    plan.returns_rows = true;
    plan.units.push_back({schema_.default_instance, std::move(text), {}, {}});
    return plan;
  }
  Result<Plan> prototype(const Arguments& arguments) const override { return plan(arguments, {}); }

 private:
  static std::string quoted(std::string_view text, const Arguments& arguments) {
    std::string out;
    sql::append_literal(mysql::Value::string(std::string(text)), arguments.facts.lex, out);
    return out;
  }

  const rule::LogicalSchema& schema_;
  bool full_;
  sql::Span like_;
  sql::Span where_;
};

// The words of SHOW, one after the other.
class Words {
 public:
  Words(const sql::Tokens& tokens, sql::Span span) : tokens_(tokens), at_(span.first), last_(span.last) {}
  bool accept(std::string_view word) {
    if (at_ >= last_ || !same_name(tokens_.text_of(at_), word)) return false;
    ++at_;
    return true;
  }
  void skip() { ++at_; }
  bool done() const { return at_ >= last_; }
  uint32_t at() const { return at_; }

 private:
  const sql::Tokens& tokens_;
  uint32_t at_;
  uint32_t last_;
};

std::optional<Shown> shown_of(Words words) {
  words.skip();  // SHOW
  while (words.accept("full") || words.accept("extended")) {
  }
  if (words.accept("columns") || words.accept("fields")) return Shown::columns;
  if (words.accept("index") || words.accept("indexes") || words.accept("keys")) return Shown::index;
  if (words.accept("create") && words.accept("table")) return Shown::create_table;
  return std::nullopt;
}

BoundResult bind_show_list(const Analysis& analysis, const sql::Tokens& tokens, const SessionFacts& facts) {
  const sql::Statement& statement = *analysis.statement;
  const std::string_view name = statement.use_schema ? statement.use_schema.text : facts.database;
  const rule::LogicalSchema* schema = analysis.rules->find_schema(name);
  if (schema == nullptr || schema->tables.empty()) return nullptr;
  Words words(tokens, statement.span);
  words.skip();
  bool full = false;
  while (words.accept("full") || words.accept("extended")) full = true;
  if (words.accept("table") && words.accept("status")) {
    return fail(unsupported(fmt::format(
        "SHOW TABLE STATUS of schema '{}': its sharded tables are many actual tables", schema->name)));
  }
  if (!words.accept("tables")) return nullptr;
  if (words.accept("from") || words.accept("in")) words.skip();
  sql::Span like;
  sql::Span where;
  const uint32_t rest = words.at();
  if (words.accept("like")) {
    const bool one_string =
        statement.span.last == rest + 2 && tokens[rest + 1].kind == sql::TokenKind::string;
    if (!one_string) return fail(unsupported("SHOW TABLES LIKE other than one string"));
    like = {rest + 1, rest + 2};
  } else if (words.accept("where")) {
    where = {rest, statement.span.last};
  } else if (!words.done()) {
    return fail(unsupported("SHOW TABLES in a form that is not understood"));
  }
  return std::make_shared<const ShowTables>(analysis, *schema, full, like, where);
}

}  // namespace

BoundResult bind_show(const Analysis& analysis, const sql::Tokens& tokens, const SessionFacts& facts) {
  const sql::Statement& statement = *analysis.statement;
  for (const sql::TableName& name : statement.tables) {
    const std::string_view schema = name.schema ? name.schema.text : facts.database;
    const rule::LogicalTable* table = analysis.rules->find_table(schema, name.table.text);
    if (table == nullptr) continue;
    const bool describe = statement.kind == sql::StatementKind::explain;
    const auto shown = describe ? std::optional(Shown::columns) : shown_of(Words(tokens, statement.span));
    if (!shown || statement.tables.size() != 1) {
      return fail(unsupported(fmt::format("this SHOW on sharded table '{}'", table->name)));
    }
    return std::make_shared<const ShowTable>(analysis, *table, name.span, *shown);
  }
  if (statement.kind == sql::StatementKind::show) return bind_show_list(analysis, tokens, facts);
  return nullptr;
}

}  // namespace evenkeel::plan
