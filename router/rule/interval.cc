// interval: slots are stretches of time of equal length from a start on, for DATE and DATETIME columns. Slot
// i holds [start + i*every, start + (i+1)*every), counted in hours, days, calendar months or calendar years.
// With `cycle` the slots repeat, else values outside have none. DO NOT CHANGE: rows lie where it says.
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "router/rule/algorithms.h"
#include "router/rule/date_text.h"

namespace evenkeel::rule {
namespace {

using Unit = AlgorithmParameters::Unit;

int64_t floor_div(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

std::string_view to_string(Unit unit) {
  switch (unit) {
    case Unit::hour:
      return "hour";
    case Unit::day:
      return "day";
    case Unit::month:
      return "month";
    case Unit::year:
      return "year";
  }
  return "?";
}

// Whole units since a fixed moment.
int64_t units_of(const DateTime& time, Unit unit) {
  switch (unit) {
    case Unit::hour:
      return floor_div(time.micros, 3'600'000'000);
    case Unit::day:
      return floor_div(time.micros, 86'400'000'000);
    case Unit::month:
      return int64_t{time.year} * 12 + time.month - 1;
    case Unit::year:
      return time.year;
  }
  return 0;
}

class Interval final : public Algorithm {
 public:
  Interval(uint32_t slots, std::string start, int64_t first_unit, const AlgorithmParameters& parameters)
      : slots_(slots),
        start_(std::move(start)),
        first_unit_(first_unit),
        every_(parameters.every),
        unit_(parameters.unit),
        cycle_(parameters.cycle) {}

  std::string_view name() const override { return "interval"; }
  uint32_t slots() const override { return slots_; }

  Result<Slot> slot_of(const mysql::Value& value) const override {
    const auto time = time_of(value);
    if (!time) return fail(no_rule_for(*this, value, "dates and datetimes"));
    const int64_t stretch = stretch_of(*time);
    if (!cycle_ && (stretch < 0 || stretch >= slots_)) return fail(no_slot_for(*this, value));
    return slot_of_stretch(stretch);
  }

  std::optional<std::vector<Slot>> slots_between(const mysql::Value& lowest,
                                                 const mysql::Value& highest) const override {
    const auto low = time_of(lowest);
    const auto high = time_of(highest);
    if (!low || !high) return std::nullopt;
    int64_t first = stretch_of(*low);
    int64_t last = stretch_of(*high);
    if (!cycle_) {
      first = std::max<int64_t>(first, 0);
      last = std::min<int64_t>(last, int64_t{slots_} - 1);
    }
    std::vector<Slot> slots;
    if (last < first) return slots;
    if (last - first >= slots_) {
      slots.resize(slots_);
      std::iota(slots.begin(), slots.end(), Slot{0});
      return slots;
    }
    for (int64_t stretch = first; stretch <= last; ++stretch) slots.push_back(slot_of_stretch(stretch));
    std::sort(slots.begin(), slots.end());
    return slots;
  }

  uint64_t period() const override { return 0; }
  bool steerable() const override { return false; }
  bool accepts_integers() const override { return false; }
  bool accepts_strings() const override { return false; }
  bool accepts_dates() const override { return true; }
  bool reaches_all_by_making() const override { return true; }
  std::string description() const override {
    return fmt::format("interval from {} every {} {}{}", start_, every_, to_string(unit_),
                       cycle_ ? " cycle" : "");
  }

 private:
  static std::optional<DateTime> time_of(const mysql::Value& value) {
    using Kind = mysql::Value::Kind;
    if (value.kind() != Kind::date && value.kind() != Kind::datetime) return std::nullopt;
    return parse_date_time(value.text());
  }
  int64_t stretch_of(const DateTime& time) const {
    return floor_div(units_of(time, unit_) - first_unit_, every_);
  }
  Slot slot_of_stretch(int64_t stretch) const {
    const int64_t slots = slots_;
    return static_cast<Slot>(((stretch % slots) + slots) % slots);
  }

  uint32_t slots_;
  std::string start_;
  int64_t first_unit_;
  int64_t every_;
  Unit unit_;
  bool cycle_;
};

// The start must be the beginning of a unit: stretches are counted in whole ones.
bool begins_unit(const DateTime& time, Unit unit) {
  const bool midnight = time.micros % 86'400'000'000 == 0;
  switch (unit) {
    case Unit::hour:
      return time.micros % 3'600'000'000 == 0;
    case Unit::day:
      return midnight;
    case Unit::month:
      return midnight && time.day == 1;
    case Unit::year:
      return midnight && time.day == 1 && time.month == 1;
  }
  return false;
}

}  // namespace

MadeAlgorithm make_interval(uint32_t slots, const AlgorithmParameters& parameters) {
  if (!parameters.bounds.empty() || !parameters.lists.empty() || parameters.otherwise)
    return fail(
        config_error("sharding algorithm interval takes start, every, unit and cycle, and nothing else"));
  const auto start = parse_date_time(parameters.start);
  if (!start)
    return fail(
        config_error("sharding algorithm interval needs a start such as 2026-01-01 or "
                     "\"2026-01-01 12:00:00\""));
  if (parameters.every == 0) return fail(config_error("sharding algorithm interval needs every, at least 1"));
  if (!begins_unit(*start, parameters.unit))
    return fail(config_error(fmt::format(
        "sharding algorithm interval: the start must be the beginning of a {}", to_string(parameters.unit))));
  return std::make_shared<const Interval>(slots, parameters.start, units_of(*start, parameters.unit),
                                          parameters);
}

}  // namespace evenkeel::rule
