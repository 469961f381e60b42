// For random conditions over a small table: the slots that a plan reads hold every row that the condition
// accepts. The condition is evaluated here, row by row, with SQL's three-valued logic.
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <rapidcheck/gtest.h>
#include <set>

#include "router/plan/tests/planning.h"

namespace evenkeel::plan::testing {
namespace {

constexpr std::string_view world_text = R"(
instances ds0 ds1
schema shop ds0
table t key=id databases=4 tables=8
table h key=id algorithm=hash_mod databases=4 tables=8
CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n INT);
CREATE TABLE h (id BIGINT NOT NULL PRIMARY KEY, n INT);
)";

const World& world() {
  static const World made = *read_world(world_text);
  return made;
}

constexpr int64_t lowest = -20;
constexpr int64_t highest = 40;

enum class Truth { no, yes, unknown };
Truth truth(bool value) { return value ? Truth::yes : Truth::no; }
Truth inverse(Truth value) {
  return value == Truth::unknown ? value : value == Truth::yes ? Truth::no : Truth::yes;
}
Truth both(Truth a, Truth b) {
  if (a == Truth::no || b == Truth::no) return Truth::no;
  return a == Truth::yes && b == Truth::yes ? Truth::yes : Truth::unknown;
}
Truth either(Truth a, Truth b) { return inverse(both(inverse(a), inverse(b))); }

// A predicate as text, and as a function of a row's id and n.
struct Predicate {
  std::string text;
  std::function<Truth(int64_t, int64_t)> holds;
};

struct Operand {
  std::string text;
  std::optional<double> value;  // NULL when unset
};

Operand random_operand() {
  const int64_t number = *rc::gen::inRange<int64_t>(lowest, highest);
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return {"NULL", std::nullopt};
    case 1:
      return {"'" + std::to_string(number) + "'", static_cast<double>(number)};
    case 2:
      return {std::to_string(number) + ".0", static_cast<double>(number)};
    case 3:
      return {std::to_string(number) + ".5", number + (number < 0 ? -0.5 : 0.5)};
    case 4:
      return {std::to_string(number) + "e0", static_cast<double>(number)};
    case 5:
      return {"(" + std::to_string(number) + ")", static_cast<double>(number)};
    default:
      return {std::to_string(number), static_cast<double>(number)};
  }
}

Truth compare(const std::string& op, std::optional<double> a, std::optional<double> b) {
  if (op == "<=>") return truth(a == b);
  if (!a || !b) return Truth::unknown;
  if (op == "=") return truth(*a == *b);
  if (op == "<>") return truth(*a != *b);
  if (op == "<") return truth(*a < *b);
  if (op == "<=") return truth(*a <= *b);
  if (op == ">") return truth(*a > *b);
  return truth(*a >= *b);
}

Predicate random_comparison() {
  const bool of_key = *rc::gen::inRange(0, 4) != 0;
  const auto column = [of_key](int64_t id, int64_t n) { return static_cast<double>(of_key ? id : n); };
  const std::string name = of_key ? *rc::gen::element<std::string>("id", "t.id", "ID") : "n";
  const std::string op = *rc::gen::element<std::string>("=", "=", "=", "<>", "<", "<=", ">", ">=", "<=>");
  const Operand operand = random_operand();
  if (*rc::gen::arbitrary<bool>()) {
    return {name + " " + op + " " + operand.text,
            [=](int64_t id, int64_t n) { return compare(op, column(id, n), operand.value); }};
  }
  return {operand.text + " " + op + " " + name,
          [=](int64_t id, int64_t n) { return compare(op, operand.value, column(id, n)); }};
}

Predicate random_list() {
  const bool negated = *rc::gen::inRange(0, 5) == 0;
  std::vector<Operand> operands(static_cast<size_t>(*rc::gen::inRange(1, 6)));
  std::string text;
  for (Operand& operand : operands) {
    operand = random_operand();
    text += (text.empty() ? "" : ", ") + operand.text;
  }
  return {std::string("id ") + (negated ? "NOT " : "") + "IN (" + text + ")", [=](int64_t id, int64_t) {
            Truth found = Truth::no;
            for (const Operand& operand : operands) {
              found = either(found, compare("=", static_cast<double>(id), operand.value));
            }
            return negated ? inverse(found) : found;
          }};
}

Predicate random_between() {
  const Operand from = random_operand();
  const Operand to = random_operand();
  return {"id BETWEEN " + from.text + " AND " + to.text, [=](int64_t id, int64_t) {
            return both(compare(">=", static_cast<double>(id), from.value),
                        compare("<=", static_cast<double>(id), to.value));
          }};
}

