#include "base/metrics/page.h"

#include <algorithm>
#include <limits>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sstream>

namespace evenkeel::metrics {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Page::Families {
  std::vector<MetricFamily> all;

  ClientMetric& sample(const std::string& name, const std::string& help, MetricType type,
                       const Labels& labels) {
    auto found =
        std::find_if(all.begin(), all.end(), [&](const MetricFamily& family) { return family.name == name; });
    if (found == all.end()) {
      all.push_back(MetricFamily{name, help, type, {}});
      found = all.end() - 1;
    }
    ClientMetric& metric = found->metric.emplace_back();
    for (const auto& [label, value] : labels) metric.label.push_back({label, value});
    return metric;
  }
};

Page::Page() : families_(std::make_unique<Families>()) {}

Page::~Page() = default;

void Page::counter(const std::string& name, const std::string& help, const Labels& labels, double value) {
  families_->sample(name, help, MetricType::Counter, labels).counter.value = value;
}

void Page::gauge(const std::string& name, const std::string& help, const Labels& labels, double value) {
  families_->sample(name, help, MetricType::Gauge, labels).gauge.value = value;
}

void Page::latency(const std::string& name, const std::string& help, const Labels& labels,
                   const LatencyCounts& counts) {
  constexpr double micros_per_second = 1e6;
  auto& histogram = families_->sample(name, help, MetricType::Histogram, labels).histogram;
  histogram.sample_sum = static_cast<double>(counts.micros) / micros_per_second;
  uint64_t seen = 0;
  for (size_t i = 0; i < counts.buckets.size(); ++i) {
    seen += counts.buckets[i];
    ClientMetric::Bucket bucket;
    bucket.cumulative_count = seen;
    bucket.upper_bound = i < latency_bounds.size() ? latency_bounds[i] / micros_per_second
                                                   : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back(bucket);
  }
  histogram.sample_count = seen;
}

std::string Page::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families_->all);
  return out.str();
}

}  // namespace evenkeel::metrics
