// The key generator whose ids come in segments from a store: one store call for thousands of ids, none of
// them on the path of a draw.
//
// It keeps the segment in use and the next one. A loader (segment_loader.h) fetches; this class says when it
// wants to be served, and hands out. Ids are unique because the store gives each number to one generator, and
// the cursor gives each offset to one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "idgen/generator.h"
#include "idgen/segment/segment_cursor.h"
#include "idgen/settings.h"
#include "idgen/thread_seats.h"

namespace evenkeel::idgen {

// Ids first .. last, from one allocator, as the store gave them.
struct Segment {
  uint64_t first = 0;
  uint64_t last = 0;
  uint32_t allocator = 0;  // its position in the settings

  uint32_t count() const { return static_cast<uint32_t>(last - first + 1); }
};

// What the loader is wanted for.
struct SegmentWish {
  bool load = false;
  // The largest batch that has to fit one segment.
  uint32_t at_least = 1;
  // Clients' own ids that the store must be told of first.
  std::vector<uint64_t> explicit_ids;
};

class SegmentGenerator final : public KeyGenerator {
 public:
  struct Parts {
    GeneratorSettings settings;  // checked by check_settings
    std::string table;           // the logical table, for messages
    uint32_t slots = 1;
    const Clock* clock = nullptr;  // outlives this
    uint64_t seed = 0;             // keys of the shuffle
    // Called, by any thread and often, when wish() may have changed; must not block.
    std::function<void()> wake;
  };

  static Result<std::unique_ptr<SegmentGenerator>> create(Parts parts);
  ~SegmentGenerator() override = default;

  // Ids ascend within a segment unless it is shuffled. When no id is at hand the wait is a few milliseconds;
  // when that has gone on for max_wait the error, of kind registry, names the store's last one.
  Result<DrawnKeys> draw(const KeyDemand& demand, std::span<uint64_t> keys) override;
  bool counts_up() const override { return true; }
  Result<KeyWait> admit_explicit(std::span<const uint64_t> ids) override;

  // Maps apply within segments: the next id is the smallest one above the cursor that the map permits.
  Status set_map(SteeringMap map) override;
  std::shared_ptr<const SteeringMap> map() const override;

  // What was not used can be asked for by leftovers() afterwards.
  void close() override;

  Status ready() const override;
  Counters counters() const override;
  const std::string& table() const override { return parts_.table; }
  uint32_t slots() const override { return parts_.slots; }

  // For the loader, on its thread.

  // What it should do now. `latency` is what a call to the store takes at its slowest. Not wanted at present:
  // the generator calls `wake` when enough has been used to ask again.
  SegmentWish wish(std::chrono::nanoseconds latency);
  void deliver(const Segment& segment);
  // The row of `allocator` was told of `ids`; all numbers of it up to `number` are protected.
  void protected_now(std::span<const uint64_t> ids, uint32_t allocator, uint64_t number);
  // Nothing fetched so far may be used any more.
  void drop_segments();
  // For the messages of draws that have to give up; cleared by the next deliver().
  void report(const Error& error);
  // After close(): what may be given back, the segment fetched last at the front.
  std::vector<Segment> leftovers();

 private:
  // What one thread keeps of this generator.
  struct Seat {
    uint64_t map_version = 0;
    std::shared_ptr<const SteeringMap> map;
    // Ids put by: offsets block_next .. block_end-1 of `block`, valid while the cursor's stamp is the same.
    uint64_t stamp = 0;
    SegmentView block;
    uint32_t block_next = 0;
    uint32_t block_end = 0;
    LiveCounters counters;
  };
  enum class Supply : uint8_t { again, none };

  explicit SegmentGenerator(Parts parts);
  bool draw_from_block(Seat& seat, uint64_t& key);
  uint32_t draw_in_order(std::span<uint64_t> keys);
  uint32_t draw_permitted(const Seat& seat, std::span<const uint32_t> row_slots, std::span<uint64_t> keys);
  uint32_t draw_run(Seat& seat, const KeyDemand& demand, std::span<uint64_t> keys);
  void note_taken(const TakenOffsets& taken);
  Supply next_segment(uint32_t at_least);
  void use_next();
  void starve();
  Result<KeyWait> wait_or_refuse(std::chrono::nanoseconds since, std::string_view why) const;
  std::string store_names() const;
  bool admit_within_segments(uint64_t id);
  uint32_t prefetch_at() const;
  uint32_t next_mark(uint32_t used) const;
  uint32_t allocator_of(uint64_t id) const;
  uint64_t number_of(uint64_t id) const { return id & number_mask_; }
  Error refusal(ErrorKind kind, std::string_view why) const;

  const Parts parts_;
  const uint64_t number_mask_;
  SegmentCursor cursor_;
  ThreadSeats<Seat> seats_;
  std::atomic<uint64_t> map_version_{1};
  std::atomic<bool> closed_{false};

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const SteeringMap> map_;
  SeededRandom random_;
  std::deque<Segment> ready_;
  std::optional<Segment> in_use_;
  std::chrono::nanoseconds in_use_since_{0};
  double ids_per_ns_ = 0;  // of the last segment
  uint32_t largest_batch_ = 1;
  // Since when draws have been waiting for a segment, or statements for an explicit id; 0: none has.
  std::chrono::nanoseconds starved_since_{0};
  std::chrono::nanoseconds explicit_since_{0};
  std::set<uint64_t> explicit_ids_;          // to be told to the store
  std::vector<uint64_t> protected_numbers_;  // by allocator
  std::optional<Error> last_error_;
  uint32_t last_offset_ = 0;  // where the segment in use was left by close()
};

}  // namespace evenkeel::idgen
