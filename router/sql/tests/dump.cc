#include "router/sql/tests/dump.h"

#include <array>
#include <fmt/format.h>
#include <vector>

#include "router/sql/keywords.h"

namespace evenkeel::sql {
namespace {

constexpr std::array<std::string_view, 15> token_names = {
    "identifier",    "quoted",          "string",      "national",   "hex",
    "bit",           "integer",         "decimal",     "real",       "parameter",
    "user_variable", "system_variable", "punctuation", "introducer", "end"};

constexpr std::array<std::string_view, 33> expr_names = {"literal",
                                                         "null",
                                                         "boolean",
                                                         "temporal",
                                                         "parameter",
                                                         "column",
                                                         "star",
                                                         "function",
                                                         "aggregate",
                                                         "window",
                                                         "unary",
                                                         "binary",
                                                         "and",
                                                         "or",
                                                         "xor",
                                                         "in_list",
                                                         "in_query",
                                                         "between",
                                                         "is",
                                                         "like",
                                                         "case",
                                                         "cast",
                                                         "interval",
                                                         "row",
                                                         "exists",
                                                         "subquery",
                                                         "match",
                                                         "default",
                                                         "values_of",
                                                         "user_variable",
                                                         "system_variable",
                                                         "assign",
                                                         "collate"};
std::string_view name_of(ExprKind kind) {
  if (kind == ExprKind::parenthesis) return "parenthesis";
  if (kind == ExprKind::opaque) return "opaque";
  return expr_names[static_cast<size_t>(kind)];
}

constexpr std::array<std::string_view, 10> join_names = {"inner",         "left",  "right",   "cross",
                                                         "straight",      "comma", "natural", "natural_left",
                                                         "natural_right", "full"};

constexpr std::array<std::string_view, 28> statement_names = {
    "empty",       "select",  "insert",  "update",        "delete",  "set",         "use",
    "transaction", "show",    "explain", "explain_route", "ddl",     "lock_tables", "unlock_tables",
    "kill",        "call",    "do",      "load_data",     "prepare", "execute",     "deallocate",
    "xa",          "analyze", "handler", "flush",         "grant",   "opaque",      ""};

// Writes nodes, and notes each span with the one that it must lie in.
class Printer {
 public:
  Printer(const Tokens* tokens, std::vector<SpanPair>* pairs) : tokens_(tokens), pairs_(pairs) {}

  void statement(const Statement& s) {
    line(statement_names[static_cast<size_t>(s.kind)], s.span,
         fmt::format("{}{}{}{}", s.words.empty() ? "" : fmt::format(" words=\"{}\"", s.words),
                     s.implicit_commit ? " implicit_commit" : "", s.temporary ? " temporary" : "",
                     s.has_opaque ? " has_opaque" : ""));
    if (s.parameters != 0) text(fmt::format("parameters {}", s.parameters));
    names("tables", s.tables);
    if (!s.calls.empty()) {
      std::string calls = "calls";
      for (const Expr* call : s.calls) calls += fmt::format(" {}", call->name);
      text(calls);
    }
    for (const uint32_t token : s.structural) {
      if (tokens_ != nullptr) text(fmt::format("structural {}", tokens_->text_of(token)));
    }
    if (s.use_schema) text(fmt::format("schema {}", s.use_schema.text));
    const Nest nest(*this, s.span);
    if (s.query != nullptr) query(*s.query);
    if (s.insert != nullptr) insert(*s.insert);
    if (s.update != nullptr) update(*s.update);
    if (s.del != nullptr) del(*s.del);
    if (s.set != nullptr) set(*s.set);
    if (s.transaction != nullptr) transaction(*s.transaction);
    if (s.kill != nullptr) kill(*s.kill);
    if (s.inner != nullptr) statement(*s.inner);
  }

  std::string out;

