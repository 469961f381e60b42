// A statement's text with edits, again and again: the edits are gathered once an execution, pointed at one
// slot after the other, and written out for any part of the text together with the parameters that the part
// holds, in the order of their ?.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "router/plan/planner.h"
#include "router/rule/rule_set.h"
#include "router/sql/token.h"

namespace evenkeel::plan {

// How an actual table's name stands in place of a logical one.
enum class NameStyle : uint8_t {
  with_alias,  // `db`.`orders_003` AS `orders`: FROM, UPDATE
  bare,        // `db`.`orders_003`: after which the client's own alias stands, or where none may stand
};

// Text to write and the parameters at its ?, by index (see ExecutionUnit::parameters).
struct Piece {
  std::string text;
  std::vector<uint32_t> parameters;
  void append(const Piece& other);
};

class Rewrite {
 public:
  // `parameter_tokens`: the tokens of all ? of the statement, in order. All are borrowed.
  Rewrite(const Arguments& arguments, std::span<const uint32_t> parameter_tokens);

  void replace(sql::Span span, std::string text);
  void replace(sql::Span span, Piece piece);
  // Before token `before`; several insertions at one place keep their order.
  void insert(uint32_t before, Piece piece);
  // A name of `table`: its text follows `point_at`. `shown`: the alias of NameStyle::with_alias.
  void name(sql::Span span, const rule::LogicalTable& table, NameStyle style, std::string_view shown);

  // A value as a literal, or with binary execution as ? with an extra parameter.
  Piece value(const mysql::Value& value);
  Piece literal(const mysql::Value& value) const;

  // Sorts the edits; then none may be added.
  void seal();
  void point_at(rule::Slot slot);
  // Appends tokens [part.first, part.last) with the edits inside, except those inside an edited span. `also`:
  // further edits of this part, sorted.
  struct Edit {
    sql::Span span;
    Piece piece;
    const rule::LogicalTable* table = nullptr;  // a name, with the members below
    NameStyle style = NameStyle::bare;
    std::string_view shown;
  };
  void write(sql::Span part, std::span<const Edit> also, Piece& out) const;
  void write(sql::Span part, Piece& out) const { write(part, {}, out); }
  // The whole statement, with the comments before and after it where it is the only one of its text.
  void write_statement(sql::Span statement, Piece& out) const;

  // The values of Plan::extra_parameters.
  std::vector<mysql::Value> take_extra_parameters() { return std::move(extra_); }
  size_t extra_parameters() const { return extra_.size(); }

 private:
  // With `unwrap`, a blank stands where an executed comment begins or ends: what it holds runs like any other
  // text.
  void copy(uint32_t from_byte, uint32_t to_byte, uint32_t first_token, uint32_t last_token, bool unwrap,
            Piece& out) const;
  void copy_bytes(uint32_t from, uint32_t to, bool unwrap, Piece& out) const;
  void write_part(sql::Span part, std::span<const Edit> also, bool unwrap, Piece& out) const;
  bool edits_cross_markers() const;

  const Arguments& arguments_;
  std::span<const uint32_t> parameter_tokens_;
  std::vector<Edit> edits_;
  std::vector<mysql::Value> extra_;
};

// `db`.`table`
std::string qualified(const rule::ActualTable& table);

}  // namespace evenkeel::plan
