#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fmt/format.h>
#include <vector>

#include "base/clock.h"
#include "config/config.h"
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

// What made an id, as far as a configuration says.
struct Origin {
  std::string name;  // of the logical table, key space or generator
  const idgen::GeneratorSettings* generator = nullptr;
  const rule::LogicalTable* table = nullptr;  // whose generated column is the sharding column
  uint32_t slots = 0;                         // of a key space; 0: none
};

std::vector<Origin> origins_of(const config::Config& config) {
  std::vector<Origin> origins;
  for (const auto& schema : config.rules->schemas()) {
    for (const auto& table : schema.tables) {
      const auto* generator = config.find_generator(table->generator);
      if (table->generated_column.empty() || generator == nullptr) continue;
      origins.push_back({fmt::format("{}.{}", schema.name, table->name), generator,
                         table->key_is_generated() ? table.get() : nullptr, 0});
    }
  }
  for (const auto& space : config.ids.service.key_spaces)
    origins.push_back({space.name, config.find_generator(space.generator), nullptr, space.slots});
  for (const auto& generator : config.generators) origins.push_back({generator.name, &generator, nullptr, 0});
  return origins;
}

std::string names_of(const std::vector<Origin>& origins) {
  std::vector<std::string> names;
  for (const Origin& origin : origins) names.push_back(origin.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// "orders" is any schema's table of that name.
bool is_called(const Origin& origin, const std::string& name) {
  return origin.name == name || origin.name.ends_with("." + name);
}

bool counts(const Origin& origin) { return origin.generator->kind == idgen::GeneratorKind::segment; }

// The one that `options.of` names, or any where it does not matter.
Result<Origin> find_origin(const config::Config& config, const std::string& of) {
  const std::vector<Origin> all = origins_of(config);
  if (all.empty()) return fail(config_error(fmt::format("{}: no generator makes ids", config.source)));
  std::vector<Origin> meant;
  for (const Origin& origin : all)
    if (of.empty() ? !counts(origin) : is_called(origin, of)) meant.push_back(origin);
  if (meant.empty() && !of.empty())
    return fail(
        config_error(fmt::format("{}: {} makes no ids; what does: {}", config.source, of, names_of(all))));
  const Origin& first = meant.empty() ? all.front() : meant.front();
  if (counts(first))
    return fail(config_error(fmt::format(
        "ids of {} are counted in segments by generator {}: they hold no time, worker or sequence",
        first.name, first.generator->name)));
  const bool alike = std::all_of(meant.begin(), meant.end(), [&](const Origin& other) {
    return !counts(other) && other.generator->layout == first.generator->layout;
  });
  if (!alike)
    return fail(config_error(fmt::format("{}: layouts differ: say with --of which the id is of: {}",
                                         config.source, names_of(of.empty() ? all : meant))));
  // Without a name the layout is known, the table is not.
  return of.empty() ? Origin{{}, first.generator, nullptr, 0} : first;
}

void print_fields(const idgen::DecodedId& decoded) {
  fmt::print("time      {}\nworker    {}\n", decoded.time, decoded.parts.worker);
  for (const auto& part : decoded.worker_parts) fmt::print("  {}  {}\n", part.name, *part.value);
  fmt::print("sequence  {}\n", decoded.parts.sequence);
}

int print_slot(uint64_t id, uint32_t slots) {
  const auto algorithm = rule::make_algorithm("mod", slots);
  if (!algorithm) return complain(algorithm.error().message);
  const auto slot = (*algorithm)->slot_of(mysql::Value::uint64(id));
  if (!slot) return complain(slot.error().message);
  fmt::print("slot      {} of {}\n", *slot, slots);
  return 0;
}

int print_place(const config::Config& config, const rule::LogicalTable& table, uint64_t id) {
  const auto slot = table.algorithm->slot_of(mysql::Value::uint64(id));
  if (!slot) return complain(slot.error().message);
  const rule::ActualTable& place = table.slots[*slot];
  fmt::print("slot      {} of {}\ntable     {}.{} on {}\n", *slot, table.slot_count(), place.database,
             place.table, config.rules->instances()[place.instance]);
  return 0;
}

int decode_by_config(const DecodeOptions& options, uint64_t id) {
  auto config = config::load(options.config_path, config::process_environment(), SystemClock().unix_millis());
  if (!config) return complain(config.error().message);
  const auto origin = find_origin(*config, options.of);
  if (!origin) return complain(origin.error().message);
  const auto decoded = idgen::decode(origin->generator->layout, id);
  if (!decoded) return complain(decoded.error().message);
  fmt::print("layout    {}\n", idgen::fingerprint(origin->generator->layout));
  print_fields(*decoded);
  if (origin->table != nullptr) return print_place(*config, *origin->table, id);
  return origin->slots == 0 ? 0 : print_slot(id, origin->slots);
}

}  // namespace

int decode(const DecodeOptions& options) {
  const auto id = parse_id(options.id);
  if (!id) return complain(fmt::format("{} is no id: decimal digits are wanted", options.id));
  if (!options.config_path.empty()) return decode_by_config(options, *id);
  const auto layout = parse_layout(options.layout);
  if (!layout) {
    return complain(
        fmt::format("layout {}: known are {}, or write the bits of time, worker and sequence: 41|7|15",
                    options.layout, fmt::join(idgen::layout_names(), ", ")));
  }
  // An epoch in the past and a full 63 bits at most; the time of asking does not matter here.
  const auto report = idgen::check_layout(*layout, layout->epoch_unix_ms);
  if (!report.errors.empty()) return complain(report.errors.front());
  const auto decoded = idgen::decode(*layout, *id);
  if (!decoded) return complain(decoded.error().message);
  print_fields(*decoded);
  return options.slots ? print_slot(*id, *options.slots) : 0;
}

}  // namespace evenkeel
