// range: slots cut the integers at given bounds; slot i begins at a bound (included) and ends before the
// next. bounds [100, 200] make three slots open at both ends: below 100, 100 to 199, from 200 on. bounds [0,
// 100, 200] make two: 0 to 99 and 100 to 199, and no other value has a slot. DO NOT CHANGE: rows lie where it
// says.
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "router/rule/algorithms.h"

namespace evenkeel::rule {
namespace {

// Any integer that a column can hold.
using Wide = __int128;

std::optional<Wide> integer_of(const mysql::Value& value) {
  if (value.kind() == mysql::Value::Kind::int64) return value.as_int64();
  if (value.kind() == mysql::Value::Kind::uint64) return static_cast<Wide>(value.as_uint64());
  return std::nullopt;
}

class Range final : public Algorithm {
 public:
  Range(uint32_t slots, std::vector<int64_t> bounds)
      : slots_(slots), bounds_(std::move(bounds)), open_(bounds_.size() + 1 == slots) {}

  std::string_view name() const override { return "range"; }
  uint32_t slots() const override { return slots_; }

  Result<Slot> slot_of(const mysql::Value& value) const override {
    const auto integer = integer_of(value);
    if (!integer) return fail(no_rule_for(*this, value, "integers"));
    const size_t below = bounds_below_or_at(*integer);
    if (!open_ && (below == 0 || below == bounds_.size())) return fail(no_slot_for(*this, value));
    return static_cast<Slot>(open_ ? below : below - 1);
  }

  std::optional<std::vector<Slot>> slots_between(const mysql::Value& lowest,
                                                 const mysql::Value& highest) const override {
    const auto low = integer_of(lowest);
    const auto high = integer_of(highest);
    if (!low || !high) return std::nullopt;
    std::vector<Slot> slots;
    if (*low > *high) return slots;
    auto first = static_cast<int64_t>(bounds_below_or_at(*low));
    auto last = static_cast<int64_t>(bounds_below_or_at(*high));
    if (!open_) {
      first = std::max<int64_t>(first - 1, 0);
      last = std::min<int64_t>(last - 1, int64_t{slots_} - 1);
      if (*low >= bounds_.back() || last < first) return slots;
    }
    slots.resize(static_cast<size_t>(last - first + 1));
    std::iota(slots.begin(), slots.end(), static_cast<Slot>(first));
    return slots;
  }

  uint64_t period() const override { return 0; }
  bool steerable() const override { return false; }
  bool accepts_strings() const override { return false; }
  bool reaches_all_by_making() const override { return true; }
  std::string description() const override {
    return fmt::format("range {}{}{}", open_ ? "(" : "[", fmt::join(bounds_, ", "), ")");
  }

 private:
  size_t bounds_below_or_at(Wide value) const {
    const auto after = std::upper_bound(bounds_.begin(), bounds_.end(), value,
                                        [](Wide wanted, int64_t bound) { return wanted < bound; });
    return static_cast<size_t>(after - bounds_.begin());
  }

  uint32_t slots_;
  std::vector<int64_t> bounds_;
  bool open_;
};

}  // namespace

MadeAlgorithm make_range(uint32_t slots, const AlgorithmParameters& parameters) {
  const auto& bounds = parameters.bounds;
  AlgorithmParameters rest = parameters;
  rest.bounds.clear();
  if (!rest.empty()) return fail(config_error("sharding algorithm range takes bounds and nothing else"));
  if (bounds.size() + 1 != slots && bounds.size() != size_t{slots} + 1) {
    return fail(config_error(
        fmt::format("sharding algorithm range has {} bounds for {} tables: {} leave both ends open, {} close "
                    "them",
                    bounds.size(), slots, slots - 1, slots + 1)));
  }
  for (size_t i = 1; i < bounds.size(); ++i) {
    if (bounds[i] > bounds[i - 1]) continue;
    return fail(config_error(fmt::format("sharding algorithm range: bounds must rise, but {} follows {}",
                                         bounds[i], bounds[i - 1])));
  }
  return std::make_shared<const Range>(slots, bounds);
}

}  // namespace evenkeel::rule
