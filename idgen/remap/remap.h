// For teams whose ids come from a service that knows nothing of tables: their ids are moved to permitted
// slots on the way. The time and the worker stay; the sequence x becomes the (x+1)-th sequence whose slot is
// permitted, which is one to one and ascending within a unit. x beyond what the unit permits has no image:
// ask the service for another id.
//
// Everybody who reads ids of one service must move them alike, or two ids may meet: a raw id and a moved one
// of the same unit collide. So the map that holds is decided by the id's own time (`MapSchedule`), never by
// when somebody heard of it, and the service's layout is compared before any id is moved.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "idgen/layout.h"
#include "idgen/steering_map.h"

namespace evenkeel::idgen {

// Kind config unless the service's fingerprint (layout.h) is that of `layout`: other bits would be read as
// the sequence, and ids silently spoiled.
Status check_handshake(const Layout& layout, const std::string& service_fingerprint);

// Scheme 2, in constant time. Nothing: the unit permits no more; ask for another id. `id` fits the layout.
std::optional<uint64_t> remap(const Layout& layout, const SteeringMap& map, uint64_t id);

// Scheme 1, for routes that have no closed form: the first permitted id of the unit that is neither below
// `id` nor at or below `after`, the id that the caller issued last; nothing when the unit has none. Unique
// only where one caller keeps `after` for all ids that it issues. `permits` is asked for a unit at most.
template <typename Permits>
std::optional<uint64_t> step_to_permitted(const Layout& layout, uint64_t id, uint64_t after,
                                          Permits permits) {
  const uint64_t end = (id | (sequence_count(layout) - 1)) + 1;
  for (uint64_t next = id > after ? id : after + 1; next < end; ++next)
    if (permits(next)) return next;
  return std::nullopt;
}

// Scheme 2 by table: the images of all sequences, computed once. For numbers of slots that divide the unit,
// where all units have one table.
class RemapTable {
 public:
  // Kind config when the slots do not divide 2^sequence.
  static Result<RemapTable> make(const Layout& layout, const SteeringMap& map);
  std::optional<uint64_t> remap(uint64_t id) const {
    const uint64_t sequence = id & mask_;
    if (sequence >= images_.size()) return std::nullopt;
    return (id & ~mask_) | images_[sequence];
  }
  size_t capacity() const { return images_.size(); }

 private:
  explicit RemapTable(uint64_t mask) : mask_(mask) {}
  uint64_t mask_;
  std::vector<uint32_t> images_;
};

// Which map holds for ids of which time. A new map begins at a tick that no consumer has reached when all
// have heard of it; who has not confirmed the newest one by then must stop. Not thread-safe: copied and
// swapped as a whole.
class MapSchedule {
 public:
  explicit MapSchedule(std::shared_ptr<const SteeringMap> first) { maps_.emplace(0, std::move(first)); }

  // From `tick` on. Kind config when the tick is not after `now_tick` + `propagation_ticks`, or not after the
  // last change: a map that began in the past would move ids a second time.
  Status change(std::shared_ptr<const SteeringMap> map, uint64_t tick, uint64_t now_tick,
                uint64_t propagation_ticks);
  const SteeringMap& at(uint64_t tick) const { return *std::prev(maps_.upper_bound(tick))->second; }
  // Told by whom the maps come from: the changes up to `tick` are all known here.
  void confirm(uint64_t tick) { confirmed_ = tick > confirmed_ ? tick : confirmed_; }
  // The id moved by the map of its own time. Kind registry when that time is not confirmed; nothing as with
  // remap.
  Result<std::optional<uint64_t>> remap(const Layout& layout, uint64_t id) const;

 private:
  std::map<uint64_t, std::shared_ptr<const SteeringMap>> maps_;
  uint64_t confirmed_ = 0;
};

}  // namespace evenkeel::idgen
