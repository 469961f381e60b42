#include "idgen/layout.h"

#include <ctime>
#include <fmt/format.h>

namespace evenkeel::idgen {
namespace {

int64_t floor_div(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return value % by < 0 ? quotient - 1 : quotient;
}

std::string describe_worker(const Layout& layout, uint32_t worker) {
  std::string text = fmt::format("worker {}", worker);
  if (layout.worker_parts.empty()) return text;
  std::string parts;
  int low = layout.worker_bits;
  for (const auto& part : layout.worker_parts) {
    low -= part.bits;
    const uint32_t value = (worker >> low) & ((uint32_t{1} << part.bits) - 1);
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part.name, value);
  }
  return fmt::format("{} ({})", text, parts);
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
  decoded.worker = describe_worker(layout, decoded.parts.worker);
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
