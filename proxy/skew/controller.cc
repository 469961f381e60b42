#include "proxy/skew/controller.h"

#include <algorithm>
#include <fmt/format.h>

namespace evenkeel::skew {
namespace {

// Between two writes that say no more than how far the evening out has come.
constexpr int64_t progress_write_ms = 30'000;

// The ratio that holds even if every figure is wrong by its error, each in the direction that makes it small.
double certain_ratio(const Observation& seen) {
  double total = 0;
  double most = 0;
  for (size_t slot = 0; slot < seen.figures.size(); ++slot) {
    total += seen.figures[slot] + seen.errors[slot];
    most = std::max(most, seen.figures[slot] - seen.errors[slot]);
  }
  return total <= 0 ? 1 : most * static_cast<double>(seen.figures.size()) / total;
}

// One look at one table.
class Look {
 public:
  Look(const TableSettings& settings, const SteeringRecord& present, const Observation& seen,
       std::string_view who)
      : settings_(settings),
        record_(present),
        seen_(seen),
        who_(who),
        now_(seen.now_unix_ms),
        slots_(static_cast<uint32_t>(seen.rows.size())),
        skew_(spread_of(seen.figures)),
        floor_(noise_floor(spread_of(seen.rows).mean)) {}

  Decision decide() {
    if (record_.mode_ordered && record_.mode_until_unix_ms != 0 && now_ >= record_.mode_until_unix_ms)
      return back_to_configured_mode();
    if (record_.origin == Origin::ordered) return look_after_order();
    const Mode mode = mode_of(settings_, record_);
    if (record_.origin == Origin::automatic) return steer_on(mode);
    return begin_or_wait(mode);
  }

 private:
  Decision stand(std::string why) const { return {std::nullopt, std::move(why)}; }

  Decision store(const char* what, std::string reason, SlotWeights weights, Origin origin) {
    put_in_force(record_, std::move(weights), origin,
                 {0, now_, what, std::string(who_), std::move(reason), {}, 1}, slots_);
    return {record_, {}};
  }

