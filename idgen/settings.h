// What a key generator is configured with, as plain values. The configuration room fills them;
// `check_settings` says at start what is impossible (refused) and what is unwise (a warning), each with its
// reason.
#pragma once

#include <array>
#include <cstdint>
#include <map>
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

// A named piece of the worker field, for instance a data centre and a line of business. worker_field.h says
// how pieces with and without a value make a worker id.
struct WorkerPart {
  std::string name;
  uint8_t bits = 0;
  // The same in all ids of this process. Without it the piece belongs to the worker number, which is
  // configured or leased.
  std::optional<uint32_t> value = {};

  bool operator==(const WorkerPart&) const = default;
};

enum class LayoutField : uint8_t { time, worker, sequence };
std::string_view to_string(LayoutField field);

// How the 63 bits of an id are cut: time | worker | sequence, high to low; the sign bit stays 0. The sequence
// owns the low bits, because the slot of a row is the id modulo the number of slots.
struct Layout {
  // Only this order works; another one is refused with the reason.
  std::array<LayoutField, 3> order = {LayoutField::time, LayoutField::worker, LayoutField::sequence};
  TimeUnit unit = TimeUnit::millisecond;
  uint8_t time_bits = 41;
  uint8_t worker_bits = 10;
  uint8_t sequence_bits = 12;
  // Tick 0 in Unix milliseconds, a UTC constant. Never change it once ids exist.
  int64_t epoch_unix_ms = 1'704'067'200'000;  // 2024-01-01T00:00:00Z
  // The worker field's pieces, high to low. Empty: one number. Otherwise the bits add up to worker_bits.
  std::vector<WorkerPart> worker_parts;

  bool operator==(const Layout&) const = default;
};

// classic       ms 41|10|12
// business      ms 41|12|10, the worker field cut into data_centre (6) and business (6)
// wide          ms 41|7|15: up to 8192 slots at full ease
// js_safe       s  31|10|12: ids stay below 2^53; 4,096 ids a second and worker
// js_safe_wide  s  31|4|18: the same for loads that js_safe is too slow for; 262,144 ids a second and worker
// Nothing when the name is unknown.
std::optional<Layout> named_layout(std::string_view name);
// All of the above: for messages.
std::span<const std::string_view> layout_names();

// What the ids of one multi-row INSERT look like.
enum class BatchMode : uint8_t {
  consecutive,  // one run first, first+1, ...: what drivers assume when they compute the keys of a batch
  steered,      // each row the next id that the steering map permits; only the first key is predictable
};

// What to do when the clock stepped back while ids are being made.
enum class ClockAction : uint8_t {
  freeze,            // ids keep the time already reached; a unit that fills up borrows the next
  wait,              // draws wait until the clock is back where it was
  switch_worker,     // another worker id is taken and begins at the clock as it stands
  pause_until_sync,  // no ids until the clock has been found right for a while
  strict,            // an error at once
};
std::string_view to_string(ClockAction action);

// `action` holds for steps of at most `up_to_ms`, inclusive.
struct ClockStep {
  static constexpr int64_t any_size = INT64_MAX;
  int64_t up_to_ms = any_size;
  ClockAction action = ClockAction::strict;

  bool operator==(const ClockStep&) const = default;
};

// When the clock counts as right. Checked every second while `watched`; ids stop while it is not.
struct ClockWatch {
  // Of itself with pause_until_sync.
  bool watched = false;
  // The kernel must say that the clock is synchronised, with at most this error.
  int64_t max_error_ms = 100;
  // And it may differ so far from the registry's.
  int64_t max_offset_ms = 1'000;
  // So many checks in a row must find it right before ids are made again.
  uint32_t good_checks = 3;

  bool operator==(const ClockWatch&) const = default;
};

struct ClockSettings {
  // By size of the step, ascending; larger steps than the last one names are `strict`.
  std::vector<ClockStep> backward = {{5, ClockAction::freeze}};
  // When a unit is full, ids may carry the time of at most so many units ahead of the clock.
  uint32_t max_borrow_ticks = 10;
  // A draw that could succeed only later than this is an error rather than a wait.
  int64_t max_wait_ms = 5'000;
  ClockWatch watch;
};

// Threads beyond so many share lanes.
inline constexpr uint32_t lanes_max = 64;

struct WorkerSettings {
  // A worker number fixed by the operator; without it a free one is leased. There is no silent default.
  std::optional<uint32_t> fixed_id;
  // Further fixed numbers of this process, for the clock action switch_worker.
  std::vector<uint32_t> spare_ids;
  // How many worker numbers this process uses at once, each for its own threads: with a fixed id, that one
  // and the next ones. More than one passes what a unit's sequence holds; ids of different threads then no
  // longer ascend together within a unit.
  uint32_t lanes = 1;
  // Values that all layouts with parts of these names take from here.
  std::map<std::string, uint32_t> part_values;
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

// Order, bits, epoch and parts alone. `now_unix_ms` is for the remaining life of the time field.
SettingsReport check_layout(const Layout& layout, int64_t now_unix_ms);

// The whole of `settings` for a logical table of `slots` slots, the layout included. When the sequence is
// shorter than the slots: with worker ids that nobody chose (leased ones, numbers of a hybrid) an error, with
// fixed ones a warning that says which reaches which, or which slots none reaches.
SettingsReport check_settings(const GeneratorSettings& settings, uint32_t slots, int64_t now_unix_ms);

// For each slot whether an id modulo `slots` can name it when only these workers make ids.
std::vector<bool> reachable_slots(const Layout& layout, std::span<const uint32_t> workers, uint32_t slots);

// "0-31, 40, 64-127": the positions of `flags` that equal `value`.
std::string describe_ranges(const std::vector<bool>& flags, bool value);

}  // namespace evenkeel::idgen