 private:
  // Indents, and makes `span` the parent of what is written, for as long as it lives.
  class Nest {
   public:
    Nest(Printer& printer, Span span) : printer_(printer), before_(printer.parent_) {
      printer_.parent_ = span;
      ++printer_.depth_;
    }
    ~Nest() {
      printer_.parent_ = before_;
      --printer_.depth_;
    }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

   private:
    Printer& printer_;
    Span before_;
  };

  void text(std::string_view what) {
    if (tokens_ != nullptr) out += fmt::format("{:{}}{}\n", "", 2 * depth_, what);
  }
  void line(std::string_view what, Span span, std::string_view more = {}) {
    if (pairs_ != nullptr && depth_ > 0) pairs_->push_back({span, parent_, std::string(what)});
    if (tokens_ == nullptr) return;
    std::string covered(tokens_->text_of(span));
    for (char& c : covered) {
      if (c == '\n') c = ' ';
    }
    text(fmt::format("{}{} [{}]", what, more, covered));
  }
  void clause(std::string_view what, Span span) {
    if (!span.empty()) line(what, span);
  }
  static std::string quoted(std::string_view key, const Identifier& name) {
    return name ? fmt::format(" {}={}", key, name.text) : std::string();
  }
  static std::string full(const TableName& name) {
    return name.schema ? fmt::format("{}.{}", name.schema.text, name.table.text)
                       : std::string(name.table.text);
  }
  void names(std::string_view what, std::span<const TableName> list) {
    if (list.empty()) return;
    std::string all(what);
    for (const TableName& name : list) all += " " + full(name);
    text(all);
    for (const TableName& name : list) {
      if (pairs_ != nullptr && depth_ > 0) pairs_->push_back({name.span, parent_, "table name"});
    }
  }
  void columns(std::string_view what, std::span<const Identifier> list) {
    if (list.empty()) return;
    std::string all(what);
    for (const Identifier& name : list) all += fmt::format(" {}", name.text);
    text(all);
  }