// Two bounds that leave a few values: what is enumerated into slots.
Predicate random_span() {
  const auto from = *rc::gen::inRange<int64_t>(lowest, highest);
  const auto to = from + *rc::gen::inRange<int64_t>(-1, 6);
  const std::string lower = *rc::gen::element<std::string>(">", ">=");
  const std::string upper = *rc::gen::element<std::string>("<", "<=");
  const bool by_between = *rc::gen::inRange(0, 3) == 0;
  const std::string a = std::to_string(from);
  const std::string b = std::to_string(to);
  const bool turned = *rc::gen::arbitrary<bool>();
  const std::string text =
      by_between ? "id BETWEEN " + a + " AND " + b
                 : "(id " + lower + " " + a + " AND " +
                       (turned ? b + (upper == "<" ? " > " : " >= ") + "id" : "id " + upper + " " + b) + ")";
  return {text, [=](int64_t id, int64_t) {
            const auto value = static_cast<double>(id);
            return both(compare(by_between ? ">=" : lower, value, static_cast<double>(from)),
                        compare(by_between ? "<=" : upper, value, static_cast<double>(to)));
          }};
}

Predicate random_predicate(int depth) {
  switch (depth == 0 ? *rc::gen::inRange(-2, 6) : *rc::gen::inRange(-2, 12)) {
    case -2:
    case -1:
      return random_span();
    case 0:
      return random_list();
    case 1:
      return random_between();
    case 2:
    case 3:
    case 4:
    case 5:
      return random_comparison();
    case 6: {
      const Predicate inner = random_predicate(depth - 1);
      return {"NOT (" + inner.text + ")", [=](int64_t id, int64_t n) { return inverse(inner.holds(id, n)); }};
    }
    case 7: {
      const Predicate inner = random_predicate(depth - 1);
      return {"(" + inner.text + ") IS NOT TRUE",
              [=](int64_t id, int64_t n) { return truth(inner.holds(id, n) != Truth::yes); }};
    }
    default: {
      const bool conjunction = *rc::gen::arbitrary<bool>();
      const Predicate left = random_predicate(depth - 1);
      const Predicate right = random_predicate(depth - 1);
      return {"(" + left.text + (conjunction ? " AND " : " OR ") + right.text + ")",
              [=](int64_t id, int64_t n) {
                return conjunction ? both(left.holds(id, n), right.holds(id, n))
                                   : either(left.holds(id, n), right.holds(id, n));
              }};
    }
  }
}

std::set<rule::Slot> slots_of(const Plan& plan) {
  std::set<rule::Slot> slots;
  for (const ExecutionUnit& unit : plan.units) slots.insert(unit.slots.begin(), unit.slots.end());
  return slots;
}

void expect_superset(const std::string& table) {
  const Predicate predicate = random_predicate(*rc::gen::inRange(0, 4));
  Question question;
  question.facts.database = "shop";
  question.sql = "SELECT * FROM " + table + " AS t WHERE " + predicate.text;
  const auto plan = answer(world(), question);
  RC_ASSERT(plan.has_value());
  const auto slots = slots_of(*plan);
  const rule::Algorithm& algorithm = *world().rules->find_table("shop", table)->algorithm;
  for (int64_t id = lowest - 5; id <= highest + 5; ++id) {
    for (const int64_t n : {int64_t{-1}, int64_t{0}, int64_t{7}}) {
      if (predicate.holds(id, n) != Truth::yes) continue;
      const auto slot = algorithm.slot_of(mysql::Value::int64(id));
      RC_ASSERT(slot.has_value());
      if (!slots.contains(*slot)) RC_FAIL("row " + std::to_string(id) + " is missed by: " + question.sql);
    }
  }
}

RC_GTEST_PROP(Route, HoldsEveryMatchingRowUnderMod, ()) { expect_superset("t"); }
RC_GTEST_PROP(Route, HoldsEveryMatchingRowUnderHashMod, ()) { expect_superset("h"); }

// IN lists cut down to a slot's values lose no row of that slot.
RC_GTEST_PROP(Route, CutListsKeepEveryValueOfTheirSlot, ()) {
  const auto ids = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange(lowest, highest));
  RC_PRE(!ids.empty());
  std::string list;
  for (const int64_t id : ids) list += (list.empty() ? "" : ", ") + std::to_string(id);
  Question question;
  question.facts.database = "shop";
  question.sql = "DELETE FROM t WHERE id IN (" + list + ")";
  const auto plan = answer(world(), question);
  RC_ASSERT(plan.has_value());
  std::multiset<int64_t> named;
  for (const ExecutionUnit& unit : plan->units) {
    const size_t open = unit.sql.find('(');
    for (const mysql::Value& value : read_values(unit.sql.substr(open + 1, unit.sql.size() - open - 2))) {
      named.insert(value.as_int64());
      RC_ASSERT(((value.as_int64() % 8) + 8) % 8 == static_cast<int64_t>(unit.slots.front()));
    }
  }
  RC_ASSERT(named == std::multiset<int64_t>(ids.begin(), ids.end()));
}

}  // namespace
}  // namespace evenkeel::plan::testing
