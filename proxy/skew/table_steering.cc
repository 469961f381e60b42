#include "proxy/skew/table_steering.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evenkeel::skew {
namespace {

constexpr double smoothing = 0.3;
constexpr double peak_half_life_ms = 180'000;
// A proxy that has not been heard of for so long is not counted among those that run.
constexpr int64_t silence_ms = 30'000;

}  // namespace

void Rate::read(double total, int64_t unix_ms) {
  if (begun_ && unix_ms > unix_ms_ && total >= total_) {
    const auto elapsed = static_cast<double>(unix_ms - unix_ms_);
    const double here = (total - total_) * 1000 / elapsed;
    now_ += (here - now_) * smoothing;
    peak_ = std::max(here, peak_ * std::exp2(-elapsed / peak_half_life_ms));
  }
  if (!begun_ || unix_ms != unix_ms_) {
    begun_ = true;
    total_ = total;
    unix_ms_ = unix_ms;
  }
}

void SkewHistory::add(const SkewPoint& point) {
  const auto ms = [](const SkewPoint& p) { return p.at.time_since_epoch().count(); };
  if (!points_.empty() && points_.back().steering == point.steering &&
      ms(point) - ms(points_.back()) < least_distance_ms_)
    return;
  points_.push_back(point);
  if (points_.size() <= points_max) return;
  size_t kept = 0;
  for (size_t i = 0; i < points_.size(); i += 2) points_[kept++] = points_[i];
  points_.resize(kept);
  least_distance_ms_ *= 2;
}

TableSteering::TableSteering(SteeredTable parts, const SamplingSettings& sampling,
                             const std::vector<std::string>& instances, std::string process,
                             int64_t began_unix_ms)
    : parts_(std::move(parts)),
      instances_(instances),
      name_(parts_.table->schema + "." + parts_.table->name),
      began_unix_ms_(began_unix_ms),
      ledger_(parts_.table->slot_count(), began_unix_ms),
      samples_(parts_.table->slot_count(), sampling.estimate_error),
      inserted_before_(parts_.table->slot_count(), 0),
      slot_rates_(parts_.table->slot_count(), 0) {
  own_.by = std::move(process);
  own_.since_unix_ms = began_unix_ms;
  take_own_counts(began_unix_ms);
}

void TableSteering::set_proxy(const std::string& number) {
  ledger_.rename(proxy_, number);
  proxy_ = number;
}

void TableSteering::take_own_counts(int64_t now_unix_ms) {
  own_.unix_ms = std::max(now_unix_ms, own_.unix_ms + 1);
  own_.map_version = record_.map_version;
  own_.rows = parts_.traffic->rows().snapshot();
  own_.inserted = parts_.traffic->inserted().snapshot();
  own_.ids = parts_.ids ? parts_.ids() : 0;
  own_.rows_outside = parts_.rows_outside ? parts_.rows_outside() : 0;
  const int64_t inserted = std::accumulate(own_.inserted.begin(), own_.inserted.end(), int64_t{0});
  rate_.read(static_cast<double>(std::max<uint64_t>(own_.ids, static_cast<uint64_t>(inserted))), now_unix_ms);
  own_.ids_per_second = rate_.now();
  own_.peak_per_second = rate_.peak();
  ledger_.note(proxy_, own_);
  for (const rule::Slot slot : parts_.traffic->take_doubts()) samples_.doubt(slot);
  samples_.set_counted(ledger_.rows());
  note_rates(now_unix_ms);
}

void TableSteering::note_counts(const std::string& proxy, const CountsRecord& counts) {
  if (proxy == proxy_) return;
  ledger_.note(proxy, counts);
  samples_.set_counted(ledger_.rows());
}

void TableSteering::note_rates(int64_t now_unix_ms) {
  const auto inserted = ledger_.inserted();
  const auto elapsed = static_cast<double>(now_unix_ms - rates_unix_ms_);
  if (rates_unix_ms_ != 0 && elapsed < 500) return;
  for (rule::Slot slot = 0; slot < slots(); ++slot) {
    if (rates_unix_ms_ != 0) {
      const double here = static_cast<double>(inserted[slot] - inserted_before_[slot]) * 1000 / elapsed;
      slot_rates_[slot] += (here - slot_rates_[slot]) * smoothing;
    }
    inserted_before_[slot] = inserted[slot];
  }
  rates_unix_ms_ = now_unix_ms;
  const Spread by_rows = spread_of(samples_.rows());
  const Spread by_bytes = spread_of(samples_.bytes());
  history_.add({WallTime(std::chrono::milliseconds(now_unix_ms)), by_rows.ratio, by_bytes.ratio,
                by_rows.variation, steers()});
}

