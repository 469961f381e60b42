#include "idgen/layout.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

#include "idgen/worker_field.h"

namespace evenkeel::idgen {
namespace {

int64_t floor_div(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return value % by < 0 ? quotient - 1 : quotient;
}

std::string describe_worker(uint32_t worker, const std::vector<WorkerPart>& worker_parts) {
  std::string parts;
  for (const WorkerPart& part : worker_parts)
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part.name, *part.value);
  return parts.empty() ? fmt::format("worker {}", worker) : fmt::format("worker {} ({})", worker, parts);
}

}  // namespace

uint64_t compose(const Layout& layout, const IdParts& parts) {
  return (((parts.tick << layout.worker_bits) | parts.worker) << layout.sequence_bits) | parts.sequence;
}

IdParts decompose(const Layout& layout, uint64_t id) {
  IdParts parts;
  parts.sequence = id & (sequence_count(layout) - 1);
  parts.worker = static_cast<uint32_t>((id >> layout.sequence_bits) & (worker_count(layout) - 1));
  parts.tick = id >> (layout.sequence_bits + layout.worker_bits);
  return parts;
}

int64_t tick_at(const Layout& layout, int64_t unix_ms) {
  return floor_div(unix_ms - layout.epoch_unix_ms, millis_of(layout.unit));
}

int64_t tick_start_unix_ms(const Layout& layout, uint64_t tick) {
  // A tick may lie beyond what 64-bit milliseconds hold when the unit is long and the field wide.
  const auto start = static_cast<__int128>(tick) * millis_of(layout.unit) + layout.epoch_unix_ms;
  return start > INT64_MAX ? INT64_MAX : static_cast<int64_t>(start);
}

int64_t exhaustion_unix_ms(const Layout& layout) { return tick_start_unix_ms(layout, last_tick(layout) + 1); }

int64_t seconds_to_exhaustion(const Layout& layout, int64_t now_unix_ms) {
  return std::max<int64_t>(0, (exhaustion_unix_ms(layout) - now_unix_ms) / 1000);
}

std::string describe(const Layout& layout) {
  return fmt::format("{}|{}|{} {} since {}, ids until {}", layout.time_bits, layout.worker_bits,
                     layout.sequence_bits, to_string(layout.unit), format_utc(layout.epoch_unix_ms),
                     format_utc(exhaustion_unix_ms(layout)));
}

std::string fingerprint(const Layout& layout) {
  return fmt::format("{}:{}:{}:{}:{}", to_string(layout.unit), layout.time_bits, layout.worker_bits,
                     layout.sequence_bits, layout.epoch_unix_ms);
}

Result<DecodedId> decode(const Layout& layout, uint64_t id) {
  const int bits = layout.time_bits + layout.worker_bits + layout.sequence_bits;
  if (id >> bits != 0)
    return fail(config_error(
        fmt::format("id {} has more than the {} bits of layout {}", id, bits, fingerprint(layout))));
  DecodedId decoded;
  decoded.parts = decompose(layout, id);
  decoded.unix_ms = tick_start_unix_ms(layout, decoded.parts.tick);
  decoded.time = format_utc(decoded.unix_ms);
  decoded.worker_parts = parts_of(layout, decoded.parts.worker);
  decoded.worker = describe_worker(decoded.parts.worker, decoded.worker_parts);
  return decoded;
}

std::string format_utc(int64_t unix_ms) {
  const int64_t second = floor_div(unix_ms, 1000);
  const std::time_t time = second;
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return fmt::format("{} ms after 1970", unix_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900L, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, unix_ms - second * 1000);
}

}  // namespace evenkeel::idgen
