// What a generator of kind `segment` is configured with, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::idgen {

// One allocator: a server whose table of segments numbers are taken from, and the prefix of its ids.
struct SegmentAllocator {
  std::string host;
  uint16_t port = 3306;
  std::string user;
  std::string password;
  std::string database = "evenkeel";  // must exist; the table in it is made when it is missing
  std::string table = "evenkeel_segment";
  uint32_t prefix = 0;
};

struct SegmentSettings {
  static constexpr uint32_t step_most = 1'000'000;

  // In the order of preference: the first one that answers gives the next segment. Two of them with different
  // prefixes on different servers mean that the loss of one stops nothing.
  std::vector<SegmentAllocator> allocators;
  // An id is prefix | number, `id_bits` long together. 53 keeps ids exact in JavaScript.
  uint8_t prefix_bits = 0;
  uint8_t id_bits = 63;
  // Ids fetched at once: the first time, and the bounds between which it follows the rate.
  uint32_t step = 1'000;
  uint32_t step_min = 100;
  uint32_t step_max = step_most;
  // How long a segment should last at the present rate.
  int64_t target_duration_ms = 30'000;
  // The next segment is fetched when so much of the present one has been USED (0.9: at 90 % used, 10 % left),
  // or earlier when what is left would last less than five times as long as the store needs.
  double prefetch_used_ratio = 0.9;
  // Gives the ids of a segment in a random order, so that two ids do not tell how many rows lie between them.
  bool shuffle = false;
  // Each thread takes so many ids at once (0: none), which is faster; ids of different threads then no longer
  // ascend together.
  uint32_t thread_block = 0;
  // A draw that has to wait longer than this for a segment is an error.
  int64_t max_wait_ms = 5'000;
  // No call to a store takes longer than about this.
  int64_t timeout_ms = 2'000;
};

// What is wrong with the settings, one sentence each. `consecutive`: multi-row INSERTs want consecutive ids.
std::vector<std::string> check_segment(const SegmentSettings& settings, bool consecutive);

}  // namespace evenkeel::idgen
