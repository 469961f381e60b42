// How long statements took, and the shapes of those that took long. Of one event loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/metrics/histogram.h"

namespace evenkeel::session {

enum class StatementClass : uint8_t { read, write, other };
inline constexpr size_t statement_classes = 3;
std::string_view to_string(StatementClass statement_class);

// One shape, literals left out.
struct SlowShape {
  std::string fingerprint;
  std::string schema;
  uint64_t count = 0;
  uint64_t total_micros = 0;
  uint64_t longest_micros = 0;
  int64_t last_unix_ms = 0;
};

// Cut to at most `bytes`, not in the middle of a character of UTF-8.
std::string cut_text(std::string text, size_t bytes);

// One thread writes and reads it.
class SlowLog {
 public:
  // Beyond it the shape that took least in all is forgotten.
  static constexpr size_t shapes_max = 128;
  // A fingerprint is cut here.
  static constexpr size_t fingerprint_max = 1024;

  void note(std::string fingerprint, const std::string& schema, std::chrono::microseconds took,
            int64_t unix_ms);
  // The most time in all first.
  std::vector<SlowShape> shapes() const;

 private:
  std::unordered_map<std::string, SlowShape> shapes_;  // by schema and fingerprint
};

// Histograms may be read by any thread, `slow` by the loop's own.
struct Timings {
  metrics::LatencyHistogram latency[statement_classes];
  SlowLog slow;
};

}  // namespace evenkeel::session
