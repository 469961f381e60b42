#include "idgen/start_order.h"

#include <bit>

#include "base/random.h"

namespace evenkeel::idgen {
namespace {

constexpr int rounds = 4;

}  // namespace

KeyedPermutation::KeyedPermutation(uint32_t count, uint64_t key) : count_(count), key_(key) {
  // The smallest power of two that holds `count`, so a walk takes two steps at the most on average.
  const int bits = count <= 2 ? 2 : static_cast<int>(std::bit_width(count - 1));
  left_bits_ = static_cast<uint8_t>(bits / 2);
  right_bits_ = static_cast<uint8_t>(bits - bits / 2);
}

uint32_t KeyedPermutation::operator()(uint32_t index) const {
  uint32_t value = index;
  do {
    uint32_t left_bits = left_bits_;
    uint32_t right_bits = right_bits_;
    uint32_t left = value >> right_bits;
    uint32_t right = value & ((uint32_t{1} << right_bits) - 1);
    for (int round = 0; round < rounds; ++round) {
      const auto mixed =
          static_cast<uint32_t>(mix64(key_ + (uint64_t{right} << 8) + static_cast<uint64_t>(round)));
      const uint32_t swapped = left ^ (mixed & ((uint32_t{1} << left_bits) - 1));
      left = right;
      right = swapped;
      // The halves trade places, and with them their widths.
      const uint32_t width = left_bits;
      left_bits = right_bits;
      right_bits = width;
    }
    value = (left << right_bits) | right;
  } while (value >= count_);
  return value;
}

uint32_t StartOrder::peek() const {
  const uint64_t position = position_.load(std::memory_order_relaxed);
  const uint64_t cycle = position / count_;
  const auto index = static_cast<uint32_t>(position % count_);
  return KeyedPermutation(count_, mix64(seed_ ^ mix64(cycle + 1)))(index);
}

}  // namespace evenkeel::idgen
