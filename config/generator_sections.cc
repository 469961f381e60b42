#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "config/sections.h"
#include "idgen/worker_field.h"

namespace evenkeel::config {
namespace {

using namespace std::chrono_literals;
using idgen::GeneratorSettings;
using idgen::WorkerSettings;

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

void read_ids(const Place& place, std::vector<uint32_t>& out) {
  if (place.node().kind != Node::Kind::list) return place.expected("a list of worker ids");
  for (size_t i = 0; i < place.node().items.size(); ++i) {
    uint32_t id = 0;
    read_number(place.item(i), id, 0, UINT32_MAX);
    out.push_back(id);
  }
}

// {business: 5}: values for named parts of the layout's worker field.
void read_parts(const Place& place, GeneratorSettings& out) {
  if (place.node().kind != Node::Kind::map) return place.expected("a map from part names to numbers");
  for (const auto& pair : place.node().pairs) {
    const Place at = place.member(pair);
    uint32_t value = 0;
    read_number(at, value, 0, UINT32_MAX);
    if (auto set = idgen::set_part(out.layout, pair.key.text, value); !set) at.fault(set.error().message);
  }
}

void read_common_parts(const Place& place, WorkerSettings& out) {
  if (place.node().kind != Node::Kind::map) return place.expected("a map from part names to numbers");
  for (const auto& pair : place.node().pairs)
    read_number(place.member(pair), out.part_values[pair.key.text], 0, UINT32_MAX);
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
                     [&](const auto& member) { return member.key.text == name; });
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
          {"parts", read_parts},
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
          {"peers", [](const Place& place, WorkerSettings& out) { read_ids(place, out.peer_ids); }},
          {"spares", [](const Place& place, WorkerSettings& out) { read_ids(place, out.spare_ids); }},
          {"lanes", [](const Place& place,
                       WorkerSettings& out) { read_number(place, out.lanes, 1, idgen::lanes_max); }},
          {"parts", read_common_parts},
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
