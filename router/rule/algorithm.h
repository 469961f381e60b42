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
#include "router/rule/settings.h"

namespace evenkeel::rule {

using Slot = uint32_t;

// Immutable, shared by all threads; pure functions.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual std::string_view name() const = 0;
  virtual uint32_t slots() const = 0;

  // `value` is exactly what the column stores: int64 or uint64 for integer columns, string or bytes for
  // string columns (trailing blanks already cut for PAD SPACE collations), date or datetime in their full
  // text form for DATE and DATETIME columns. An error for kinds the algorithm has no rule for, and one with
  // MySQL's number 1526 for a value that belongs to no slot; both name the kind of the value, never the
  // value.
  virtual Result<Slot> slot_of(const mysql::Value& value) const = 0;

  // Values of this many consecutive integers repeat the slot pattern (mod: the slot count); 0: no period.
  virtual uint64_t period() const = 0;
  // True when the slot of an integer id is its non-negative remainder by slots(): steering applies.
  virtual bool steerable() const = 0;
  // Which columns it accepts. Integer columns: all but interval do.
  virtual bool accepts_integers() const { return true; }
  // String columns of binary and _bin collations.
  virtual bool accepts_strings() const = 0;
  // DATE and DATETIME columns.
  virtual bool accepts_dates() const { return false; }

  // The slots, ascending, of all values from `lowest` to `highest`, both included and as the column stores
  // them. Nothing when the algorithm does not keep neighbours together.
  virtual std::optional<std::vector<Slot>> slots_between(const mysql::Value& /*lowest*/,
                                                         const mysql::Value& /*highest*/) const {
    return std::nullopt;
  }
  // Its making has seen to it that some value names each slot.
  virtual bool reaches_all_by_making() const { return false; }
  // Equal for two algorithms exactly when they shard alike: "mod", "range [0, 100, 200)".
  virtual std::string description() const { return std::string(name()); }
};

// "mod", "hash_mod", "range", "list", "interval". Errors: the known ones otherwise; parameters that the
// algorithm does not take, lacks, or that do not fit the number of slots.
Result<std::shared_ptr<const Algorithm>> make_algorithm(std::string_view name, uint32_t slots,
                                                        const AlgorithmParameters& parameters = {});

}  // namespace evenkeel::rule
