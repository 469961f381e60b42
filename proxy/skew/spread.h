// How uneven a set of figures is.
#pragma once

#include <cstddef>
#include <span>

namespace evenkeel::skew {

// A plain value; all 0 (ratio 1) for figures that are all 0.
struct Spread {
  size_t parts = 0;
  double total = 0;
  double mean = 0;
  double most = 0;
  double fewest = 0;
  double ratio = 1;      // most / mean
  double variation = 0;  // coefficient of variation: standard deviation / mean
};

Spread spread_of(std::span<const double> figures);

// Below this ratio the fullest of so many random draws cannot be told from chance: 1 + 4 / sqrt(mean rows).
// The fullest of even 65,536 tables lies 4.2 standard deviations above the mean of a Poisson draw. Infinite
// for an empty table.
double noise_floor(double mean_rows);

}  // namespace evenkeel::skew
