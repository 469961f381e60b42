#include <charconv>
#include <fmt/format.h>

#include "config/sections.h"

namespace evenkeel::config {
namespace {

using namespace std::chrono_literals;
using idgen::SegmentAllocator;
using idgen::SegmentSettings;

// "0.9": more than 0, at most 1.
void read_ratio(const Place& place, double& out) {
  const std::string& text = place.node().text;
  double ratio = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  const bool number = error == std::errc() && stop == text.data() + text.size();
  if (place.node().kind != Node::Kind::scalar || place.node().quoted || !number ||
      !(ratio >= 0.05 && ratio <= 1))
    return place.expected("a number from 0.05 to 1 (0.9: fetch when 90 % are used)");
  out = ratio;
}

void read_time(const Place& place, int64_t& out, std::chrono::milliseconds least,
               std::chrono::milliseconds most) {
  std::chrono::milliseconds time(out);
  read_duration(place, time, least, most);
  out = time.count();
}

}  // namespace

const Section<SegmentAllocator>& allocator_section() {
  static const Section<SegmentAllocator> section = {
      "allocator",
      {
          {"address",
           [](const Place& place, SegmentAllocator& out) { read_endpoint(place, out.host, out.port, false); },
           true},
          {"user", [](const Place& place, SegmentAllocator& out) { read(place, out.user); }, true},
          {"password", [](const Place& place, SegmentAllocator& out) { read_secret(place, out.password); },
           true},
          {"database", [](const Place& place, SegmentAllocator& out) { read(place, out.database); }},
          {"table", [](const Place& place, SegmentAllocator& out) { read(place, out.table); }},
          {"prefix",
           [](const Place& place, SegmentAllocator& out) { read_number(place, out.prefix, 0, 65'535); }},
      }};
  return section;
}

const Section<SegmentSettings>& segment_section() {
  static const Section<SegmentSettings> section = {
      "segment",
      {
          {"allocators",
           [](const Place& place, SegmentSettings& out) {
             read_list<SegmentAllocator>(place, allocator_section(), out.allocators, nullptr, true);
           },
           true},
          {"prefix_bits",
           [](const Place& place, SegmentSettings& out) { read_number(place, out.prefix_bits, 0, 16); }},
          {"id_bits",
           [](const Place& place, SegmentSettings& out) { read_number(place, out.id_bits, 32, 63); }},
          {"step", [](const Place& place,
                      SegmentSettings& out) { read_number(place, out.step, 1, SegmentSettings::step_most); }},
          {"step_min",
           [](const Place& place, SegmentSettings& out) {
             read_number(place, out.step_min, 1, SegmentSettings::step_most);
           }},
          {"step_max",
           [](const Place& place, SegmentSettings& out) {
             read_number(place, out.step_max, 1, SegmentSettings::step_most);
           }},
          {"target_duration",
           [](const Place& place, SegmentSettings& out) {
             read_time(place, out.target_duration_ms, 1ms, 24h);
           }},
          {"prefetch_used_ratio",
           [](const Place& place, SegmentSettings& out) { read_ratio(place, out.prefetch_used_ratio); }},
          {"shuffle", [](const Place& place, SegmentSettings& out) { read(place, out.shuffle); }},
          {"thread_block",
           [](const Place& place, SegmentSettings& out) { read_number(place, out.thread_block, 0, 65'536); }},
          {"max_wait",
           [](const Place& place, SegmentSettings& out) { read_time(place, out.max_wait_ms, 1ms, 1h); }},
          {"timeout",
           [](const Place& place, SegmentSettings& out) { read_time(place, out.timeout_ms, 1ms, 60s); }},
      }};
  return section;
}

}  // namespace evenkeel::config
