// list: each slot names the values that it holds; one slot may hold all others. Integers and strings as
// stored, one kind in all lists. DO NOT CHANGE: rows lie where it says.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "router/rule/algorithms.h"

namespace evenkeel::rule {
namespace {

using ListValue = AlgorithmParameters::ListValue;

class List final : public Algorithm {
 public:
  List(uint32_t slots, std::map<ListValue, Slot> slot_of_value, std::optional<Slot> otherwise, bool strings)
      : slots_(slots), known_(std::move(slot_of_value)), otherwise_(otherwise), strings_(strings) {}

  std::string_view name() const override { return "list"; }
  uint32_t slots() const override { return slots_; }

  Result<Slot> slot_of(const mysql::Value& value) const override {
    const auto wanted = listed(value);
    if (!wanted) return fail(no_rule_for(*this, value, strings_ ? "strings" : "integers"));
    const auto found = known_.find(*wanted);
    if (found != known_.end()) return found->second;
    if (otherwise_) return *otherwise_;
    return fail(no_slot_for(*this, value));
  }

  uint64_t period() const override { return 0; }
  bool steerable() const override { return false; }
  bool accepts_integers() const override { return !strings_; }
  bool accepts_strings() const override { return strings_; }
  bool reaches_all_by_making() const override { return true; }
  std::string description() const override {
    std::string text = "list";
    for (const auto& [value, slot] : known_)
      text += fmt::format(
          " {}={}", strings_ ? std::get<std::string>(value) : fmt::to_string(std::get<int64_t>(value)), slot);
    return otherwise_ ? fmt::format("{} otherwise={}", text, *otherwise_) : text;
  }

 private:
  std::optional<ListValue> listed(const mysql::Value& value) const {
    using Kind = mysql::Value::Kind;
    if (strings_) {
      if (value.kind() != Kind::string && value.kind() != Kind::bytes) return std::nullopt;
      return value.text();
    }
    if (value.kind() == Kind::int64) return value.as_int64();
    // Beyond what a list can name: some value that no list has.
    if (value.kind() == Kind::uint64) {
      if (value.as_uint64() <= INT64_MAX) return static_cast<int64_t>(value.as_uint64());
      return ListValue(std::string());
    }
    return std::nullopt;
  }

  uint32_t slots_;
  std::map<ListValue, Slot> known_;
  std::optional<Slot> otherwise_;
  bool strings_;
};

Status check_sizes(uint32_t slots, const AlgorithmParameters& parameters) {
  if (parameters.lists.size() != slots)
    return fail(
        config_error(fmt::format("sharding algorithm list has {} lists for {} tables; one each is needed",
                                 parameters.lists.size(), slots)));
  if (parameters.otherwise && *parameters.otherwise >= slots)
    return fail(
        config_error(fmt::format("sharding algorithm list: otherwise {} is no slot; allowed are 0 to {}",
                                 *parameters.otherwise, slots - 1)));
  for (Slot slot = 0; slot < slots; ++slot) {
    if (!parameters.lists[slot].empty() || parameters.otherwise == slot) continue;
    return fail(config_error(fmt::format(
        "sharding algorithm list: the list of slot {} is empty, so no row could go there", slot)));
  }
  return {};
}

}  // namespace

MadeAlgorithm make_list(uint32_t slots, const AlgorithmParameters& parameters) {
  AlgorithmParameters rest = parameters;
  rest.lists.clear();
  rest.otherwise.reset();
  if (!rest.empty())
    return fail(config_error("sharding algorithm list takes values and otherwise, and nothing else"));
  EVENKEEL_TRY(check_sizes(slots, parameters));
  std::map<ListValue, Slot> known;
  for (Slot slot = 0; slot < slots; ++slot) {
    for (const ListValue& value : parameters.lists[slot]) {
      const auto [other, added] = known.emplace(value, slot);
      if (!added)
        return fail(
            config_error(fmt::format("sharding algorithm list: one value stands in the lists of slots "
                                     "{} and {}",
                                     other->second, slot)));
      if (value.index() != known.begin()->first.index())
        return fail(config_error("sharding algorithm list: integers and strings are mixed"));
    }
  }
  if (known.empty()) return fail(config_error("sharding algorithm list: no list names a value"));
  const bool strings = known.begin()->first.index() == 1;
  return std::make_shared<const List>(slots, std::move(known), parameters.otherwise, strings);
}

}  // namespace evenkeel::rule
