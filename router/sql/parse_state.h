// The parser at work: a cursor over tokens, an arena, and one member function a rule of the grammar, grouped
// by file: parse_expression.cc, parse_primary.cc, parse_function.cc, parse_query.cc, parse_table.cc,
// parse_write.cc, parse_set.cc, parse_ddl.cc, parse_statement.cc; opaque.cc has what to do with text that no
// rule knows.
//
// Two ways to fail. Softly: a rule returns null or false; the caller puts the cursor back to a mark and makes
// an opaque node, or the whole statement becomes opaque. For good: `error_` is set (a limit, unbalanced
// parentheses), every rule returns at once.
#pragma once

#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/sql/ast.h"
#include "router/sql/keywords.h"
#include "router/sql/lexer.h"

namespace evenkeel::sql {

class Parser {
 public:
  Parser(const Tokens& tokens, const LexRules& rules, Span part);
  Result<StatementPtr> run();

 private:
  // Where to return to when an attempt fails.
  struct Mark {
    uint32_t at;
    size_t tables, calls, structural;
    bool has_opaque;
  };
  // A list under construction, on a stack that the parser keeps; `finish` moves it into the arena.
  template <typename T>
  class Gather {
   public:
    Gather(Parser& parser, std::vector<T>& stack) : parser_(parser), stack_(stack), base_(stack.size()) {}
    ~Gather() { stack_.resize(base_); }
    Gather(const Gather&) = delete;
    Gather& operator=(const Gather&) = delete;
    void push(T value) { stack_.push_back(value); }
    size_t size() const { return stack_.size() - base_; }
    std::span<const T> finish() {
      return parser_.keep(std::span<const T>(stack_.data() + base_, stack_.size() - base_));
    }

   private:
    Parser& parser_;
    std::vector<T>& stack_;
    size_t base_;
  };
  // Counts nesting for as long as it lives; `ok` is false past the limit.
  class Deeper {
   public:
    explicit Deeper(Parser& parser);
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    explicit operator bool() const { return ok_; }

   private:
    Parser& parser_;
    bool ok_;
  };

  // --- parser.cc: cursor, arena, errors ---
  const Token& token(uint32_t ahead = 0) const { return at_ + ahead < last_ ? tokens_[at_ + ahead] : end_; }
  Keyword keyword(uint32_t ahead = 0) const { return token(ahead).keyword; }
  Op op(uint32_t ahead = 0) const { return token(ahead).op; }
  bool at_end() const { return at_ >= last_; }
  bool accept(Keyword word);
  bool accept(Op op);
  bool accept_all(std::initializer_list<Keyword> words);  // all of them in this order, or none
  bool is_name(uint32_t ahead = 0) const;                 // may stand as an unquoted or quoted name
  bool is_word(uint32_t ahead = 0) const;                 // any name or keyword
  bool reserved(Keyword word) const { return is_reserved(word, rules_.flavour, rules_.version); }
  bool query_starts(uint32_t ahead = 0) const;  // SELECT, WITH, VALUES, TABLE at this token
  Span since(uint32_t first) const { return {first, at_}; }
  uint32_t matching_paren(uint32_t open) const;  // index of the `)`; last_ when there is none
  Status check_parens();
  Error syntax_error_here(std::string_view reason) const;
  void limit_error(std::string_view what);

