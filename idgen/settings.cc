#include "idgen/settings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/format.h>
#include <numeric>

#include "base/limits.h"
#include "idgen/clock_policy.h"
#include "idgen/layout.h"
#include "idgen/worker_field.h"

namespace evenkeel::idgen {
namespace {

constexpr int id_bits = 63;
// A tick holds at most 2^30 ids, so that counts within a tick fit 32 bits.
constexpr int sequence_bits_max = 30;
constexpr int worker_bits_max = 22;
constexpr int64_t day_ms = 86'400'000;
// Random starts and steering want a sequence of at least so many times the slots.
constexpr uint64_t wanted_sequences_per_slot = 4;

constexpr std::array<std::string_view, 5> names = {"classic", "business", "wide", "js_safe", "js_safe_wide"};

std::string bits_text(const Layout& layout) {
  return fmt::format("{}|{}|{}", layout.time_bits, layout.worker_bits, layout.sequence_bits);
}

void check_order(const Layout& layout, SettingsReport& report) {
  if (layout.order[2] != LayoutField::sequence) {
    report.errors.push_back(fmt::format(
        "layout: the sequence is not in the low bits, the {0} is. A row goes to the table `id mod tables`, "
        "which the low bits decide: ids of one {0} would all name the same few tables",
        to_string(layout.order[2])));
  } else if (layout.order[0] != LayoutField::time) {
    report.errors.push_back("layout: the time is not in the high bits, so ids would not ascend with time");
  }
}

void check_bits(const Layout& layout, SettingsReport& report) {
  const int sum = layout.time_bits + layout.worker_bits + layout.sequence_bits;
  if (sum > id_bits)
    report.errors.push_back(
        fmt::format("layout {} has {} bits; a positive BIGINT holds 63", bits_text(layout), sum));
  if (layout.time_bits < 1) report.errors.push_back("layout: time_bits is 0; an id needs a time field");
  if (layout.sequence_bits < 1 || layout.sequence_bits > sequence_bits_max)
    report.errors.push_back(fmt::format("layout: sequence_bits is {}; allowed are 1 to {}",
                                        layout.sequence_bits, sequence_bits_max));
  if (layout.worker_bits > worker_bits_max)
    report.errors.push_back(
        fmt::format("layout: worker_bits is {}; allowed are 0 to {}", layout.worker_bits, worker_bits_max));
  for (auto& error : check_parts(layout)) report.errors.push_back(std::move(error));
}

void check_life(const Layout& layout, int64_t now_unix_ms, SettingsReport& report) {
  if (now_unix_ms < layout.epoch_unix_ms) {
    report.errors.push_back(
        fmt::format("layout: the epoch {} lies in the future", format_utc(layout.epoch_unix_ms)));
    return;
  }
  const int64_t end = exhaustion_unix_ms(layout);
  if (now_unix_ms >= end) {
    report.errors.push_back(
        fmt::format("layout {}: its time field ended at {}; choose a later epoch or more time bits",
                    bits_text(layout), format_utc(end)));
  } else if (end - now_unix_ms < 366 * day_ms) {
    report.warnings.push_back(
        fmt::format("layout {}: its time field ends at {}, in {} days; no id can be made after that",
                    bits_text(layout), format_utc(end), (end - now_unix_ms) / day_ms));
  }
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// The fixed numbers of this process, one a lane.
std::vector<uint32_t> own_numbers(const WorkerSettings& worker) {
  std::vector<uint32_t> numbers;
  for (uint32_t lane = 0; worker.fixed_id && lane < std::min(worker.lanes, lanes_max); ++lane)
    numbers.push_back(*worker.fixed_id + lane);
  return numbers;
}

void check_worker(const GeneratorSettings& settings, SettingsReport& report) {
  const auto& worker = settings.worker;
  const uint64_t workers = worker_numbers(settings.layout);
  const auto check_number = [&](uint32_t number, std::string_view whose) {
    if (number < workers) return;
    report.errors.push_back(fmt::format("worker id {}{} does not fit {} worker bits: allowed are 0 to {}",
                                        number, whose, std::bit_width(workers) - 1, workers - 1));
  };
  if (worker.lanes < 1 || worker.lanes > lanes_max || worker.lanes > workers)
    report.errors.push_back(fmt::format("worker: {} lanes; allowed are 1 to {}", worker.lanes,
                                        std::min<uint64_t>(lanes_max, workers)));
  const std::vector<uint32_t> own = own_numbers(worker);
  if (!own.empty()) check_number(own.front(), "");
  if (own.size() > 1) check_number(own.back(), " (the last lane)");
  for (const auto& [others, whose] :
       {std::pair(&worker.spare_ids, " (a spare)"), std::pair(&worker.peer_ids, " of another proxy")}) {
    for (const uint32_t number : *others) {
      check_number(number, whose);
      if (std::find(own.begin(), own.end(), number) != own.end())
        report.errors.push_back(fmt::format("worker id {}{} is this proxy's own", number, whose));
    }
  }
  if (worker.renew_ms < 1 || worker.window_ms < 2 * worker.renew_ms)
    report.errors.push_back(
        fmt::format("worker: window_ms {} must be at least twice renew_ms {}, which must be positive",
                    worker.window_ms, worker.renew_ms));
  if (worker.window_ms < millis_of(settings.layout.unit))
    report.errors.push_back(fmt::format("worker: window_ms {} is shorter than one time unit ({})",
                                        worker.window_ms, to_string(settings.layout.unit)));
}

// Of the segments only the allocators matter, of the worker settings nothing but its parts.
void check_hybrid(const GeneratorSettings& settings, SettingsReport& report) {
  for (auto& error : check_segment(settings.segment, false)) report.errors.push_back(std::move(error));
  const int open_bits = std::bit_width(worker_numbers(settings.layout)) - 1;
  if (settings.segment.prefix_bits >= std::max(1, open_bits))
    report.errors.push_back(
        fmt::format("segment: prefix_bits {} leave no number in the {} worker bits that "
                    "the layout leaves open",
                    settings.segment.prefix_bits, open_bits));
  if (settings.worker.lanes > 1)
    report.warnings.push_back(
        fmt::format("worker: lanes {} do not apply: kind hybrid takes one number", settings.worker.lanes));
}

// "4 reaches 0-4095, 7 reaches 4096-8191".
std::string reach_of_each(const Layout& layout, std::span<const uint32_t> workers, uint32_t slots) {
  constexpr size_t shown_max = 16;
  std::string text;
  for (size_t i = 0; i < workers.size() && i < shown_max; ++i)
    text += fmt::format("{}{} reaches {}", i == 0 ? "" : ", ", workers[i],
                        describe_ranges(reachable_slots(layout, workers.subspan(i, 1), slots), true));
  return workers.size() > shown_max ? text + ", …" : text;
}

void check_reach(const GeneratorSettings& settings, uint32_t slots, SettingsReport& report) {
  const uint64_t sequences = sequence_count(settings.layout);
  const auto& worker = settings.worker;
  if (sequences >= wanted_sequences_per_slot * slots) return;
  if (sequences >= slots) {
    report.warnings.push_back(
        fmt::format("layout {}: its {} ids a {} are fewer than 4 x {} slots; random starts and steering "
                    "spread rows less evenly. "
                    "Give the sequence more bits",
                    bits_text(settings.layout), sequences, to_string(settings.layout.unit), slots));
    return;
  }
  const std::string shortage =
      fmt::format("layout {}: its {} ids a {} are fewer than {} slots", bits_text(settings.layout), sequences,
                  to_string(settings.layout.unit), slots);
  if (settings.kind == GeneratorKind::hybrid || !worker.fixed_id) {
    report.errors.push_back(fmt::format(
        "{}, so the slots that a proxy reaches depend on the worker id it happens to {}. Give the "
        "sequence more bits (the layout `wide` suits up to 8192 slots)",
        shortage, settings.kind == GeneratorKind::hybrid ? "get" : "lease"));
    return;
  }
  std::vector<uint32_t> workers;
  for (const uint32_t number : own_numbers(worker)) workers.push_back(worker_id_of(settings.layout, number));
  for (const uint32_t peer : worker.peer_ids) workers.push_back(worker_id_of(settings.layout, peer));
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  const auto reached = reachable_slots(settings.layout, workers, slots);
  const auto missing = std::count(reached.begin(), reached.end(), false);
  const std::string who =
      fmt::format("worker{} {}", workers.size() == 1 ? "" : "s", fmt::join(workers, ", "));
  if (missing == 0) {
    report.warnings.push_back(fmt::format("{}; {} reach all slots together, but not each of them alone: {}",
                                          shortage, who, reach_of_each(settings.layout, workers, slots)));
  } else {
    report.warnings.push_back(fmt::format("{}; {} cannot reach {} slots: {}. They reach {}", shortage, who,
                                          missing, describe_ranges(reached, false),
                                          describe_ranges(reached, true)));
  }
}

}  // namespace

std::string_view to_string(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::millisecond:
      return "ms";
    case TimeUnit::ten_milliseconds:
      return "10ms";
    case TimeUnit::second:
      return "s";
  }
  return "?";
}

std::optional<TimeUnit> parse_time_unit(std::string_view text) {
  for (const auto unit : {TimeUnit::millisecond, TimeUnit::ten_milliseconds, TimeUnit::second})
    if (text == to_string(unit)) return unit;
  return std::nullopt;
}

int64_t millis_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::millisecond:
      return 1;
    case TimeUnit::ten_milliseconds:
      return 10;
    case TimeUnit::second:
      return 1000;
  }
  return 1;
}

