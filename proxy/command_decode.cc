#include <charconv>
#include <cstdio>
#include <fmt/format.h>

#include "idgen/layout.h"
#include "proxy/commands.h"
#include "router/rule/algorithm.h"

namespace evenkeel {
namespace {

// A known name, or the widths of time, worker and sequence: "41|7|15".
std::optional<idgen::Layout> parse_layout(const std::string& text) {
  if (auto named = idgen::named_layout(text)) return named;
  idgen::Layout layout;
  unsigned time = 0, worker = 0, sequence = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%2u|%2u|%2u%c", &time, &worker, &sequence, &rest) != 3) return std::nullopt;
  layout.time_bits = static_cast<uint8_t>(time);
  layout.worker_bits = static_cast<uint8_t>(worker);
  layout.sequence_bits = static_cast<uint8_t>(sequence);
  return layout;
}

std::optional<uint64_t> parse_id(const std::string& text) {
  uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return id;
}

}  // namespace

int decode(const DecodeOptions& options) {
  const auto layout = parse_layout(options.layout);
  if (!layout) {
    return complain(
        fmt::format("layout {}: known are {}, or write the bits of time, worker and sequence: 41|7|15",
                    options.layout, fmt::join(idgen::layout_names(), ", ")));
  }
  // An epoch in the past and a full 63 bits at most; the time of asking does not matter here.
  const auto report = idgen::check_layout(*layout, layout->epoch_unix_ms);
  if (!report.errors.empty()) return complain(report.errors.front());
  const auto id = parse_id(options.id);
  if (!id) return complain(fmt::format("{} is no id: decimal digits are wanted", options.id));
  const auto decoded = idgen::decode(*layout, *id);
  if (!decoded) return complain(decoded.error().message);
  fmt::print("time      {}\nworker    {}\n", decoded->time, decoded->parts.worker);
  for (const auto& part : decoded->worker_parts) fmt::print("  {}  {}\n", part.name, *part.value);
  fmt::print("sequence  {}\n", decoded->parts.sequence);
  if (!options.slots) return 0;
  const auto algorithm = rule::make_algorithm("mod", *options.slots);
  if (!algorithm) return complain(algorithm.error().message);
  const auto slot = (*algorithm)->slot_of(mysql::Value::uint64(*id));
  if (!slot) return complain(slot.error().message);
  fmt::print("slot      {} of {}\n", *slot, *options.slots);
  return 0;
}

}  // namespace evenkeel
