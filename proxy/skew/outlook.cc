// What is known in figures, and what to expect under a map: the Figures half of Steering.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "proxy/skew/steering.h"

namespace evenkeel::skew {
namespace {

constexpr uint32_t dry_run_rows = 10'000;
// Batches of these sizes are looked at in a dry run.
constexpr uint64_t batch_sizes[] = {10, 100, 1'000};

WallTime wall(int64_t unix_ms) { return WallTime(std::chrono::milliseconds(unix_ms)); }

FigureSource source_of(const Figure& figure) {
  if (figure.source == Source::none) return FigureSource::unknown;
  if (figure.counted_since != 0) return FigureSource::carried;
  return figure.source == Source::exact ? FigureSource::exact : FigureSource::estimate;
}

Unevenness uneven(const Spread& spread) { return {spread.ratio, spread.variation}; }

// Under fixed shares, how many rows until max/mean is at `bound`; none: it never gets there.
std::optional<double> rows_until_even(const std::vector<double>& rows, const SlotWeights& weights,
                                      double bound) {
  const auto slots = static_cast<uint32_t>(rows.size());
  const std::vector<double> shares = weights.shares(slots);
  const auto ratio_after = [&](double more) {
    double most = 0;
    double total = 0;
    for (rule::Slot slot = 0; slot < slots; ++slot) {
      const double then = rows[slot] + more * shares[slot];
      most = std::max(most, then);
      total += then;
    }
    return total <= 0 ? 1.0 : most * slots / total;
  };
  if (ratio_after(0) <= bound) return 0;
  // The ratio falls until the first open slot is the fullest, and rises from there.
  double least = 0;
  double most = std::max(1.0, std::accumulate(rows.begin(), rows.end(), 0.0)) * slots;
  for (int turn = 0; turn < 200; ++turn) {
    const double left = least + (most - least) / 3;
    const double right = most - (most - least) / 3;
    if (ratio_after(left) <= ratio_after(right)) {
      most = right;
    } else {
      least = left;
    }
  }
  const double best = (least + most) / 2;
  if (ratio_after(best) > bound) return std::nullopt;
  double below = 0;
  double above = best;
  for (int turn = 0; turn < 100; ++turn) {
    const double middle = (below + above) / 2;
    (ratio_after(middle) <= bound ? above : below) = middle;
  }
  return above;
}

}  // namespace

std::vector<TableName> Steering::tables() const {
  std::vector<TableName> names;
  for (const auto& table : tables_) names.push_back({table->table().schema, table->table().name});
  return names;
}

// With the map as it is: the controller, which makes it anew, is told of in the remark.
Outlook Steering::outlook(TableSteering& table, const SlotWeights& weights) const {
  Outlook outlook;
  outlook.rows_per_second = table.rows_per_second();
  const auto proxies = std::max<size_t>(1, table.live_proxies(now()).size());
  outlook.ids_per_second_possible =
      table.parts().ids_per_second * weights.capacity() * static_cast<double>(proxies);
  const std::vector<double> rows = table.samples().rows();
  const double bound = table.bound();
  const Spread spread = spread_of(rows);
  if (spread.ratio <= bound) {
    outlook.rows_until_even = 0;
    outlook.until_even = std::chrono::seconds(0);
    outlook.remark = fmt::format("even: max/mean {:.4f}, bound {:.4f}", spread.ratio, bound);
    return outlook;
  }
  const bool remade = table.record().origin == Origin::automatic && !weights.identity();
  std::optional<double> wanted = rows_until_even(rows, weights, bound);
  if (!wanted && remade) {
    // Made anew as tables fill, it needs what the others lack.
    wanted = 0;
    for (const double each : rows) *wanted += std::max(0.0, spread.most / bound - each);
  }
  outlook.rows_until_even = wanted;
  if (outlook.rows_per_second < 0.01) {
    outlook.remark = "no rows arrive";
    return outlook;
  }
  if (!wanted) {
    outlook.remark = fmt::format("under this map max/mean does not come down to {:.4f}", bound);
    return outlook;
  }
  outlook.until_even = std::chrono::seconds(std::llround(*wanted / outlook.rows_per_second));
  outlook.remark = fmt::format("{:.0f} more rows at the present rate{}", *wanted,
                               remade ? ", while the map is made anew as tables fill" : "");
  return outlook;
}

std::vector<uint32_t> Steering::next_rows(const TableSteering& table, const SlotWeights& weights) const {
  // Ids come by the shares exactly; what is left of whole rows goes to the largest remainders.
  const uint32_t slots = table.slots();
  const std::vector<double> shares = weights.shares(slots);
  std::vector<uint32_t> rows(slots);
  std::vector<std::pair<double, rule::Slot>> rests;
  uint32_t given = 0;
  for (rule::Slot slot = 0; slot < slots; ++slot) {
    const double share = shares[slot] * dry_run_rows;
    rows[slot] = static_cast<uint32_t>(share);
    given += rows[slot];
    if (weights.of(slot) > 0) rests.emplace_back(share - rows[slot], slot);
  }
  std::sort(rests.begin(), rests.end(), [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  });
  for (size_t i = 0; given < dry_run_rows && !rests.empty(); ++i, ++given)
    ++rows[rests[i % rests.size()].second];
  return rows;
}

std::vector<std::string> Steering::remarks(TableSteering& table, const Planned& planned) const {
  std::vector<std::string> remarks;
  const SlotWeights& weights = planned.weights;
  const Observation seen = table.observe(now(), parts_.settings.sampling, seconds_ahead());
  if (planned.record.history.back().what == "mode") {
    const Decision next = decide(table.settings(), planned.record, seen, "dry run");
    remarks.push_back(next.record && !next.record->history.empty() ? next.record->history.back().reason
                                                                   : next.standing);
  }
  if (seen.ids_per_second < std::numeric_limits<double>::max()) {
    remarks.push_back(fmt::format(
        "capacity: {:.0f} ids a second and proxy, {:.0f} % of {:.0f}; the busiest proxy drew {:.0f} lately",
        seen.ids_per_second * weights.capacity(), weights.capacity() * 100, seen.ids_per_second,
        seen.peak_per_second));
  }
  for (const uint64_t size : batch_sizes) {
    const uint64_t outside = rows_outside(weights, *table.table().algorithm, size);
    if (outside == 0) continue;
    remarks.push_back(fmt::format(
        "a batch of {} rows (batch: consecutive) puts at least {} of them into tables that get no others",
        size, outside));
  }
  const uint32_t known = table.samples().known(Source::exact);
  if (known < table.slots())
    remarks.push_back(
        fmt::format("{} of {} tables have been counted; the sizes of the others are estimates or not known",
                    known, table.slots()));
  return remarks;
}

Result<TableFigures> Steering::figures(const TableName& name) const {
  const std::lock_guard lock(mutex_);
  EVENKEEL_ASSIGN(TableSteering * table, find(name));
  const int64_t at = now();
  TableFigures out;
  out.name = {table->table().schema, table->table().name};
  out.at = wall(at);
  const std::vector<double> rows = table->samples().rows();
  const std::vector<double> bytes = table->samples().bytes();
  for (rule::Slot slot = 0; slot < table->slots(); ++slot) {
    const Figure figure = table->samples().at(slot);
    SlotFigures each;
    each.rows = static_cast<uint64_t>(std::llround(rows[slot]));
    each.bytes = static_cast<uint64_t>(std::llround(bytes[slot]));
    each.source = source_of(figure);
    if (figure.sampled_unix_ms > 0)
      each.age = std::chrono::seconds(std::max<int64_t>(0, at - figure.sampled_unix_ms) / 1000);
    each.inserted = static_cast<uint64_t>(std::max<int64_t>(0, table->ledger().inserted()[slot]));
    out.slots.push_back(each);
  }
  out.by_rows = uneven(spread_of(rows));
  out.by_bytes = uneven(spread_of(bytes));
  out.bound = table->bound();
  out.not_steerable_because = table->parts().inapplicable;
  const SteeringRecord& record = table->record();
  const Mode mode = mode_of(table->settings(), record);
  out.mode = record.origin == Origin::ordered ? SteeringMode::ordered
             : mode == Mode::automatic        ? SteeringMode::automatic
             : mode == Mode::advise           ? SteeringMode::advise
                                              : SteeringMode::off;
  out.map.version = record.map_version;
  out.map.capacity = table->applied().capacity();
  if (table->steers()) {
    out.map.weights = table->applied().by_slot;
    if (record.since_unix_ms != 0) out.map.since = wall(record.since_unix_ms);
    if (record.until_unix_ms != 0) out.map.until = wall(record.until_unix_ms);
    for (const Change& change : record.history) {
      if (change.map_version != record.map_version) continue;
      out.map.ordered_by = change.who;
      out.map.reason = change.reason;
    }
  }
  out.outlook = outlook(*table, table->applied());
  for (const auto& [proxy, counts] : table->live_proxies(at)) {
    out.proxies.push_back({counts->by, counts->map_version});
  }
  return out;
}

Result<std::vector<SkewPoint>> Steering::skew_over_time(const TableName& name) const {
  const std::lock_guard lock(mutex_);
  EVENKEEL_ASSIGN(const TableSteering* table, find(name));
  return table->history().points();
}

Result<DryRunFigures> Steering::dry_run_figures(const SteerOrder& order) const {
  const std::lock_guard lock(mutex_);
  EVENKEEL_ASSIGN(const Planned planned, plan(order));
  DryRunFigures out;
  out.next_rows = next_rows(*planned.table, planned.weights);
  out.weights = planned.weights.by_slot;
  out.outlook = outlook(*planned.table, planned.weights);
  out.remarks = remarks(*planned.table, planned);
  return out;
}

}  // namespace evenkeel::skew