std::string_view to_string(LayoutField field) {
  switch (field) {
    case LayoutField::time:
      return "time";
    case LayoutField::worker:
      return "worker";
    case LayoutField::sequence:
      return "sequence";
  }
  return "?";
}

std::optional<Layout> named_layout(std::string_view name) {
  Layout layout;
  if (name == "classic") return layout;
  if (name == "business") {
    layout.worker_bits = 12;
    layout.sequence_bits = 10;
    layout.worker_parts = {{"data_centre", 6, {}}, {"business", 6, {}}};
    return layout;
  }
  if (name == "wide") {
    layout.worker_bits = 7;
    layout.sequence_bits = 15;
    return layout;
  }
  if (name == "js_safe" || name == "js_safe_wide") {
    layout.unit = TimeUnit::second;
    layout.time_bits = 31;
    layout.worker_bits = name == "js_safe" ? 10 : 4;
    layout.sequence_bits = name == "js_safe" ? 12 : 18;
    return layout;
  }
  return std::nullopt;
}

std::span<const std::string_view> layout_names() { return names; }

SettingsReport check_layout(const Layout& layout, int64_t now_unix_ms) {
  SettingsReport report;
  check_order(layout, report);
  check_bits(layout, report);
  // The end of an impossible time field cannot be computed.
  if (report.errors.empty()) check_life(layout, now_unix_ms, report);
  return report;
}

