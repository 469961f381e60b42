// What is known of the size of each actual table of one logical table, how it is known, and how old it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "router/rule/algorithm.h"

namespace evenkeel::skew {

// Where a figure comes from: nothing is known; InnoDB's own estimate; COUNT(*).
enum class Source : uint8_t { none, estimate, exact };
std::string_view to_string(Source source);
std::optional<Source> parse_source(std::string_view text);

// Rows are the sample, carried forward by what the proxies have counted since.
struct Figure {
  double rows = 0;
  double bytes = 0;  // 0: not known
  Source source = Source::none;
  int64_t sampled_unix_ms = 0;
  int64_t counted_since = 0;  // rows put in less rows taken out, since the sample
  double error = 0;           // what `rows` may be wrong by, in rows

  bool operator==(const Figure&) const = default;
};

// One thread at a time. "Counted" are the sums that CountLedger keeps: they only have to be those of one
// ledger.
class Samples {
 public:
  // `estimate_error`: what InnoDB's estimates may be wrong by, as a part of them.
  Samples(uint32_t slots, double estimate_error);

  // For what is read from now on.
  void set_estimate_error(double estimate_error) { estimate_error_ = estimate_error; }

  uint32_t slots() const { return static_cast<uint32_t>(samples_.size()); }
  void set_counted(std::span<const int64_t> totals);

  // `counted`: the slot's sum as it stood when the count began.
  void note_exact(rule::Slot slot, uint64_t rows, int64_t unix_ms, int64_t counted);
  // An estimate never moves a figure that rests on a count: where it differs by more than estimates do, the
  // slot is due for a new count. Without one it moves the figure only when it differs by more than it may be
  // wrong by, so that a figure does not swing with every reading of the estimates.
  void note_estimate(rule::Slot slot, uint64_t rows, uint64_t bytes, int64_t unix_ms);
  // Something changed that could not be counted: due for a new count.
  void doubt(rule::Slot slot) { samples_[slot].doubted = true; }
  // It could not be counted: not due again before `retry_unix_ms`.
  void note_failure(rule::Slot slot, int64_t retry_unix_ms) { samples_[slot].retry_unix_ms = retry_unix_ms; }
  // What another proxy knew, as of now.
  void restore(rule::Slot slot, const Figure& figure);

  Figure at(rule::Slot slot) const;
  std::vector<double> rows() const;
  // Bytes; those of a slot that no estimate was read for are rows times the mean row's bytes.
  std::vector<double> bytes() const;
  // Slots whose figure has at least this source.
  uint32_t known(Source source) const;
  // The sample that is oldest; 0 when a slot has none.
  int64_t oldest_sample() const;

  // The slot that most needs a count: never counted, then doubted (but not
  // more often than every tenth of `interval_ms`), then the oldest beyond `interval_ms`.
  std::optional<rule::Slot> due(int64_t now_unix_ms, int64_t interval_ms) const;

 private:
  struct Sample {
    double rows = 0;
    double row_bytes = 0;
    Source source = Source::none;
    int64_t unix_ms = 0;
    int64_t counted = 0;  // the slot's sum then
    bool doubted = false;
    int64_t retry_unix_ms = 0;
  };

  double rows_at(rule::Slot slot) const;

  double estimate_error_;
  std::vector<Sample> samples_;
  std::vector<int64_t> counted_;
};

}  // namespace evenkeel::skew
