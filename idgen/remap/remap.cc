#include "idgen/remap/remap.h"

#include <fmt/format.h>

#include "base/mysql/error_codes.h"

namespace evenkeel::idgen {

Status check_handshake(const Layout& layout, const std::string& service_fingerprint) {
  if (service_fingerprint == fingerprint(layout)) return {};
  return fail(config_error(fmt::format(
      "the id service makes ids of layout {}, configured is {}; ids read by another layout would be spoiled",
      service_fingerprint, fingerprint(layout))));
}

std::optional<uint64_t> remap(const Layout& layout, const SteeringMap& map, uint64_t id) {
  const uint64_t mask = sequence_count(layout) - 1;
  const uint64_t base = id & ~mask;
  const uint64_t image = map.nth_from(base, id & mask);
  if (image - base > mask) return std::nullopt;
  return image;
}

Result<RemapTable> RemapTable::make(const Layout& layout, const SteeringMap& map) {
  const uint64_t sequences = sequence_count(layout);
  if (sequences % map.period() != 0)
    return fail(
        config_error(fmt::format("a map of period {} does not divide the {} ids of a unit: units differ, "
                                 "so one table cannot serve all",
                                 map.period(), sequences)));
  RemapTable table(sequences - 1);
  const uint64_t capacity = map.count_in(0, sequences);
  for (uint64_t x = 0; x < capacity; ++x) table.images_.push_back(static_cast<uint32_t>(map.nth_from(0, x)));
  return table;
}

Status MapSchedule::change(std::shared_ptr<const SteeringMap> map, uint64_t tick, uint64_t now_tick,
                           uint64_t propagation_ticks) {
  const uint64_t last = maps_.rbegin()->first;
  if (tick <= now_tick + propagation_ticks || tick <= last)
    return fail(config_error(
        fmt::format("a map from unit {} on comes too late: now is unit {}, others may hear of it "
                    "{} later, and the last change is at {}",
                    tick, now_tick, propagation_ticks, last)));
  maps_.emplace(tick, std::move(map));
  return {};
}

Result<std::optional<uint64_t>> MapSchedule::remap(const Layout& layout, uint64_t id) const {
  const uint64_t tick = decompose(layout, id).tick;
  if (tick > confirmed_)
    return fail(
        make_error(ErrorKind::registry, mysql::er::unknown_error,
                   fmt::format("the map of unit {} is not confirmed yet; known is up to {}. Ids of it may "
                               "not be moved",
                               tick, confirmed_)));
  return idgen::remap(layout, at(tick), id);
}

}  // namespace evenkeel::idgen