SettingsReport check_settings(const GeneratorSettings& settings, uint32_t slots, int64_t now_unix_ms) {
  const bool segments = settings.kind == GeneratorKind::segment;
  SettingsReport report;
  if (segments)
    report.errors = check_segment(settings.segment, settings.batch == BatchMode::consecutive);
  else
    report = check_layout(settings.layout, now_unix_ms);
  if (!report.errors.empty()) return report;
  if (!is_name(settings.name))
    report.errors.push_back(
        fmt::format("generator name '{}': 1 to 64 letters, digits, '_' and '-' are allowed", settings.name));
  if (slots < 1 || slots > limits::slots_max)
    report.errors.push_back(fmt::format("{} slots; allowed are 1 to {}", slots, limits::slots_max));
  if (segments) return report;
  if (settings.kind == GeneratorKind::hybrid)
    check_hybrid(settings, report);
  else
    check_worker(settings, report);
  for (auto& error : check_clock(settings)) report.errors.push_back(std::move(error));
  if (report.errors.empty()) check_reach(settings, slots, report);
  return report;
}

std::vector<bool> reachable_slots(const Layout& layout, std::span<const uint32_t> workers, uint32_t slots) {
  std::vector<bool> reached(slots, false);
  const uint64_t sequences = sequence_count(layout);
  if (sequences >= slots) {
    reached.assign(slots, !workers.empty());
    return reached;
  }
  // A tick of worker w starts at (tick << (worker+sequence bits)) + (w << sequence bits): modulo `slots`
  // these are the numbers w*2^sequence_bits + k*step, for every k.
  const uint64_t tick_stride = uint64_t{1} << (layout.worker_bits + layout.sequence_bits);
  const uint64_t step = std::gcd(tick_stride, uint64_t{slots});
  // Where runs of `sequences` slots begin and end, then one sweep over two turns of the circle.
  std::vector<uint32_t> begins(slots, 0);
  for (const uint32_t worker : workers)
    for (uint64_t at = (worker * sequences) % step; at < slots; at += step) begins[at] = 1;
  uint64_t left = 0;
  for (uint64_t i = 0; i < 2 * uint64_t{slots}; ++i) {
    if (begins[i % slots] != 0) left = sequences;
    if (left > 0) {
      reached[i % slots] = true;
      --left;
    }
  }
  return reached;
}

std::string describe_ranges(const std::vector<bool>& flags, bool value) {
  std::string text;
  for (size_t i = 0; i < flags.size();) {
    if (flags[i] != value) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end + 1 < flags.size() && flags[end + 1] == value) ++end;
    if (!text.empty()) text += ", ";
    text += end == i ? fmt::format("{}", i) : fmt::format("{}-{}", i, end);
    i = end + 1;
  }
  return text.empty() ? "none" : text;
}

}  // namespace evenkeel::idgen