  void expr(const Expr& e, std::string_view role = {}) {
    std::string more;
    if (!e.name.empty()) more += fmt::format(" {}", e.name);
    if (!e.scope.empty()) more += fmt::format(" scope={}", e.scope);
    if (e.negated) more += " negated";
    if (e.distinct) more += " distinct";
    if (e.kind == ExprKind::boolean) more += e.truth ? " true" : " false";
    if (e.kind == ExprKind::parameter) more += fmt::format(" {}", e.parameter);
    more += quoted("schema", e.schema) + quoted("table", e.table) + quoted("column", e.column);
    line(fmt::format("{}{}{}", role, role.empty() ? "" : ": ", name_of(e.kind)), e.span, more);
    const Nest nest(*this, e.span);
    for (const Expr* arg : e.args) expr(*arg);
    if (e.query != nullptr) query(*e.query);
    if (e.over != nullptr) window(*e.over);
  }
  void window(const WindowSpec& w) {
    line("over", w.span, quoted("name", w.name));
    const Nest nest(*this, w.span);
    for (const Expr* e : w.partition_by) expr(*e, "partition");
    order("order", w.order_by);
    clause("frame", w.frame);
  }
  void order(std::string_view what, std::span<const OrderItem> items) {
    for (const OrderItem& item : items) {
      line(what, item.span, item.descending ? " desc" : "");
      const Nest nest(*this, item.span);
      expr(*item.expr);
    }
  }
  void limit(const Limit* l) {
    if (l == nullptr) return;
    line("limit", l->span);
    const Nest nest(*this, l->span);
    if (l->count != nullptr) expr(*l->count, "count");
    if (l->offset != nullptr) expr(*l->offset, "offset");
  }
  void items(std::span<const SelectItem> list) {
    for (const SelectItem& item : list) {
      line("item", item.span, quoted("alias", item.alias));
      const Nest nest(*this, item.span);
      expr(*item.expr);
    }
  }
  void table(const TableRef& t) {
    constexpr std::array<std::string_view, 5> kinds = {"table", "derived", "join", "parenthesis", "opaque"};
    std::string more;
    if (t.kind == TableKind::join) more += fmt::format(" {}", join_names[static_cast<size_t>(t.join)]);
    if (t.kind == TableKind::table) more += fmt::format(" {}", full(t.name));
    if (t.lateral) more += " lateral";
    more += quoted("alias", t.alias);
    line(kinds[static_cast<size_t>(t.kind)], t.span, more);
    const Nest nest(*this, t.span);
    columns("columns", t.alias_columns);
    clause("partition", t.partition);
    clause("index_hints", t.index_hints);
    if (t.query != nullptr) query(*t.query);
    if (t.left != nullptr) table(*t.left);
    if (t.right != nullptr) table(*t.right);
    if (t.on != nullptr) expr(*t.on, "on");
    columns("using", t.using_columns);
  }
  void common(std::span<const CommonTable> list) {
    for (const CommonTable& c : list) {
      text(fmt::format("with {}{}", c.name.text, c.recursive ? " recursive" : ""));
      ++depth_;
      columns("columns", c.columns);
      query(*c.query);
      --depth_;
    }
  }
  void rows(std::span<const InsertRow> list) {
    for (const InsertRow& row : list) {
      line("row", row.span);
      const Nest nest(*this, row.span);
      for (const Expr* value : row.values) expr(*value);
    }
  }
  void query(const Query& q) {
    constexpr std::array<std::string_view, 4> ops = {"", " union", " intersect", " except"};
    line("query", q.span,
         fmt::format("{}{}{}", ops[static_cast<size_t>(q.op)], q.all ? " all" : "",
                     q.parenthesised ? " parenthesised" : ""));
    const Nest nest(*this, q.span);
    clause("with", q.with_span);
    common(q.with);
    if (q.block != nullptr) block(*q.block);
    if (q.left != nullptr) query(*q.left);
    if (q.right != nullptr) query(*q.right);
    clause("order_by", q.order_span);
    order("order", q.order_by);
    limit(q.limit);
    clause("lock", q.lock_span);
    clause("into", q.into_span);
  }
  void block(const SelectBlock& b) {
    line(b.is_values ? "values" : "select", b.span,
         fmt::format("{}{}{}{}{}", b.distinct ? " distinct" : "", b.calc_found_rows ? " calc_found_rows" : "",
                     b.straight_join ? " straight_join" : "", b.from_dual ? " from_dual" : "",
                     b.with_rollup ? " with_rollup" : ""));
    const Nest nest(*this, b.span);
    clause("options", b.options);
    clause("list", b.list);
    items(b.items);
    rows(b.values_rows);
    clause("into", b.into_span);
    clause("from", b.from_span);
    if (b.from != nullptr) table(*b.from);
    clause("where_clause", b.where_span);
    if (b.where != nullptr) expr(*b.where, "where");
    clause("group_by", b.group_span);
    order("group", b.group_by);
    clause("having_clause", b.having_span);
    if (b.having != nullptr) expr(*b.having, "having");
    clause("window", b.window_span);
  }
  void assignments(std::string_view what, std::span<const Assignment> list) {
    for (const Assignment& a : list) {
      line(what, a.span, quoted("schema", a.schema) + quoted("table", a.table) + quoted("column", a.column));
      const Nest nest(*this, a.span);
      expr(*a.value);
    }
  }
  void insert(const Insert& i) {
    text(fmt::format("into {}{}{}{}", full(i.table), i.replace ? " replace" : "", i.ignore ? " ignore" : "",
                     i.priority == Priority::none ? "" : " priority"));
    clause("partition", i.partition);
    clause("column_list", i.column_list);
    if (i.has_column_list) text("has_column_list");
    columns("columns", i.columns);
    assignments("set", i.set);
    rows(i.rows);
    if (i.query != nullptr) query(*i.query);
    if (i.row_alias) text(fmt::format("row_alias {}", i.row_alias.text));
    columns("column_aliases", i.column_aliases);
    clause("on_duplicate", i.on_duplicate_span);
    assignments("update", i.on_duplicate);
    clause("returning", i.returning_span);
    items(i.returning);
  }
  void update(const Update& u) {
    text(fmt::format("update{}{}{}", u.ignore ? " ignore" : "", u.low_priority ? " low_priority" : "",
                     u.multi_table ? " multi_table" : ""));
    common(u.with);
    table(*u.tables);
    assignments("set", u.set);
    if (u.where != nullptr) expr(*u.where, "where");
    order("order", u.order_by);
    limit(u.limit);
  }
  void del(const Delete& d) {
    text(fmt::format("delete{}{}{}{}", d.ignore ? " ignore" : "", d.low_priority ? " low_priority" : "",
                     d.quick ? " quick" : "", d.multi_table ? " multi_table" : ""));
    common(d.with);
    names("targets", d.targets);
    table(*d.from);
    if (d.where != nullptr) expr(*d.where, "where");
    order("order", d.order_by);
    limit(d.limit);
    clause("returning", d.returning_span);
    items(d.returning);
  }
  void set(const Set& s) {
    if (s.transaction) {
      text(fmt::format("transaction{} isolation=\"{}\"{}", s.one_shot ? " one_shot" : "", s.isolation,
                       !s.read_only   ? ""
                       : *s.read_only ? " read_only"
                                      : " read_write"));
    }
    constexpr std::array<std::string_view, 7> whats = {"variable",    "names", "character_set", "password",
                                                       "transaction", "role",  "opaque"};
    constexpr std::array<std::string_view, 5> scopes = {"session", "global", "persist", "persist_only",
                                                        "user"};
    for (const SetItem& item : s.items) {
      line(whats[static_cast<size_t>(item.what)], item.span,
           fmt::format(" {}{} {}{}", scopes[static_cast<size_t>(item.scope)],
                       item.explicit_scope ? " explicit" : "", item.name,
                       item.collation.empty() ? "" : fmt::format(" collate={}", item.collation)));
      const Nest nest(*this, item.span);
      if (item.value != nullptr) expr(*item.value);
    }
  }
  void transaction(const Transaction& t) {
    constexpr std::array<std::string_view, 6> kinds = {"begin",     "commit",      "rollback",
                                                       "savepoint", "rollback_to", "release_savepoint"};
    const auto flag = [](std::string_view name, std::optional<bool> value) {
      return value ? fmt::format(" {}={}", name, *value) : std::string();
    };
    text(fmt::format("{}{}{}{}{}{}", kinds[static_cast<size_t>(t.kind)],
                     t.consistent_snapshot ? " consistent_snapshot" : "", flag("read_only", t.read_only),
                     flag("chain", t.chain), flag("release", t.release), quoted("savepoint", t.savepoint)));
  }
  void kill(const Kill& k) {
    text(k.query ? "kill query" : "kill connection");
    expr(*k.id);
  }

  const Tokens* tokens_;
  std::vector<SpanPair>* pairs_;
  Span parent_;
  int depth_ = 0;
};

}  // namespace

std::string dump_tokens(const Tokens& tokens) {
  std::string out;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    out += fmt::format("{}{}{} [", token_names[static_cast<size_t>(token.kind)],
                       token.keyword == Keyword::none ? "" : " ", to_string(token.keyword));
    for (const char c : tokens.text_of(i)) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      } else {
        out += c;
      }
    }
    out += "]\n";
  }
  return out;
}

std::string dump(const Statement& statement, const Tokens& tokens) {
  Printer printer(&tokens, nullptr);
  printer.statement(statement);
  return printer.out;
}

std::vector<SpanPair> nested_spans(const Statement& statement) {
  std::vector<SpanPair> pairs;
  Printer printer(nullptr, &pairs);
  printer.statement(statement);
  return pairs;
}

}  // namespace evenkeel::sql
