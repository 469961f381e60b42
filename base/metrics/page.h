// What a Prometheus server reads: families of samples, gathered anew for each request.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics/histogram.h"

namespace evenkeel::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

inline constexpr const char* page_content_type = "text/plain; version=0.0.4; charset=utf-8";

// One thread. Samples of one name need not stand together.
class Page {
 public:
  Page();
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  // `help` of the first sample of a name counts. Counters end in "_total".
  void counter(const std::string& name, const std::string& help, const Labels& labels, double value);
  void gauge(const std::string& name, const std::string& help, const Labels& labels, double value);
  // In seconds, as Prometheus wants them; the name ends in "_seconds".
  void latency(const std::string& name, const std::string& help, const Labels& labels,
               const LatencyCounts& counts);

  // In Prometheus' text format, the families in the order of their first sample.
  std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace evenkeel::metrics
