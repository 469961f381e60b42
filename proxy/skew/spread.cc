#include "proxy/skew/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace evenkeel::skew {

Spread spread_of(std::span<const double> figures) {
  Spread found;
  found.parts = figures.size();
  if (figures.empty()) return found;
  for (const double figure : figures) found.total += figure;
  found.mean = found.total / static_cast<double>(figures.size());
  found.most = *std::max_element(figures.begin(), figures.end());
  found.fewest = *std::min_element(figures.begin(), figures.end());
  if (found.mean <= 0) return found;
  double squares = 0;
  for (const double figure : figures) squares += (figure - found.mean) * (figure - found.mean);
  found.ratio = found.most / found.mean;
  found.variation = std::sqrt(squares / static_cast<double>(figures.size())) / found.mean;
  return found;
}

double noise_floor(double mean_rows) {
  if (mean_rows <= 0) return std::numeric_limits<double>::infinity();
  return 1 + 4 / std::sqrt(mean_rows);
}

}  // namespace evenkeel::skew
