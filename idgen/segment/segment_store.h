// Where segments come from: a row per table and allocator whose maximum only rises while segments are taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace evenkeel::idgen {

struct SegmentRow {
  uint64_t max_id = 0;       // the last number given to anybody
  uint64_t explicit_id = 0;  // the largest number known to be a client's own: nobody may go below it again
  uint64_t step = 0;         // of the last segment; 0: none was taken yet
  uint64_t epoch = 0;        // rises when an operator resets the row: segments taken before are void

  bool operator==(const SegmentRow&) const = default;
};

// What a segment is asked for with.
struct SegmentAdvance {
  uint64_t epoch = 0;
  uint64_t step = 0;
  // The segment lies above this number, which becomes an explicit id of the row; 0: directly above max_id.
  uint64_t above = 0;
  // max_id must not pass this.
  uint64_t limit = 0;
};

// One row for each `tag`, which names the generator and the logical table. Calls block on IO; only the
// segment loader's thread makes them. All errors have kind registry and name the store. An error may hide a
// success: the numbers of a segment whose answer was lost are never used.
class SegmentStore {
 public:
  virtual ~SegmentStore() = default;

  // For messages: "MySQL at db0:3306, table evenkeel.evenkeel_segment".
  virtual const std::string& name() const = 0;

  // Reads the row, making it with max_id 0 and epoch 1 when it is missing.
  virtual Result<SegmentRow> open_row(const std::string& tag) = 0;

  // max_id = max(max_id, above) + step in one statement; the segment is the `step` numbers up to the returned
  // max_id. Nothing when the row's epoch is another one, or the limit would be passed.
  virtual Result<std::optional<SegmentRow>> advance(const std::string& tag,
                                                    const SegmentAdvance& advance) = 0;

  // Protects all numbers up to `number`, or to max_id if that is larger: none of them is given out again,
  // whoever returns the rest of a segment. Nothing when the row's epoch is another one.
  virtual Result<std::optional<SegmentRow>> protect(const std::string& tag, uint64_t epoch,
                                                    uint64_t number) = 0;

  // Takes max_id back from `expected` to `max_id` (not below the explicit ids); false when it is no longer
  // `expected`, or the epoch another one: then somebody else has gone on from there.
  virtual Result<bool> give_back(const std::string& tag, uint64_t epoch, uint64_t expected,
                                 uint64_t max_id) = 0;
};

}  // namespace evenkeel::idgen
