// Sharding algorithms: value -> slot. One file each, found by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mysql/value.h"
#include "base/result.h"

namespace evenkeel::rule {

using Slot = uint32_t;

// Immutable, shared by all threads; pure functions.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual std::string_view name() const = 0;
  virtual uint32_t slots() const = 0;

  // `value` is exactly what the column stores: int64 or uint64 for integer columns, string or bytes for
  // string columns (trailing blanks already cut for PAD SPACE collations). An error for kinds the algorithm
  // has no rule for.
  virtual Result<Slot> slot_of(const mysql::Value& value) const = 0;

  // Values of this many consecutive integers repeat the slot pattern (mod: the slot count); 0: no period.
  virtual uint64_t period() const = 0;
  // True when the slot of an integer id is its non-negative remainder by slots(): steering applies.
  virtual bool steerable() const = 0;
  // Accepts string columns (hash_mod does, for binary and _bin collations).
  virtual bool accepts_strings() const = 0;
};

// "mod", "hash_mod". Error naming the known ones otherwise.
Result<std::shared_ptr<const Algorithm>> make_algorithm(std::string_view name, uint32_t slots);

}  // namespace evenkeel::rule
