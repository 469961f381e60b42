#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "config/sections.h"

namespace evenkeel::config {
namespace {

using idgen::Layout;

// "2024-01-01" or "2024-01-01T00:00:00Z" as Unix milliseconds.
std::optional<int64_t> parse_utc(const std::string& text) {
  int fields[6] = {0, 0, 0, 0, 0, 0};
  static constexpr std::string_view shape = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != 10 && text.size() != shape.size()) return std::nullopt;
  int field = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (shape[i] == 'd') {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      fields[field] = fields[field] * 10 + (text[i] - '0');
    } else {
      if (text[i] != shape[i]) return std::nullopt;
      field = std::min(field + 1, 5);
    }
  }
  const std::chrono::year_month_day date{std::chrono::year(fields[0]),
                                         std::chrono::month(static_cast<unsigned>(fields[1])),
                                         std::chrono::day(static_cast<unsigned>(fields[2]))};
  if (!date.ok() || fields[3] > 23 || fields[4] > 59 || fields[5] > 59) return std::nullopt;
  const auto time = std::chrono::sys_days(date) + std::chrono::hours(fields[3]) +
                    std::chrono::minutes(fields[4]) + std::chrono::seconds(fields[5]);
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

void read_epoch(const Place& place, Layout& out) {
  auto epoch = place.node().kind == Node::Kind::scalar ? parse_utc(place.node().text) : std::nullopt;
  if (!epoch) return place.expected("a date such as 2024-01-01, or 2024-01-01T00:00:00Z");
  out.epoch_unix_ms = *epoch;
}

void read_unit(const Place& place, Layout& out) {
  auto unit = idgen::parse_time_unit(place.node().text);
  if (!unit) return place.expected("one of ms, 10ms, s");
  out.unit = *unit;
}

// Exists so that a layout from elsewhere can be written down, and refused with the reason.
void read_order(const Place& place, Layout& out) {
  using idgen::LayoutField;
  static const Choices<LayoutField> fields = {
      {"time", LayoutField::time}, {"worker", LayoutField::worker}, {"sequence", LayoutField::sequence}};
  const bool three = place.node().kind == Node::Kind::list && place.node().items.size() == out.order.size();
  if (three)
    for (size_t i = 0; i < out.order.size(); ++i) read_choice(place.item(i), out.order[i], fields);
  auto sorted = out.order;
  std::sort(sorted.begin(), sorted.end());
  if (!three || sorted != Layout().order)
    place.expected("time, worker and sequence as a list, each once, the high bits first");
}

}  // namespace

const Section<idgen::WorkerPart>& worker_part_section() {
  using idgen::WorkerPart;
  static const Section<WorkerPart> section = {
      "worker_part",
      {
          {"name", [](const Place& place, WorkerPart& out) { read(place, out.name); }, true},
          {"bits", [](const Place& place, WorkerPart& out) { read_number(place, out.bits, 1, 31); }, true},
          {"value",
           [](const Place& place, WorkerPart& out) {
             out.value = 0;
             read_number(place, *out.value, 0, UINT32_MAX);
           }},
      }};
  return section;
}

const Section<Layout>& layout_section() {
  static const Section<Layout> section = {
      "layout",
      {
          {"unit", read_unit},
          {"order", read_order},
          {"time_bits", [](const Place& place, Layout& out) { read_number(place, out.time_bits, 1, 63); },
           true},
          {"worker_bits", [](const Place& place, Layout& out) { read_number(place, out.worker_bits, 0, 62); },
           true},
          {"sequence_bits",
           [](const Place& place, Layout& out) { read_number(place, out.sequence_bits, 1, 62); }, true},
          {"epoch", read_epoch},
          {"worker_parts", [](const Place& place,
                              Layout& out) { read_list(place, worker_part_section(), out.worker_parts); }},
      }};
  return section;
}

}  // namespace evenkeel::config
