// A multi-row INSERT is split without losing, doubling, reordering or misplacing a row, in text and binary.
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

#include "router/plan/tests/planning.h"

namespace evenkeel::plan::testing {
namespace {

constexpr std::string_view world_text = R"(
instances ds0 ds1
schema shop ds0
table t key=id generated=id databases=4 tables=8
CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n INT);
)";

const World& world() {
  static const World made = *read_world(world_text);
  return made;
}

struct Row {
  std::optional<int64_t> id;  // unset: to be generated
  int64_t n = 0;
};

std::vector<Row> random_rows() {
  std::vector<Row> rows(static_cast<size_t>(*rc::gen::inRange(1, 12)));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (*rc::gen::inRange(0, 3) != 0) rows[i].id = *rc::gen::inRange<int64_t>(-30, 900);
    if (rows[i].id == 0) rows[i].id.reset();
    rows[i].n = static_cast<int64_t>(i);
  }
  return rows;
}

// The values of a unit in order, its parameters put in.
std::vector<int64_t> values_of(const ExecutionUnit& unit, const Plan& plan, const Question& question) {
  std::string text = unit.sql.substr(unit.sql.find("VALUES") + 6);
  std::string flat;
  size_t next = 0;
  for (const char c : text) {
    if (c == '(' || c == ')') continue;
    if (c != '?') {
      flat += c;
      continue;
    }
    const uint32_t parameter = unit.parameters[next++];
    const size_t own = question.parameters.size();
    flat +=
        to_string(parameter < own ? question.parameters[parameter] : plan.extra_parameters[parameter - own]);
  }
  std::vector<int64_t> values;
  for (const mysql::Value& value : read_values(flat)) values.push_back(value.as_int64());
  return values;
}

void expect_split(bool binary) {
  const std::vector<Row> rows = random_rows();
  Question question;
  question.facts.database = "shop";
  question.binary = binary;
  question.sql = "INSERT INTO t(id, n) VALUES ";
  for (const Row& row : rows) {
    const mysql::Value id = row.id ? mysql::Value::int64(*row.id) : mysql::Value::null();
    if (&row != &rows.front()) question.sql += ",";
    question.sql += binary ? "(?, ?)" : "(" + to_string(id) + ", " + std::to_string(row.n) + ")";
    if (binary) {
      question.parameters.push_back(id);
      question.parameters.push_back(mysql::Value::int64(row.n));
    }
  }
  const auto plan = answer(world(), question);
  RC_ASSERT(plan.has_value());

  // What must stand in each slot, in order. Keys are drawn in row order from first_key on.
  std::map<rule::Slot, std::vector<int64_t>> expected;
  auto key = static_cast<int64_t>(question.first_key);
  for (const Row& row : rows) {
    const int64_t id = row.id ? *row.id : key++;
    auto& slot = expected[static_cast<rule::Slot>(((id % 8) + 8) % 8)];
    slot.push_back(id);
    slot.push_back(row.n);
  }
  std::map<rule::Slot, std::vector<int64_t>> got;
  for (const ExecutionUnit& unit : plan->units) {
    RC_ASSERT(unit.slots.size() == 1u);
    RC_ASSERT(!got.contains(unit.slots.front()));
    got[unit.slots.front()] = values_of(unit, *plan, question);
  }
  RC_ASSERT(got == expected);
  RC_ASSERT(plan->atomic == (expected.size() > 1));
}

RC_GTEST_PROP(InsertSplit, KeepsEveryRowInItsSlotInOrderAsText, ()) { expect_split(false); }
RC_GTEST_PROP(InsertSplit, KeepsEveryRowInItsSlotInOrderAsBinary, ()) { expect_split(true); }

}  // namespace
}  // namespace evenkeel::plan::testing
