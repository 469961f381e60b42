// hash_mod: XXH3 (64 bits, seed 0) of the key's text, as an unsigned number, modulo the number of slots.
// The text of an integer is its decimal digits with a leading '-' below zero, no '+', no leading zeros; that
// of a string its bytes as stored. So 42, an unsigned 42 and '42' lie in one slot. DO NOT CHANGE: rows lie
// where it says. tests/algorithm_test.cc holds golden values.
#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "router/rule/algorithms.h"

namespace evenkeel::rule {
namespace {

class HashMod final : public Algorithm {
 public:
  explicit HashMod(uint32_t slots) : slots_(slots) {}

  std::string_view name() const override { return "hash_mod"; }
  uint32_t slots() const override { return slots_; }

  Result<Slot> slot_of(const mysql::Value& value) const override {
    switch (value.kind()) {
      case mysql::Value::Kind::int64: {
        const fmt::format_int digits(value.as_int64());
        return slot_of_text({digits.data(), digits.size()});
      }
      case mysql::Value::Kind::uint64: {
        const fmt::format_int digits(value.as_uint64());
        return slot_of_text({digits.data(), digits.size()});
      }
      case mysql::Value::Kind::string:
      case mysql::Value::Kind::bytes:
        return slot_of_text(value.text());
      default:
        return fail(no_rule_for(*this, value, "integers and strings"));
    }
  }

  uint64_t period() const override { return 0; }
  bool steerable() const override { return false; }
  bool accepts_strings() const override { return true; }

 private:
  Slot slot_of_text(std::string_view text) const {
    return static_cast<Slot>(XXH3_64bits(text.data(), text.size()) % slots_);
  }

  uint32_t slots_;
};

}  // namespace

MadeAlgorithm make_hash_mod(uint32_t slots, const AlgorithmParameters& parameters) {
  if (!parameters.empty()) return fail(config_error("sharding algorithm hash_mod takes no parameters"));
  return std::make_shared<const HashMod>(slots);
}

}  // namespace evenkeel::rule
