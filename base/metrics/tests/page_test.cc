#include "base/metrics/page.h"

#include <gtest/gtest.h>

namespace evenkeel::metrics {
namespace {

using namespace std::chrono_literals;

TEST(Page, IsPrometheusText) {
  Page page;
  page.counter("a_total", "As.", {{"kind", "x\"y"}}, 3);
  page.gauge("b", "Bs.", {}, 0.5);
  page.counter("a_total", "", {{"kind", "z"}}, 4);
  const std::string text = page.text();
  EXPECT_EQ(text,
            "# HELP a_total As.\n# TYPE a_total counter\na_total{kind=\"x\\\"y\"} 3\na_total{kind=\"z\"} 4\n"
            "# HELP b Bs.\n# TYPE b gauge\nb 0.5\n");
}

TEST(Page, LatenciesAreCumulative) {
  LatencyHistogram histogram;
  for (const auto took : {10us, 50us, 51us, 70'000'000us}) histogram.add(took);
  histogram.add(-1us);
  const LatencyCounts counts = histogram.read();
  EXPECT_EQ(counts.count(), 5);
  EXPECT_EQ(counts.buckets[0], 3);
  EXPECT_EQ(counts.buckets[1], 1);
  EXPECT_EQ(counts.buckets.back(), 1);
  EXPECT_EQ(counts.micros, 70'000'111);
  EXPECT_EQ(counts.quantile_micros(0.5), 50);
  EXPECT_EQ(counts.quantile_micros(0.8), 100);
  EXPECT_EQ(LatencyCounts().quantile_micros(0.5), 0);
  Page page;
  page.latency("t_seconds", "Ts.", {}, counts);
  const std::string text = page.text();
  EXPECT_NE(text.find("t_seconds_bucket{le=\"5e-05\"} 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("t_seconds_bucket{le=\"+Inf\"} 5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("t_seconds_count 5\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace evenkeel::metrics
