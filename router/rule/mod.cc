// mod: the non-negative remainder of the key by the number of slots. DO NOT CHANGE: rows lie where it says.
#include "router/rule/algorithms.h"

namespace evenkeel::rule {
namespace {

class Mod final : public Algorithm {
 public:
  explicit Mod(uint32_t slots) : slots_(slots) {}

  std::string_view name() const override { return "mod"; }
  uint32_t slots() const override { return slots_; }

  Result<Slot> slot_of(const mysql::Value& value) const override {
    switch (value.kind()) {
      case mysql::Value::Kind::uint64:
        return static_cast<Slot>(value.as_uint64() % slots_);
      case mysql::Value::Kind::int64: {
        // C++ rounds towards zero: -1 % 8 is -1. Slots go on downwards below zero: -1 lies in the last one.
        const int64_t rest = value.as_int64() % static_cast<int64_t>(slots_);
        return static_cast<Slot>(rest < 0 ? rest + slots_ : rest);
      }
      default:
        return fail(no_rule_for(*this, value, "integers"));
    }
  }

  uint64_t period() const override { return slots_; }
  bool steerable() const override { return true; }
  bool accepts_strings() const override { return false; }

 private:
  uint32_t slots_;
};

}  // namespace

MadeAlgorithm make_mod(uint32_t slots, const AlgorithmParameters& parameters) {
  if (!parameters.empty()) return fail(config_error("sharding algorithm mod takes no parameters"));
  return std::make_shared<const Mod>(slots);
}

}  // namespace evenkeel::rule
