#include "idgen/segment_settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace evenkeel::idgen {
namespace {

constexpr int id_bits_min = 32;
constexpr int id_bits_max = 63;
constexpr int prefix_bits_max = 16;

bool is_identifier(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void check_steps(const SegmentSettings& settings, std::vector<std::string>& errors) {
  if (settings.step_min < 1 || settings.step_min > settings.step || settings.step > settings.step_max ||
      settings.step_max > SegmentSettings::step_most)
    errors.push_back(fmt::format("segment: step_min {} <= step {} <= step_max {} must hold, from 1 to {}",
                                 settings.step_min, settings.step, settings.step_max,
                                 SegmentSettings::step_most));
  if (settings.thread_block > settings.step_min / 2)
    errors.push_back(fmt::format(
        "segment: thread_block {} is more than half of step_min {}: a few threads would share out "
        "a whole segment",
        settings.thread_block, settings.step_min));
}

void check_allocators(const SegmentSettings& settings, std::vector<std::string>& errors) {
  if (settings.allocators.empty())
    errors.emplace_back("segment: no allocator; name at least one server that holds the table of segments");
  std::set<uint32_t> prefixes;
  for (const auto& allocator : settings.allocators) {
    if (allocator.prefix >> settings.prefix_bits != 0)
      errors.push_back(fmt::format("segment: prefix {} does not fit prefix_bits {}", allocator.prefix,
                                   settings.prefix_bits));
    if (!prefixes.insert(allocator.prefix).second)
      errors.push_back(
          fmt::format("segment: two allocators have prefix {}; they would make equal ids", allocator.prefix));
    if (!is_identifier(allocator.database) || !is_identifier(allocator.table))
      errors.push_back(fmt::format("segment: table '{}.{}': letters, digits, '_' and '-' are allowed",
                                   allocator.database, allocator.table));
    if (allocator.host.empty()) errors.emplace_back("segment: an allocator without an address");
  }
}

}  // namespace

std::vector<std::string> check_segment(const SegmentSettings& settings, bool consecutive) {
  std::vector<std::string> errors;
  if (settings.id_bits < id_bits_min || settings.id_bits > id_bits_max)
    errors.push_back(fmt::format("segment: id_bits is {}; allowed are {} to {}", settings.id_bits,
                                 id_bits_min, id_bits_max));
  if (settings.prefix_bits > prefix_bits_max || settings.prefix_bits + 24 > settings.id_bits)
    errors.push_back(
        fmt::format("segment: prefix_bits is {}; allowed are 0 to {}, and 24 bits must be left for numbers",
                    settings.prefix_bits, prefix_bits_max));
  if (!errors.empty()) return errors;
  check_steps(settings, errors);
  check_allocators(settings, errors);
  if (!(settings.prefetch_used_ratio >= 0.05 && settings.prefetch_used_ratio <= 1.0))
    errors.push_back(
        fmt::format("segment: prefetch_used_ratio is {}; allowed are 0.05 to 1 (0.9: fetch when "
                    "90 % are used)",
                    settings.prefetch_used_ratio));
  if (settings.target_duration_ms < 1 || settings.max_wait_ms < 1 || settings.timeout_ms < 1)
    errors.emplace_back("segment: target_duration, max_wait and timeout must be positive");
  if (settings.shuffle && consecutive)
    errors.emplace_back(
        "segment: shuffled ids cannot be consecutive; write batch: steered, if your clients do not compute "
        "the "
        "keys of a multi-row INSERT from the first one, or leave shuffle out");
  return errors;
}

}  // namespace evenkeel::idgen
