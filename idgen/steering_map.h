// Which slots new ids may fall into, and in what proportion.
//
// A map is a pattern over the residues 0..period-1 of an id. It is compiled once, from residues that the
// caller found by asking the real router, and answers in constant time:
//   rank(z)       how many permitted values lie below z
//   select(j)     the j-th permitted value (from 0)
//   next_valid(z) the smallest permitted value that is at least z
// so that select(rank(base) + x) - base is the (x+1)-th permitted sequence of a tick that starts at base.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace evenkeel::idgen {

// value % divisor without a 64-bit division. For divisors below 2^32.
class Modulus {
 public:
  explicit Modulus(uint32_t divisor)
      : divisor_(divisor),
        mask_(divisor - 1),
        power_of_two_((divisor & (divisor - 1)) == 0),
        inverse_(UINT64_MAX / divisor) {}

  uint32_t of(uint64_t value) const {
    if (power_of_two_) return static_cast<uint32_t>(value) & mask_;
    // With inverse = floor(2^64/divisor) the estimated quotient is at most one too small.
    const auto quotient = static_cast<uint64_t>((static_cast<unsigned __int128>(value) * inverse_) >> 64);
    const uint64_t rest = value - quotient * divisor_;
    return static_cast<uint32_t>(rest >= divisor_ ? rest - divisor_ : rest);
  }
  uint32_t divisor() const { return divisor_; }

 private:
  uint32_t divisor_;
  uint32_t mask_;
  bool power_of_two_;
  uint64_t inverse_;
};

// Immutable once made; share freely between threads.
class SteeringMap {
 public:
  // Every slot, all alike. `slots` in 1..limits::slots_max.
  static Result<SteeringMap> identity(uint32_t slots);
  // Exactly these residues of 0..slots-1, all alike. Order and repetition do not matter; at least one.
  static Result<SteeringMap> permitting(uint32_t slots, std::span<const uint32_t> residues);
  // weights[j] of every `levels` blocks of slots go to residue j: shares are weights[j] / sum, exactly.
  // 0 <= weights[j] <= levels, not all 0. The period is levels * slots; a generator accepts it when it is no
  // longer than the sequence of its layout, so keep levels <= 2^sequence_bits / slots.
  static Result<SteeringMap> weighted(std::span<const uint32_t> weights, uint32_t levels);

  uint32_t slots() const { return slots_.divisor(); }
  uint32_t period() const { return period_.divisor(); }
  // Permitted residues in one period.
  uint32_t permitted_count() const { return permitted_count_; }
  // All residues are permitted.
  bool is_identity() const { return permitted_count_ == period(); }
  bool permits(uint64_t value) const { return is_identity() || distance_[period_.of(value)] == 0; }
  uint32_t slot_of(uint64_t value) const { return slots_.of(value); }

  uint64_t rank(uint64_t value) const;
  uint64_t select(uint64_t index) const;
  uint64_t next_valid(uint64_t value) const {
    return is_identity() ? value : value + distance_[period_.of(value)];
  }

  // Permitted values in [from, from + length).
  uint64_t count_in(uint64_t from, uint64_t length) const { return rank_from(residue(from), length); }
  // The index-th (from 0) permitted value that is at least `from`.
  uint64_t nth_from(uint64_t from, uint64_t index) const;

  uint32_t residue(uint64_t value) const { return period_.of(value); }
  // Permitted residues below `residue`, which may be anything in 0..period.
  uint32_t rank_of_residue(uint32_t residue) const { return is_identity() ? residue : count_[residue]; }

  bool operator==(const SteeringMap& other) const {
    return period() == other.period() && slots() == other.slots() && select_ == other.select_;
  }

 private:
  SteeringMap(uint32_t slots, uint32_t period) : slots_(slots), period_(period) {}
  static SteeringMap compile(uint32_t slots, const std::vector<bool>& permitted);
  uint64_t rank_from(uint32_t residue, uint64_t length) const;

  Modulus slots_;
  Modulus period_;
  uint32_t permitted_count_ = 0;
  // All empty for the identity.
  std::vector<uint32_t> select_;    // the permitted residues, ascending
  std::vector<uint32_t> count_;     // period+1: permitted residues below the index
  std::vector<uint32_t> distance_;  // period: from a residue to the next permitted one
};

}  // namespace evenkeel::idgen