  template <typename T>
  T* make() {
    return new (arena_->allocate(sizeof(T), alignof(T))) T();
  }
  template <typename T>
  std::span<const T> keep(std::span<const T> items) {
    if (items.empty()) return {};
    T* copy = static_cast<T*>(arena_->allocate(items.size() * sizeof(T), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }
  std::string_view keep_text(std::string_view text);
  std::string_view keep_lower(std::string_view text);
  Mark mark() const { return {at_, tables_.size(), calls_.size(), structural_.size(), has_opaque_}; }
  bool back_to(const Mark& mark);  // false when error_ is set or too much was tried in vain

  // Names. `take_name` wants is_name, `take_word` takes keywords too (behind a dot).
  std::optional<Identifier> take_name();
  std::optional<Identifier> take_word();
  Identifier identifier_at(uint32_t index);
  std::string_view unquoted(uint32_t index);
  std::optional<TableName> table_name(bool listed = true);
  bool name_list(std::span<const Identifier>& out);  // (a, b, …) with the parentheses
  Identifier string_as_name();                       // a string literal as an alias
  bool alias(Identifier& out, bool strings);         // [AS] name; true also when there is none

  // --- opaque.cc ---
  Expr* opaque_expression(const Mark& from);
  void scan_opaque(Span span);  // calls, and names where a table can stand at all
  void list_all(Span span);     // calls and names
  void scan_calls(Span span);
  bool opens_tables(Span span) const;
  static bool never_called(Keyword word);  // reserved, and `word (` is no call
  void list_names(Span span);
  bool skip_to(std::initializer_list<Keyword> words);  // at this level; stops at `,` `)` and the end too
  void skip_balanced();                                // one token, or a whole parenthesis
  void skip_rest() { at_ = last_; }

  // --- parse_expression.cc ---
  Expr* expression() { return expression(0); }
  Expr* expression(int power);
  Expr* expression_or_opaque();
  Expr* infix(Expr* left, int power);
  Expr* comparison(Expr* left);
  Expr* is_test(Expr* left);
  Expr* predicate(Expr* left);
  Expr* in_predicate(Expr* left, bool negated);
  Expr* like_predicate(Expr* left, bool negated);
  Expr* flat(Expr* left, ExprKind kind, int power);
  Expr* binary(Expr* left, ExprKind kind, Op op, int power, std::string_view name = {});
  int infix_power() const;
  Expr* begin(ExprKind kind, uint32_t first);
  Expr* close(Expr* expr);
  Expr* with_args(Expr* expr, std::initializer_list<Expr*> args);
  bool expression_list(std::span<Expr* const>& out);  // one or more, up to what is no comma

  // --- parse_primary.cc ---
  Expr* prefix();
  Expr* punctuation_primary();
  Expr* word_primary();
  Expr* reserved_primary();
  Expr* literal();
  Expr* string_literal();
  Expr* parameter();
  Expr* user_variable();
  Expr* user_variable_node();
  Expr* system_variable();
  Expr* unary(std::string_view name, Op op, int power);
  Expr* parenthesis();
  Expr* query_expression(ExprKind kind, uint32_t first, std::string_view name);
  Expr* odbc_escape();
  Expr* case_expression();
  Expr* interval();
  Expr* match_against();
  Expr* column();
  Expr* json_path(Expr* column);
  Expr* temporal(std::string_view name);
  Expr* sequence_value();

  // --- parse_function.cc ---
  Expr* function_call(Identifier schema, uint32_t first);
  Expr* bare_function(uint32_t first);
  bool arguments(Expr* call, std::string_view name);
  bool plain_arguments(Expr* call);
  bool position_arguments(Expr* call);
  bool substring_arguments(Expr* call);
  bool trim_arguments(Expr* call);
  bool extract_arguments(Expr* call);
  bool unit_first_arguments(Expr* call);
  bool aggregate_arguments(Expr* call);
  bool cast_arguments(Expr* call);
  bool convert_arguments(Expr* call);
  bool char_arguments(Expr* call);
  bool weight_string_arguments(Expr* call);
  bool json_value_arguments(Expr* call);
  void skip_type();
  bool finish_call(Expr* call);
  bool window(Expr* call);
  bool window_body(WindowSpec& spec);

  // --- parse_query.cc ---
  Query* query();
  bool with_clause(std::span<const CommonTable>& out, Span& span);
  Query* query_term();
  Query* query_primary();
  Query* set_operation(Query* left, SetOp op, Query* right, bool all);
  bool set_operator(bool intersect, SetOp& op, bool& all);
  SelectBlock* select_block();
  void select_options(SelectBlock& block);
  SelectBlock* values_block();
  SelectBlock* table_block();
  bool select_items(std::span<const SelectItem>& out);
  bool star_item(SelectItem& item);
  bool group_clause(SelectBlock& block);
  bool window_clause(SelectBlock& block);
  bool into_clause(Span& span);
  bool query_tail(Query& query);
  bool order_items(std::span<const OrderItem>& out);
  bool order_clause(std::span<const OrderItem>& items, Span& span);
  bool limit_clause(const Limit*& out);
  bool fetch_clause(Limit& limit);
  bool lock_clauses(Query& query);
  bool value_rows(std::span<const InsertRow>& out);
  bool value_row(InsertRow& row);

  // --- parse_table.cc ---
  TableRef* table_references();
  TableRef* table_reference();
  TableRef* joined(TableRef* left);
  bool join_operator(JoinKind& kind);
  bool join_condition(TableRef& join);
  TableRef* table_factor();
  TableRef* parenthesised_tables();
  TableRef* derived_table(uint32_t first, bool lateral);
  TableRef* named_table();
  TableRef* json_table();
  bool derived_alias(TableRef& ref);
  void index_hints(TableRef& ref);
  void note_height(int height);

  // --- parse_write.cc ---
  bool insert(Statement& out);
  bool insert_columns(Insert& insert);
  bool insert_source(Insert& insert);
  bool on_duplicate(Insert& insert);
  bool returning(Span& span, std::span<const SelectItem>& items);
  bool update(Statement& out, std::span<const CommonTable> with, Span with_span);
  bool del(Statement& out, std::span<const CommonTable> with, Span with_span);
  bool delete_targets(Delete& del);
  bool assignments(std::span<const Assignment>& out);
  bool target_column(Identifier& schema, Identifier& table, Identifier& column);

  // --- parse_set.cc ---
  bool set_statement(Statement& out);
  bool set_transaction(Set& set);
  bool set_item(SetItem& item);
  bool set_names(SetItem& item);
  bool set_variable(SetItem& item);
  Expr* set_value();
  Expr* bare_word();

  // --- parse_ddl.cc ---
  bool ddl(Statement& out);
  void ddl_create(Statement& out);
  void ddl_tail();
  bool ddl_names();
  bool other_object(Statement& out);

  // --- parse_statement.cc ---
  void statement(Statement& out);
  bool understood(Statement& out);
  bool with_statement(Statement& out);
  bool transaction(Statement& out);
  bool completion(Transaction& tx);
  bool start_transaction(Transaction& tx);
  bool show(Statement& out);
  bool explain(Statement& out);
  bool kill(Statement& out);
  bool lock_tables(Statement& out);
  bool maintenance(Statement& out);
  bool by_first_word(Statement& out);
  void forget(Statement& out, const Mark& from);
  void finish(Statement& out, uint32_t first);
  std::string_view leading_words(uint32_t first);

  const Tokens& tokens_;
  const LexRules& rules_;
  const Span part_;
  uint32_t at_;
  uint32_t last_;
  int depth_ = 0;
  int height_seen_ = 0;   // of the expressions in the query being parsed
  int query_height_ = 0;  // of the query parsed last
  int attempts_left_ = 200;
  bool has_opaque_ = false;
  std::optional<Error> error_;
  std::shared_ptr<Statement> statement_;
  std::pmr::monotonic_buffer_resource* arena_;

  std::vector<uint32_t> parameters_;  // tokens of the ? in the part
  std::vector<TableName> tables_;
  std::vector<const Expr*> calls_;
  std::vector<uint32_t> structural_;
  // Stacks of Gather.
  std::vector<Expr*> exprs_;
  std::vector<SelectItem> items_;
  std::vector<OrderItem> orders_;
  std::vector<Identifier> names_;
  std::vector<TableName> targets_;
  std::vector<InsertRow> rows_;
  std::vector<Assignment> assignments_;
  std::vector<CommonTable> commons_;
  std::vector<SetItem> set_items_;

  static constexpr Token end_{};
};

}  // namespace evenkeel::sql
