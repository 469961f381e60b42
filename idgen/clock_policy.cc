#include "idgen/clock_policy.h"

#include <algorithm>
#include <fmt/format.h>

namespace evenkeel::idgen {
namespace {

// A frozen unit and what may be borrowed after it last for little; longer steps would only lead to waits.
constexpr int64_t freeze_max_ms = 60'000;

std::string size_text(const ClockStep& step) {
  return step.up_to_ms == ClockStep::any_size ? "of any size" : fmt::format("up to {} ms", step.up_to_ms);
}

void check_step(const ClockStep& step, const GeneratorSettings& settings, std::vector<std::string>& errors) {
  switch (step.action) {
    case ClockAction::freeze:
      if (step.up_to_ms <= freeze_max_ms) break;
      errors.push_back(
          fmt::format("clock: freeze for steps {}: ids would keep one time for as long; at most {} ms are "
                      "allowed",
                      size_text(step), freeze_max_ms));
      break;
    case ClockAction::wait:
      if (step.up_to_ms <= settings.clock.max_wait_ms) break;
      errors.push_back(fmt::format("clock: wait for steps {}: no draw waits longer than max_wait, {} ms",
                                   size_text(step), settings.clock.max_wait_ms));
      break;
    case ClockAction::switch_worker:
      if (settings.kind == GeneratorKind::hybrid) {
        errors.push_back(
            "clock: switch_worker: a number from the store of segments (kind: hybrid) is not switched; use "
            "kind snowflake, or another action");
        break;
      }
      if (!settings.worker.fixed_id || !settings.worker.spare_ids.empty()) break;
      errors.push_back(
          "clock: switch_worker needs another worker id to switch to: lease the worker id, or name spares");
      break;
    case ClockAction::pause_until_sync:
    case ClockAction::strict:
      break;
  }
}

}  // namespace

std::string_view to_string(ClockAction action) {
  switch (action) {
    case ClockAction::freeze:
      return "freeze";
    case ClockAction::wait:
      return "wait";
    case ClockAction::switch_worker:
      return "switch_worker";
    case ClockAction::pause_until_sync:
      return "pause_until_sync";
    case ClockAction::strict:
      return "strict";
  }
  return "?";
}

ClockAction action_for(const ClockSettings& clock, int64_t step_ms) {
  for (const ClockStep& step : clock.backward)
    if (step_ms <= step.up_to_ms) return step.action;
  return ClockAction::strict;
}

bool uses(const ClockSettings& clock, ClockAction action) {
  return std::any_of(clock.backward.begin(), clock.backward.end(),
                     [&](const ClockStep& step) { return step.action == action; });
}

bool watches_sync(const ClockSettings& clock) {
  return clock.watch.watched || uses(clock, ClockAction::pause_until_sync);
}

std::string describe(const ClockSettings& clock) {
  std::string text;
  ClockAction rest = ClockAction::strict;
  for (const ClockStep& step : clock.backward) {
    if (step.up_to_ms == ClockStep::any_size)
      rest = step.action;
    else
      text += fmt::format("up to {} ms {}, beyond that ", step.up_to_ms, to_string(step.action));
  }
  return text + std::string(to_string(rest));
}

std::vector<std::string> check_clock(const GeneratorSettings& settings) {
  const ClockSettings& clock = settings.clock;
  std::vector<std::string> errors;
  int64_t before = -1;
  for (const ClockStep& step : clock.backward) {
    if (step.up_to_ms < 0) {
      errors.push_back(fmt::format("clock: a step of {} ms is negative", step.up_to_ms));
    } else if (step.up_to_ms <= before) {
      errors.push_back(fmt::format("clock: steps must rise: {} after {}", size_text(step),
                                   size_text({before, ClockAction::strict})));
    }
    before = step.up_to_ms;
    check_step(step, settings, errors);
  }
  if (clock.max_wait_ms < 1) errors.push_back("clock: max_wait_ms must be at least 1");
  if (watches_sync(clock) &&
      (clock.watch.good_checks < 1 || clock.watch.max_error_ms < 1 || clock.watch.max_offset_ms < 1))
    errors.push_back("clock: watch: max_error, max_offset and good_checks must be at least 1");
  return errors;
}

}  // namespace evenkeel::idgen
