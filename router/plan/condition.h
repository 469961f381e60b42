// What a statement's conditions say of one table's sharding column, and the slots that follow.
//
// A condition is built once per shape and evaluated with the values at hand. It may only ever be too weak:
// the slots that it gives hold every row that the statement's own conditions accept.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "router/plan/planner.h"
#include "router/rule/rule_set.h"
#include "router/sql/ast.h"

namespace evenkeel::plan {

struct Condition {
  enum class Kind : uint8_t {
    any,      // says nothing of the sharding column
    unknown,  // speaks of it, in a way that does not give slots
    equal,    // key = values[0]
    in,       // key IN (values): `list` is that expression
    range,    // key `op` values[0] with op < <= > >=; with two values BETWEEN
    all_of,   // AND of `parts`
    one_of,   // OR of `parts`
  };
  Kind kind = Kind::any;
  sql::Op op = sql::Op::none;
  bool null_safe = false;
  const sql::Expr* list = nullptr;
  std::vector<const sql::Expr*> values;
  std::vector<Condition> parts;
};

// `is_key`: whether a column expression is the sharding column of the table in question.
using IsKey = std::function<bool(const sql::Expr&)>;
Condition condition_of(const sql::Expr& predicate, const IsKey& is_key);
// Adds `part` to the conjunction `all`.
void add_part(Condition& all, Condition part);

struct SlotSet {
  bool all = true;
  bool inexact = false;           // a condition exists whose value does not allow routing by it
  std::vector<rule::Slot> slots;  // unless all: ascending, each once; empty: no row can match

  static SlotSet none() { return {false, false, {}}; }
  void intersect(const SlotSet& other);
  void unite(const SlotSet& other);
};

// How to read constants as keys of one table.
struct KeyReading {
  const catalog::Column& column;
  const rule::Algorithm& algorithm;
  const Arguments& arguments;
};
Result<SlotSet> slots_of(const Condition& condition, const KeyReading& reading);

// Every IN list of the condition with more than one value.
void collect_lists(const Condition& condition, std::vector<const sql::Expr*>& lists);
// For each value of an IN list its slot; `no_slot` for NULL and values that match nothing. Empty when any
// value does not tell its slot.
inline constexpr rule::Slot no_slot = UINT32_MAX;
Result<std::vector<rule::Slot>> slots_of_list(const sql::Expr& list, const KeyReading& reading);

}  // namespace evenkeel::plan
