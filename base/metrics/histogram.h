// How long things took, counted without locks: one thread writes, any thread reads.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace evenkeel::metrics {

// Upper bounds in microseconds, a factor of about 2.2 apart; one more bucket holds what is longer.
inline constexpr std::array<uint32_t, 16> latency_bounds = {
    50,     100,    250,     500,     1'000,     2'500,     5'000,      10'000,
    25'000, 50'000, 100'000, 250'000, 1'000'000, 2'500'000, 10'000'000, 60'000'000};

// A plain value; sums of several threads' histograms are formed by +=.
struct LatencyCounts {
  std::array<uint64_t, latency_bounds.size() + 1> buckets{};
  uint64_t micros = 0;  // sum of all

  uint64_t count() const {
    uint64_t sum = 0;
    for (const uint64_t bucket : buckets) sum += bucket;
    return sum;
  }
  LatencyCounts& operator+=(const LatencyCounts& other) {
    for (size_t i = 0; i < buckets.size(); ++i) buckets[i] += other.buckets[i];
    micros += other.micros;
    return *this;
  }
  // The bound below which the given part (0..1) lies; 0 when nothing was counted.
  uint64_t quantile_micros(double part) const {
    const uint64_t total = count();
    uint64_t seen = 0;
    for (size_t i = 0; i < latency_bounds.size(); ++i) {
      seen += buckets[i];
      if (total > 0 && static_cast<double>(seen) >= part * static_cast<double>(total))
        return latency_bounds[i];
    }
    return total == 0 ? 0 : latency_bounds.back();
  }
  bool operator==(const LatencyCounts&) const = default;
};

class LatencyHistogram {
 public:
  void add(std::chrono::nanoseconds took) {
    const auto micros = static_cast<uint64_t>(took.count() < 0 ? 0 : took.count() / 1000);
    size_t bucket = 0;
    while (bucket < latency_bounds.size() && micros > latency_bounds[bucket]) ++bucket;
    raise(buckets_[bucket], 1);
    raise(micros_, micros);
  }
  LatencyCounts read() const {
    LatencyCounts out;
    for (size_t i = 0; i < buckets_.size(); ++i) out.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
    out.micros = micros_.load(std::memory_order_relaxed);
    return out;
  }

 private:
  // One writer, so no locked instruction.
  static void raise(std::atomic<uint64_t>& counter, uint64_t by) {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<std::atomic<uint64_t>, latency_bounds.size() + 1> buckets_{};
  std::atomic<uint64_t> micros_{0};
};

}  // namespace evenkeel::metrics
