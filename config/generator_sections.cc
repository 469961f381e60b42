#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "config/sections.h"

namespace evenkeel::config {
namespace {

using namespace std::chrono_literals;
using idgen::ClockSettings;
using idgen::GeneratorSettings;
using idgen::Layout;
using idgen::WorkerSettings;

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

// A known layout by name, or its fields one by one.
void read_layout(const Place& place, GeneratorSettings& out) {
  if (place.node().kind == Node::Kind::map) return read_section(place, layout_section(), out.layout);
  auto named = idgen::named_layout(place.node().text);
  if (place.node().kind != Node::Kind::scalar || !named) {
    return place.expected(fmt::format("one of {}, or a map with the bits of each field",
                                      fmt::join(idgen::layout_names(), ", ")));
  }
  out.layout = *named;
}

void read_worker_id(const Place& place, WorkerSettings& out) {
  if (place.node().kind == Node::Kind::scalar && place.node().text == "lease") return;
  uint32_t id = 0;
  const char* end = place.node().text.data() + place.node().text.size();
  const auto [stop, error] = std::from_chars(place.node().text.data(), end, id);
  if (place.node().kind != Node::Kind::scalar || place.node().quoted || error != std::errc() || stop != end) {
    return place.expected("a worker id, or lease for one that no other proxy of this registry holds");
  }
  out.fixed_id = id;
}

void read_peers(const Place& place, WorkerSettings& out) {
  if (place.node().kind != Node::Kind::list) return place.expected("a list of worker ids");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    uint32_t id = 0;
    read_number(place.item(i), id, 0, UINT32_MAX);
    out.peer_ids.push_back(id);
  }
}

void read_millis(const Place& place, int64_t& out, std::chrono::milliseconds least,
                 std::chrono::milliseconds most) {
  std::chrono::milliseconds time(out);
  read_duration(place, time, least, most);
  out = time.count();
}

bool is_generator_name(const std::string& name) {
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

bool has_key(const Node& map, std::string_view name) {
  return std::any_of(map.pairs.begin(), map.pairs.end(),
                     [&](const auto& member) { return member.first.text == name; });
}

// A key that does nothing is a mistake somewhere.
void check_kind(const Place& place, const GeneratorSettings& generator) {
  if (place.node().kind != Node::Kind::map) return;
  const bool segments = generator.kind == idgen::GeneratorKind::segment;
  const bool needs_store = generator.kind != idgen::GeneratorKind::snowflake;
  if (needs_store != has_key(place.node(), "segment")) {
    place.fault(needs_store ? "kinds segment and hybrid need the map segment with at least one allocator"
                            : "segment: only a generator with kind: segment or hybrid has it");
  }
  for (const std::string_view key : {"layout", "clock"}) {
    if (segments && has_key(place.node(), key))
      place.fault(fmt::format("{}: ids of kind: segment are plain numbers and have none", key));
  }
}

void check_generator(const Place& place, GeneratorSettings& generator) {
  auto& names = place.reading().generators;
  if (!is_generator_name(generator.name)) {
    place.fault(fmt::format("generator name \"{}\": letters, digits, _ and - are allowed", generator.name));
  }
  if (std::find(names.begin(), names.end(), generator.name) != names.end()) {
    place.fault(fmt::format("a second generator with the name {}", generator.name));
  }
  check_kind(place, generator);
  names.push_back(generator.name);
  place.reading().generator_places.push_back(place.where());
}

}  // namespace

const Section<idgen::WorkerPart>& worker_part_section() {
  using idgen::WorkerPart;
  static const Section<WorkerPart> section = {
      "worker_part",
      {
          {"name", [](const Place& place, WorkerPart& out) { read(place, out.name); }, true},
          {"bits", [](const Place& place, WorkerPart& out) { read_number(place, out.bits, 1, 62); }, true},
      }};
  return section;
}

const Section<Layout>& layout_section() {
  static const Section<Layout> section = {
      "layout",
      {
          {"unit", read_unit},
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

const Section<ClockSettings>& clock_section() {
  static const Section<ClockSettings> section = {
      "clock",
      {
          {"freeze_tolerance",
           [](const Place& place, ClockSettings& out) {
             read_millis(place, out.freeze_tolerance_ms, 0ms, 1h);
           }},
          {"max_borrow_units",
           [](const Place& place, ClockSettings& out) {
             read_number(place, out.max_borrow_ticks, 0, 1'000'000);
           }},
          {"max_wait",
           [](const Place& place, ClockSettings& out) { read_millis(place, out.max_wait_ms, 0ms, 1h); }},
      }};
  return section;
}

const Section<GeneratorSettings>& generator_section() {
  static const Section<GeneratorSettings> section = {
      "generator",
      {
          {"name", [](const Place& place, GeneratorSettings& out) { read(place, out.name); }, true},
          {"kind",
           [](const Place& place, GeneratorSettings& out) {
             read_choice<idgen::GeneratorKind>(place, out.kind,
                                               {{"snowflake", idgen::GeneratorKind::snowflake},
                                                {"segment", idgen::GeneratorKind::segment},
                                                {"hybrid", idgen::GeneratorKind::hybrid}});
           }},
          {"segment", [](const Place& place,
                         GeneratorSettings& out) { read_section(place, segment_section(), out.segment); }},
          {"layout", read_layout},
          {"batch",
           [](const Place& place, GeneratorSettings& out) {
             read_choice<idgen::BatchMode>(
                 place, out.batch,
                 {{"consecutive", idgen::BatchMode::consecutive}, {"steered", idgen::BatchMode::steered}});
           }},
          {"clock", [](const Place& place,
                       GeneratorSettings& out) { read_section(place, clock_section(), out.clock); }},
      }};
  return section;
}

const Section<WorkerSettings>& worker_section() {
  static const Section<WorkerSettings> section = {
      "worker",
      {
          {"id", read_worker_id, true},
          {"peers", read_peers},
          {"window",
           [](const Place& place, WorkerSettings& out) { read_millis(place, out.window_ms, 100ms, 24h); }},
          {"renew",
           [](const Place& place, WorkerSettings& out) { read_millis(place, out.renew_ms, 10ms, 24h); }},
      }};
  return section;
}

void read_generators(const Place& place, std::vector<GeneratorSettings>& out) {
  read_list(place, generator_section(), out, check_generator);
}

}  // namespace evenkeel::config
