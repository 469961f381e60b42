#include "router/plan/condition.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/limits.h"
#include "base/mysql/error_codes.h"
#include "router/plan/constants.h"
#include "router/plan/key_value.h"

namespace evenkeel::plan {
namespace {

using Kind = Condition::Kind;
using sql::ExprKind;
using sql::Op;

Op mirrored(Op op) {
  switch (op) {
    case Op::lt:
      return Op::gt;
    case Op::le:
      return Op::ge;
    case Op::gt:
      return Op::lt;
    case Op::ge:
      return Op::le;
    default:
      return op;
  }
}

bool mentions_key(const sql::Expr& expr, const IsKey& is_key) {
  if (is_key(expr)) return true;
  return std::any_of(expr.args.begin(), expr.args.end(),
                     [&](const sql::Expr* arg) { return mentions_key(*arg, is_key); });
}

Condition no_slots_from(const sql::Expr& expr, const IsKey& is_key) {
  Condition condition;
  condition.kind = mentions_key(expr, is_key) ? Kind::unknown : Kind::any;
  return condition;
}

Condition comparison(const sql::Expr& expr, const IsKey& is_key) {
  const sql::Expr* key = &bare(*expr.args[0]);
  const sql::Expr* value = &bare(*expr.args[1]);
  Op op = expr.op;
  if (!is_key(*key)) {
    std::swap(key, value);
    op = mirrored(op);
  }
  Condition condition;
  if (!is_key(*key) || !is_constant(*value)) return no_slots_from(expr, is_key);
  condition.values = {value};
  if (op == Op::eq || op == Op::null_safe_eq) {
    condition.kind = Kind::equal;
    condition.null_safe = op == Op::null_safe_eq;
  } else if (op == Op::lt || op == Op::le || op == Op::gt || op == Op::ge) {
    condition.kind = Kind::range;
    condition.op = op;
  } else {
    condition.kind = Kind::unknown;
  }
  return condition;
}

Condition list(const sql::Expr& expr, const IsKey& is_key) {
  const auto values = expr.args.subspan(1);
  const bool usable =
      !expr.negated && is_key(bare(*expr.args[0])) &&
      std::all_of(values.begin(), values.end(), [](const sql::Expr* v) { return is_constant(*v); });
  if (!usable) return no_slots_from(expr, is_key);
  Condition condition;
  condition.kind = Kind::in;
  condition.list = &expr;
  condition.values.assign(values.begin(), values.end());
  return condition;
}

Condition between(const sql::Expr& expr, const IsKey& is_key) {
  const bool usable = !expr.negated && expr.args.size() == 3 && is_key(bare(*expr.args[0])) &&
                      is_constant(*expr.args[1]) && is_constant(*expr.args[2]);
  if (!usable) return no_slots_from(expr, is_key);
  Condition condition;
  condition.kind = Kind::range;
  condition.values = {expr.args[1], expr.args[2]};
  return condition;
}

// `no_slot` for a value that no row can have, because the algorithm gives it to no table.
Result<rule::Slot> slot_of_match(const KeyReading& reading, const mysql::Value& value) {
  auto slot = reading.algorithm.slot_of(value);
  if (!slot && slot.error().code == mysql::er::no_partition_for_given_value) return no_slot;
  return slot;
}

// Bounds that a conjunction sets, both inclusive.
struct Bounds {
  std::optional<__int128> lowest;
  std::optional<__int128> highest;