void TableSteering::take_sizes(const SizesRecord& sizes, bool measures_itself) {
  if (sizes.figures.size() != slots()) return;
  for (rule::Slot slot = 0; slot < slots(); ++slot) {
    if (measures_itself && samples_.at(slot).source != Source::none) continue;
    samples_.restore(slot, sizes.figures[slot]);
    // What came in meanwhile was perhaps not counted.
    if (measures_itself) samples_.doubt(slot);
  }
  if (!measures_itself) standing_ = sizes.standing;
}

SizesRecord TableSteering::sizes(int64_t now_unix_ms, const std::string& by) const {
  SizesRecord sizes;
  sizes.unix_ms = now_unix_ms;
  sizes.by = by;
  sizes.standing = standing_;
  const std::vector<double> bytes = samples_.bytes();
  for (rule::Slot slot = 0; slot < slots(); ++slot) {
    sizes.figures.push_back(samples_.at(slot));
    sizes.figures.back().bytes = bytes[slot];
  }
  return sizes;
}

int64_t TableSteering::counted(rule::Slot slot) const {
  // What this process counted since it last looked belongs to it.
  return ledger_.rows()[slot] + parts_.traffic->rows().rows(slot) - own_.rows[slot];
}

void TableSteering::take_record(SteeringRecord record, uint64_t version) {
  record_ = std::move(record);
  record_version_ = version;
}

Status TableSteering::obey(int64_t now_unix_ms) {
  if (!steerable() || !parts_.set_map) return {};
  const SlotWeights wanted = in_force(record_, now_unix_ms) ? record_.weights : SlotWeights{};
  if (obeyed_ && wanted == applied_) {
    aim_batches();
    return {};
  }
  EVENKEEL_ASSIGN(idgen::SteeringMap map, compile(wanted, *table().algorithm));
  EVENKEEL_TRY(parts_.set_map(std::move(map)));
  applied_ = wanted;
  obeyed_ = true;
  aim_batches();
  return {};
}

// A batch first of all keeps to slots that are open, and among equal runs takes the one that is most wanted.
void TableSteering::aim_batches() {
  if (applied_.identity()) return parts_.traffic->set_aim({}, {}, 0);
  std::vector<uint64_t> lacks = deficits_of(samples_.rows());
  std::vector<bool> open(slots());
  uint64_t sum = 0;
  for (rule::Slot slot = 0; slot < slots(); ++slot) {
    open[slot] = applied_.of(slot) > 0;
    if (open[slot]) sum += lacks[slot];
  }
  parts_.traffic->set_aim(std::move(lacks), std::move(open),
                          1 + sum * std::max<uint64_t>(1, applied_.levels));
}

std::vector<double> TableSteering::judged() const {
  return settings().by == Measure::rows ? samples_.rows() : samples_.bytes();
}

double TableSteering::bound() const {
  return std::max(settings().lower, noise_floor(spread_of(samples_.rows()).mean));
}

std::vector<std::pair<std::string, const CountsRecord*>> TableSteering::live_proxies(
    int64_t now_unix_ms) const {
  std::vector<std::pair<std::string, const CountsRecord*>> live;
  for (const auto& [proxy, counts] : ledger_.proxies()) {
    if (proxy == proxy_ || counts.unix_ms + silence_ms > now_unix_ms) live.emplace_back(proxy, &counts);
  }
  return live;
}

double TableSteering::rows_per_second() const {
  double sum = 0;
  for (const auto& [proxy, counts] : live_proxies(own_.unix_ms)) sum += counts->ids_per_second;
  return sum;
}

double TableSteering::peak_per_second() const {
  double most = 0;
  for (const auto& [proxy, counts] : live_proxies(own_.unix_ms))
    most = std::max(most, counts->peak_per_second);
  return most;
}

Observation TableSteering::observe(int64_t now_unix_ms, const SamplingSettings& sampling,
                                   double seconds_ahead) {
  rows_ = samples_.rows();
  judged_ = judged();
  errors_.resize(slots());
  for (rule::Slot slot = 0; slot < slots(); ++slot) {
    const Figure figure = samples_.at(slot);
    const double part = figure.rows > 0 ? figure.error / figure.rows : 0;
    errors_[slot] = part * judged_[slot];
  }
  Observation seen;
  seen.now_unix_ms = now_unix_ms;
  seen.rows = rows_;
  seen.figures = judged_;
  seen.errors = errors_;
  seen.tables_are_counted = sampling.exact_interval.count() > 0;
  seen.counted = samples_.known(Source::exact);
  seen.rows_per_second = rows_per_second();
  seen.peak_per_second = peak_per_second();
  seen.ids_per_second = parts_.ids_per_second;
  seen.levels = parts_.levels;
  seen.seconds_ahead = seconds_ahead;
  return seen;
}

Decision TableSteering::look(int64_t now_unix_ms, const SamplingSettings& sampling, double seconds_ahead,
                             std::string_view who) {
  return decide(settings(), record_, observe(now_unix_ms, sampling, seconds_ahead), who);
}

}  // namespace evenkeel::skew