  Decision end(std::string reason, int64_t rest_ms = 0) {
    record_.rests_until_unix_ms =
        rest_ms == 0 ? now_ + static_cast<int64_t>(seen_.seconds_ahead * 10'000) : now_ + rest_ms;
    return store("steering off", std::move(reason), SlotWeights{}, Origin::none);
  }

  std::string state() const {
    return fmt::format("max/mean is {:.4f} (fullest {:.0f}, mean {:.1f} {})", skew_.ratio, skew_.most,
                       skew_.mean, to_string(settings_.by));
  }

  Decision back_to_configured_mode() {
    record_.mode_ordered = false;
    record_.mode_until_unix_ms = 0;
    record_.note({record_.map_version, now_, "mode", std::string(who_),
                  fmt::format("the time of the ordered mode {} is over; it is {} again, as configured",
                              to_string(record_.mode), to_string(settings_.mode)),
                  describe(record_.weights, slots_), 1});
    return {record_, {}};
  }

  Decision look_after_order() {
    if (now_ >= record_.until_unix_ms)
      return end(fmt::format("the time that was ordered is over; {}", state()));
    if (const auto lacks = lacks_capacity(record_.weights, seen_))
      return end(fmt::format("inserts must not wait: {}", *lacks));
    return stand(
        fmt::format("the ordered map holds for another {}", duration_text(record_.until_unix_ms - now_)));
  }

  Decision steer_on(Mode mode) {
    if (mode != Mode::automatic) return end(fmt::format("the mode is {}", to_string(mode)));
    if (!within_windows(settings_.windows, now_))
      return end(fmt::format("the daily window has closed; {}", state()));
    if (skew_.ratio <= settings_.lower) {
      return end(fmt::format("even: {}, the lower bound is {:.4f}; it was {:.4f} when steering began {} ago",
                             state(), settings_.lower, record_.ratio_at_start, lasted()));
    }
    if (now_ >= record_.until_unix_ms) {
      return end(
          fmt::format("the maximum duration is over with {}; it does not begin again for as long", state()),
          settings_.max_duration.count());
    }
    SlotWeights weights = automatic_weights(settings_, seen_);
    if (weights.levels == 0) {
      if (skew_.ratio <= floor_)
        return end(fmt::format("no table lacks enough to be steered by: {}, below what chance makes ({:.4f})",
                               state(), floor_));
      return renewed(fmt::format("no table lacks as much as comes until the next look; {}", state()));
    }
    if (skew_.ratio <= floor_ && now_ - record_.best_unix_ms > stagnation_ms && !gets_better()) {
      return end(fmt::format("no better than {:.4f} for {}: {}, below what chance makes ({:.4f})",
                             record_.best_ratio, duration_text(now_ - record_.best_unix_ms), state(),
                             floor_));
    }
    if (lacks_capacity(weights, seen_)) weights = flattened(weights);
    if (const auto lacks = lacks_capacity(weights, seen_))
      return end(fmt::format("inserts must not wait: {}", *lacks), capacity_rest_ms);
    if (weights == record_.weights) return renewed(fmt::format("steering: {}", state()));
    note_progress();
    return store(
        "re-weighted",
        fmt::format("{}; about {} left at {:.0f} rows a second", state(), time_left(), seen_.rows_per_second),
        std::move(weights), Origin::automatic);
  }

  std::string lasted() const { return duration_text(now_ - record_.since_unix_ms); }

  bool gets_better() const { return skew_.ratio - 1 < (record_.best_ratio - 1) * 0.98; }

  void note_progress() {
    record_.valid_until_unix_ms = now_ + map_validity_ms;
    if (!gets_better()) return;
    record_.best_ratio = skew_.ratio;
    record_.best_unix_ms = now_;
  }

  // Writes only when the map's validity runs out or there is progress to be kept.
  Decision renewed(std::string standing) {
    const bool runs_out = record_.valid_until_unix_ms - now_ < map_validity_ms / 2;
    const bool progress = gets_better() && now_ - record_.best_unix_ms >= progress_write_ms;
    if (!runs_out && !progress) return stand(std::move(standing));
    note_progress();
    return {record_, std::move(standing)};
  }

  std::string time_left() const {
    if (seen_.rows_per_second <= 0) return "an unknown time";
    double lacks = 0;
    for (const double figure : seen_.figures)
      lacks += skew_.most / settings_.lower - std::min(figure, skew_.most / settings_.lower);
    const double per_row = skew_.total > 0 ? skew_.total / std::max(1.0, spread_of(seen_.rows).total) : 1;
    return duration_text(static_cast<int64_t>(lacks / per_row / seen_.rows_per_second * 1000));
  }

  Decision begin_or_wait(Mode mode) {
    if (mode == Mode::off) return stand("the mode is off");
    const double upper = std::max(settings_.upper, floor_);
    if (skew_.ratio <= upper) {
      const std::string why = fmt::format(
          "{}, not above the upper bound {:.4f}{}", state(), upper,
          floor_ > settings_.upper
              ? fmt::format(" (the configured {:.4f} is below what chance makes)", settings_.upper)
              : std::string());
      if (record_.refusal.empty()) return stand(why);
      record_.refusal.clear();
      return {record_, why};
    }
    if (auto waits = lacks_evidence(upper)) return stand(std::move(*waits));
    if (now_ < record_.rests_until_unix_ms)
      return stand(fmt::format("{}; after the last end it rests for another {}", state(),
                               duration_text(record_.rests_until_unix_ms - now_)));
    if (!within_windows(settings_.windows, now_))
      return stand(fmt::format("{}; outside the daily windows", state()));
    if (seen_.levels == 0) {
      return told("refused",
                  fmt::format("{}, but ids of this layout hold fewer sequence numbers than there are "
                              "tables: no map can be made of them",
                              state()));
    }
    SlotWeights weights = automatic_weights(settings_, seen_);
    if (weights.levels == 0)
      return stand(fmt::format("{}; no table lacks as much as comes until the next look", state()));
    if (lacks_capacity(weights, seen_)) weights = flattened(weights);
    if (const auto lacks = lacks_capacity(weights, seen_))
      return told("refused", fmt::format("{}, but inserts must not wait: {}", state(), *lacks));
    const std::string reason = fmt::format("{}, above the upper bound {:.4f}", state(), upper);
    if (mode == Mode::advise)
      return told("advice",
                  fmt::format("{}: steering would give new rows to {}", reason, describe(weights, slots_)));
    return begin(std::move(weights), reason);
  }

  std::optional<std::string> lacks_evidence(double upper) const {
    if (seen_.tables_are_counted && seen_.counted < slots_) {
      return fmt::format(
          "{} by estimates and counts; {} of {} tables have been counted, steering waits for the rest",
          state(), seen_.counted, slots_);
    }
    const double certain = certain_ratio(seen_);
    if (certain > upper) return std::nullopt;
    return fmt::format("{}, but it may be as little as {:.4f} within the error of the estimates", state(),
                       certain);
  }

  // Written once: the same kind is told again only after something else happened.
  Decision told(const char* what, const std::string& text) {
    if (record_.refusal == what) return stand(text);
    record_.refusal = what;
    record_.note(
        {record_.map_version, now_, what, std::string(who_), text, describe(record_.weights, slots_), 1});
    return {record_, text};
  }

  Decision begin(SlotWeights weights, const std::string& reason) {
    record_.refusal.clear();
    record_.since_unix_ms = now_;
    record_.until_unix_ms = now_ + settings_.max_duration.count();
    record_.valid_until_unix_ms = now_ + map_validity_ms;
    record_.ratio_at_start = skew_.ratio;
    record_.best_ratio = skew_.ratio;
    record_.best_unix_ms = now_;
    return store("steering on",
                 fmt::format("{}; at most {}", reason, duration_text(settings_.max_duration.count())),
                 std::move(weights), Origin::automatic);
  }

  const TableSettings& settings_;
  SteeringRecord record_;
  const Observation& seen_;
  std::string_view who_;
  int64_t now_;
  uint32_t slots_;
  Spread skew_;
  double floor_;
};

}  // namespace

Decision decide(const TableSettings& settings, const SteeringRecord& present, const Observation& seen,
                std::string_view who) {
  return Look(settings, present, seen, who).decide();
}

Mode mode_of(const TableSettings& settings, const SteeringRecord& record) {
  return record.mode_ordered ? record.mode : settings.mode;
}

SlotWeights automatic_weights(const TableSettings& settings, const Observation& seen) {
  const double rows = spread_of(seen.rows).total;
  const double total = spread_of(seen.figures).total;
  const double per_row = rows > 0 ? total / rows : 1;
  return weights_of_deficits(
      seen.figures, {seen.levels, settings.weight_cap, seen.rows_per_second * seen.seconds_ahead * per_row});
}

std::optional<std::string> lacks_capacity(const SlotWeights& weights, const Observation& seen) {
  const double left = seen.ids_per_second * weights.capacity();
  const double needed = seen.peak_per_second * capacity_headroom;
  if (left >= needed) return std::nullopt;
  return fmt::format(
      "the map leaves {:.0f} ids a second to a proxy, and the busiest drew {:.0f} lately; {:.0f} "
      "({} times as many) are wanted",
      left, seen.peak_per_second, needed, capacity_headroom);
}

bool in_force(const SteeringRecord& record, int64_t now_unix_ms) {
  if (!record.on() || now_unix_ms >= record.until_unix_ms) return false;
  return record.origin == Origin::ordered || now_unix_ms < record.valid_until_unix_ms;
}

void put_in_force(SteeringRecord& record, SlotWeights weights, Origin origin, Change change, uint32_t slots) {
  if (weights != record.weights || origin != record.origin) ++record.map_version;
  if (origin == Origin::none) {
    if (record.on()) record.ended_unix_ms = change.unix_ms;
    record.since_unix_ms = 0;
    record.until_unix_ms = 0;
    record.valid_until_unix_ms = 0;
  }
  record.weights = std::move(weights);
  record.origin = origin;
  change.map_version = record.map_version;
  change.map = describe(record.weights, slots);
  record.note(std::move(change));
}

std::string duration_text(int64_t ms) {
  const int64_t seconds = std::max<int64_t>(0, ms) / 1000;
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7'200) return fmt::format("{} min", seconds / 60);
  if (seconds < 172'800) return fmt::format("{} h {} min", seconds / 3'600, seconds % 3'600 / 60);
  return fmt::format("{} days", seconds / 86'400);
}

bool within_windows(const std::vector<DailyWindow>& windows, int64_t unix_ms) {
  if (windows.empty()) return true;
  const auto minute = static_cast<uint16_t>(unix_ms / 60'000 % 1'440);
  return std::any_of(windows.begin(), windows.end(), [&](const DailyWindow& window) {
    if (window.from_minute == window.to_minute) return true;
    if (window.from_minute < window.to_minute)
      return minute >= window.from_minute && minute < window.to_minute;
    return minute >= window.from_minute || minute < window.to_minute;
  });
}

}  // namespace evenkeel::skew