  void at_least(__int128 value) { lowest = lowest ? std::max(*lowest, value) : value; }
  void at_most(__int128 value) { highest = highest ? std::min(*highest, value) : value; }
};

// Only integers against integer columns: those are compared exactly.
std::optional<__int128> bound_value(const sql::Expr& expr, const KeyReading& reading) {
  const auto known = constant(expr, reading.arguments);
  if (!known || !known->value.is_integer()) return std::nullopt;
  return known->value.kind() == mysql::Value::Kind::int64 ? static_cast<__int128>(known->value.as_int64())
                                                          : static_cast<__int128>(known->value.as_uint64());
}

void add_bounds(const Condition& range, const KeyReading& reading, Bounds& bounds) {
  const auto first = bound_value(*range.values[0], reading);
  const auto second = range.values.size() == 2 ? bound_value(*range.values[1], reading) : first;
  if (!first || !second) return;
  if (range.values.size() == 2) {
    bounds.at_least(*first);
    bounds.at_most(*second);
    return;
  }
  switch (range.op) {
    case Op::lt:
      bounds.at_most(*first - 1);
      break;
    case Op::le:
      bounds.at_most(*first);
      break;
    case Op::gt:
      bounds.at_least(*first + 1);
      break;
    default:
      bounds.at_least(*first);
      break;
  }
}

Result<SlotSet> slots_within(Bounds bounds, const KeyReading& reading) {
  SlotSet set;
  set.inexact = true;  // unless the span turns out small
  const auto range = integer_range(reading.column);
  if (!range) return set;
  if (!bounds.lowest && !bounds.highest) return set;
  // The column's own bounds make `id < 5` on an unsigned column a small span too.
  const __int128 lowest = std::max(bounds.lowest.value_or(range->lowest), range->lowest);
  const __int128 highest = std::min(bounds.highest.value_or(range->highest), range->highest);
  if (lowest > highest) return SlotSet::none();
  if (auto between = reading.algorithm.slots_between(integer_key(reading.column, lowest),
                                                     integer_key(reading.column, highest)))
    return SlotSet{false, false, std::move(*between)};
  if (highest - lowest >= static_cast<__int128>(limits::key_range_span_max)) return set;
  set = SlotSet::none();
  for (__int128 value = lowest; value <= highest; ++value) {
    EVENKEEL_ASSIGN(const rule::Slot slot, slot_of_match(reading, integer_key(reading.column, value)));
    if (slot != no_slot) set.slots.push_back(slot);
  }
  std::sort(set.slots.begin(), set.slots.end());
  set.slots.erase(std::unique(set.slots.begin(), set.slots.end()), set.slots.end());
  return set;
}

Result<SlotSet> slots_of_equal(const Condition& condition, const KeyReading& reading) {
  SlotSet set;
  const auto known = constant(*condition.values[0], reading.arguments);
  set.inexact = true;
  if (!known) return set;
  if (condition.null_safe && known->value.is_null()) return set;
  const KeyMatch match = match_key(reading.column, known->value, text_facts(*known, reading.arguments.facts));
  if (match.fit == KeyFit::inexact) return set;
  set = SlotSet::none();
  if (match.fit == KeyFit::matches_nothing) return set;
  EVENKEEL_ASSIGN(const rule::Slot slot, slot_of_match(reading, match.value));
  if (slot != no_slot) set.slots.push_back(slot);
  return set;
}

Result<SlotSet> slots_of_in(const Condition& condition, const KeyReading& reading) {
  EVENKEEL_ASSIGN(auto slots, slots_of_list(*condition.list, reading));
  SlotSet set;
  set.inexact = true;
  if (slots.empty()) return set;
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  if (slots.back() == no_slot) slots.pop_back();
  return SlotSet{false, false, std::move(slots)};
}

Result<SlotSet> slots_of_all(const Condition& condition, const KeyReading& reading) {
  SlotSet set;
  Bounds bounds;
  bool ranges = false;
  for (const Condition& part : condition.parts) {
    if (part.kind == Kind::range) {
      add_bounds(part, reading, bounds);
      ranges = true;
      continue;
    }
    EVENKEEL_ASSIGN(const SlotSet other, slots_of(part, reading));
    set.intersect(other);
  }
  if (ranges) {
    EVENKEEL_ASSIGN(const SlotSet within, slots_within(bounds, reading));
    set.intersect(within);
  }
  return set;
}

}  // namespace

Condition condition_of(const sql::Expr& outer, const IsKey& is_key) {
  const sql::Expr& predicate = bare(outer);
  switch (predicate.kind) {
    case ExprKind::and_:
    case ExprKind::or_: {
      Condition condition;
      condition.kind = predicate.kind == ExprKind::and_ ? Kind::all_of : Kind::one_of;
      for (const sql::Expr* arg : predicate.args) {
        Condition part = condition_of(*arg, is_key);
        if (condition.kind == Kind::all_of)
          add_part(condition, std::move(part));
        else
          condition.parts.push_back(std::move(part));
      }
      return condition;
    }
    case ExprKind::binary:
      if (predicate.args.size() == 2) return comparison(predicate, is_key);
      return no_slots_from(predicate, is_key);
    case ExprKind::in_list:
      return list(predicate, is_key);
    case ExprKind::between:
      return between(predicate, is_key);
    default:
      return no_slots_from(predicate, is_key);
  }
}

void add_part(Condition& all, Condition part) {
  if (part.kind == Kind::any) return;
  if (part.kind == Kind::all_of) {
    std::move(part.parts.begin(), part.parts.end(), std::back_inserter(all.parts));
  } else {
    all.parts.push_back(std::move(part));
  }
}

void SlotSet::intersect(const SlotSet& other) {
  if (other.all) {
    inexact = all && (inexact || other.inexact);
    return;
  }
  if (all) {
    *this = other;
    return;
  }
  std::vector<rule::Slot> both;
  std::set_intersection(slots.begin(), slots.end(), other.slots.begin(), other.slots.end(),
                        std::back_inserter(both));
  slots = std::move(both);
}

void SlotSet::unite(const SlotSet& other) {
  if (all || other.all) {
    *this = SlotSet{true, inexact || other.inexact, {}};
    return;
  }
  std::vector<rule::Slot> either;
  std::set_union(slots.begin(), slots.end(), other.slots.begin(), other.slots.end(),
                 std::back_inserter(either));
  slots = std::move(either);
}

Result<SlotSet> slots_of(const Condition& condition, const KeyReading& reading) {
  switch (condition.kind) {
    case Kind::any:
      return SlotSet{};
    case Kind::unknown:
      return SlotSet{true, true, {}};
    case Kind::equal:
      return slots_of_equal(condition, reading);
    case Kind::in:
      return slots_of_in(condition, reading);
    case Kind::range: {
      Bounds bounds;
      add_bounds(condition, reading, bounds);
      return slots_within(bounds, reading);
    }
    case Kind::all_of:
      return slots_of_all(condition, reading);
    case Kind::one_of: {
      SlotSet set = SlotSet::none();
      for (const Condition& part : condition.parts) {
        EVENKEEL_ASSIGN(const SlotSet other, slots_of(part, reading));
        set.unite(other);
      }
      return set;
    }
  }
  return SlotSet{};
}

void collect_lists(const Condition& condition, std::vector<const sql::Expr*>& lists) {
  if (condition.kind == Kind::in && condition.values.size() > 1) lists.push_back(condition.list);
  for (const Condition& part : condition.parts) collect_lists(part, lists);
}

Result<std::vector<rule::Slot>> slots_of_list(const sql::Expr& list_expr, const KeyReading& reading) {
  std::vector<rule::Slot> slots;
  bool as_double = false;
  bool beyond_double = false;
  for (const sql::Expr* value : list_expr.args.subspan(1)) {
    const auto known = constant(*value, reading.arguments);
    if (!known) return std::vector<rule::Slot>{};
    const KeyMatch match =
        match_key(reading.column, known->value, text_facts(*known, reading.arguments.facts));
    if (match.fit == KeyFit::inexact) return std::vector<rule::Slot>{};
    as_double |= match.compared_as_double;
    if (known->value.is_integer() || known->value.kind() == mysql::Value::Kind::decimal) {
      const bool small =
          match.fit == KeyFit::exact && match.value.is_integer() &&
          (match.value.kind() == mysql::Value::Kind::uint64
               ? match.value.as_uint64() < static_cast<uint64_t>(exact_double_bound)
               : match.value.as_int64() < exact_double_bound && match.value.as_int64() > -exact_double_bound);
      beyond_double |= !small;
    }
    if (match.fit == KeyFit::matches_nothing) {
      slots.push_back(no_slot);
      continue;
    }
    EVENKEEL_ASSIGN(const rule::Slot slot, slot_of_match(reading, match.value));
    slots.push_back(slot);
  }
  // One string or double in the list, and the servers may compare the whole list as doubles, which do not
  // tell large integers apart.
  if (as_double && beyond_double) slots.clear();
  return slots;
}

}  // namespace evenkeel::plan
