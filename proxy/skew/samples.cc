#include "proxy/skew/samples.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::skew {

std::string_view to_string(Source source) {
  switch (source) {
    case Source::none:
      return "none";
    case Source::estimate:
      return "estimate";
    case Source::exact:
      return "count";
  }
  return "none";
}

std::optional<Source> parse_source(std::string_view text) {
  for (const Source source : {Source::none, Source::estimate, Source::exact}) {
    if (text == to_string(source)) return source;
  }
  return std::nullopt;
}

Samples::Samples(uint32_t slots, double estimate_error)
    : estimate_error_(estimate_error), samples_(slots), counted_(slots, 0) {}

void Samples::set_counted(std::span<const int64_t> totals) { counted_.assign(totals.begin(), totals.end()); }

double Samples::rows_at(rule::Slot slot) const {
  const Sample& sample = samples_[slot];
  return std::max(0.0, sample.rows + static_cast<double>(counted_[slot] - sample.counted));
}

void Samples::note_exact(rule::Slot slot, uint64_t rows, int64_t unix_ms, int64_t counted) {
  Sample& sample = samples_[slot];
  sample.rows = static_cast<double>(rows);
  sample.source = Source::exact;
  sample.unix_ms = unix_ms;
  sample.counted = counted;
  sample.doubted = false;
}

void Samples::note_estimate(rule::Slot slot, uint64_t rows, uint64_t bytes, int64_t unix_ms) {
  Sample& sample = samples_[slot];
  const auto estimate = static_cast<double>(rows);
  const double carried = rows_at(slot);
  // A page of rows may be missing from either without meaning anything.
  const double tolerated = estimate_error_ * std::max(carried, estimate) + 200;
  const bool differs = std::abs(estimate - carried) > tolerated;
  if (sample.source == Source::exact) {
    if (differs) sample.doubted = true;
  } else if (sample.source == Source::none || differs) {
    sample.rows = estimate;
    sample.source = Source::estimate;
    sample.unix_ms = unix_ms;
    sample.counted = counted_[slot];
  } else {
    // It bears the figure out.
    sample.rows = carried;
    sample.counted = counted_[slot];
    sample.unix_ms = unix_ms;
  }
  const double of_rows = rows_at(slot);
  sample.row_bytes = of_rows > 0 ? static_cast<double>(bytes) / of_rows : 0;
}

void Samples::restore(rule::Slot slot, const Figure& figure) {
  Sample& sample = samples_[slot];
  sample.rows = figure.rows;
  sample.row_bytes = figure.rows > 0 ? figure.bytes / figure.rows : 0;
  sample.source = figure.source;
  sample.unix_ms = figure.sampled_unix_ms;
  sample.counted = counted_[slot];
}

Figure Samples::at(rule::Slot slot) const {
  const Sample& sample = samples_[slot];
  Figure figure;
  figure.rows = rows_at(slot);
  figure.bytes = figure.rows * sample.row_bytes;
  figure.source = sample.source;
  figure.sampled_unix_ms = sample.unix_ms;
  figure.counted_since = counted_[slot] - sample.counted;
  switch (sample.source) {
    case Source::none:
      figure.error = figure.rows;
      break;
    case Source::estimate:
      figure.error = sample.rows * estimate_error_;
      break;
    case Source::exact:
      break;
  }
  return figure;
}

std::vector<double> Samples::rows() const {
  std::vector<double> all(slots());
  for (rule::Slot slot = 0; slot < slots(); ++slot) all[slot] = rows_at(slot);
  return all;
}

std::vector<double> Samples::bytes() const {
  double known_rows = 0;
  double known_bytes = 0;
  for (rule::Slot slot = 0; slot < slots(); ++slot) {
    if (samples_[slot].row_bytes <= 0) continue;
    known_rows += rows_at(slot);
    known_bytes += rows_at(slot) * samples_[slot].row_bytes;
  }
  const double mean_row = known_rows > 0 ? known_bytes / known_rows : 0;
  std::vector<double> all(slots());
  for (rule::Slot slot = 0; slot < slots(); ++slot) {
    const double row = samples_[slot].row_bytes > 0 ? samples_[slot].row_bytes : mean_row;
    all[slot] = rows_at(slot) * row;
  }
  return all;
}

uint32_t Samples::known(Source source) const {
  return static_cast<uint32_t>(
      std::count_if(samples_.begin(), samples_.end(), [&](const Sample& s) { return s.source >= source; }));
}

int64_t Samples::oldest_sample() const {
  int64_t oldest = samples_.empty() ? 0 : samples_.front().unix_ms;
  for (const Sample& sample : samples_) oldest = std::min(oldest, sample.unix_ms);
  return oldest;
}

std::optional<rule::Slot> Samples::due(int64_t now_unix_ms, int64_t interval_ms) const {
  std::optional<rule::Slot> doubted;
  std::optional<rule::Slot> oldest;
  for (rule::Slot slot = 0; slot < slots(); ++slot) {
    const Sample& sample = samples_[slot];
    if (now_unix_ms < sample.retry_unix_ms) continue;
    if (sample.source != Source::exact) return slot;
    if (sample.doubted && !doubted && now_unix_ms - sample.unix_ms >= interval_ms / 10) doubted = slot;
    if (now_unix_ms - sample.unix_ms < interval_ms) continue;
    if (!oldest || sample.unix_ms < samples_[*oldest].unix_ms) oldest = slot;
  }
  return doubted ? doubted : oldest;
}

}  // namespace evenkeel::skew
