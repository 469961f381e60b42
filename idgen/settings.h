// What a key generator is configured with, as plain values. The configuration room fills them;
// `check_settings` says at start what is impossible (refused) and what is unwise (a warning), each with its
// reason.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "idgen/segment_settings.h"

namespace evenkeel::idgen {

// One step of an id's time field.
enum class TimeUnit : uint8_t { millisecond, ten_milliseconds, second };

std::string_view to_string(TimeUnit unit);
// "ms", "10ms" or "s"; nothing for any other text.
std::optional<TimeUnit> parse_time_unit(std::string_view text);
// Milliseconds in one unit.
int64_t millis_of(TimeUnit unit);

// A named piece of the worker field, for instance a data centre and a line of business.
struct WorkerPart {
  std::string name;
  uint8_t bits = 0;

  bool operator==(const WorkerPart&) const = default;
};

// How the 63 bits of an id are cut: time | worker | sequence, high to low; the sign bit stays 0. The sequence
// owns the low bits, because the slot of a row is the id modulo the number of slots.
struct Layout {
  TimeUnit unit = TimeUnit::millisecond;
  uint8_t time_bits = 41;
  uint8_t worker_bits = 10;
  uint8_t sequence_bits = 12;
  // Tick 0 in Unix milliseconds, a UTC constant. Never change it once ids exist.
  int64_t epoch_unix_ms = 1'704'067'200'000;  // 2024-01-01T00:00:00Z
  // Names for the worker field's pieces, high to low. Empty: one number. Otherwise the bits add up to
  // worker_bits.
  std::vector<WorkerPart> worker_parts;

  bool operator==(const Layout&) const = default;
};

// classic 41|10|12 ms; wide 41|7|15 ms (8192 slots); js_safe 31|4|18 s (ids stay below 2^53).
// Nothing when the name is unknown.
std::optional<Layout> named_layout(std::string_view name);
// "classic", "wide", "js_safe": for error messages.
std::span<const std::string_view> layout_names();

// What the ids of one multi-row INSERT look like.
enum class BatchMode : uint8_t {
  consecutive,  // one run first, first+1, ...: what drivers assume when they compute the keys of a batch
  steered,      // each row the next id that the steering map permits; only the first key is predictable
};

struct ClockSettings {
  // A clock that stepped back at most this far freezes the time in the ids; further back is an error.
  int64_t freeze_tolerance_ms = 5;
  // When a unit is full, ids may carry the time of at most so many units ahead of the clock.
  uint32_t max_borrow_ticks = 10;
  // A draw that could succeed only later than this is an error rather than a wait.
  int64_t max_wait_ms = 5'000;
};

struct WorkerSettings {
  // A worker id fixed by the operator; without it a free one is leased. There is no silent default.
  std::optional<uint32_t> fixed_id;
  // Other proxies' fixed ids in the same key space, if known: used only to say which slots all of them reach.
  std::vector<uint32_t> peer_ids;
  // Time reserved ahead in the registry, and how much of it may pass before it is reserved again. Short, as
  // suits a registry of files; idgen/registry/settings.h has the defaults of each provider.
  int64_t window_ms = 3'000;
  int64_t renew_ms = 1'000;
};

// How ids are made.
enum class GeneratorKind : uint8_t {
  snowflake,  // time | worker | sequence
  segment,    // numbers, fetched from a store by the thousand
  hybrid,     // as snowflake, with the worker id from the store of segments
};

struct GeneratorSettings {
  // The key space: generators with the same name on several proxies share worker ids. [a-zA-Z0-9_-]+
  std::string name = "default";
  Layout layout;
  BatchMode batch = BatchMode::consecutive;
  ClockSettings clock;
  WorkerSettings worker;
  GeneratorKind kind = GeneratorKind::snowflake;
  // For kinds segment, which has no layout, clock and worker, and hybrid, which has no worker.
  SegmentSettings segment;
};

// What a check found. Any error means: do not start.
struct SettingsReport {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};

// Bits, epoch and parts alone. `now_unix_ms` is for the remaining life of the time field.
SettingsReport check_layout(const Layout& layout, int64_t now_unix_ms);

// The whole of `settings` for a logical table of `slots` slots, the layout included. When the sequence is
// shorter than the slots: with leased worker ids an error, with fixed ones a warning that names the slots out
// of reach.
SettingsReport check_settings(const GeneratorSettings& settings, uint32_t slots, int64_t now_unix_ms);

// For each slot whether an id modulo `slots` can name it when only these workers make ids.
std::vector<bool> reachable_slots(const Layout& layout, std::span<const uint32_t> workers, uint32_t slots);

// "0-31, 40, 64-127": the positions of `flags` that equal `value`.
std::string describe_ranges(const std::vector<bool>& flags, bool value);

}  // namespace evenkeel::idgen
