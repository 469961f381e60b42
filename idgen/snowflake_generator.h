// The key generator whose ids are time | worker | sequence.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "idgen/clock_guard.h"
#include "idgen/gene.h"
#include "idgen/generator.h"
#include "idgen/lane.h"
#include "idgen/settings.h"
#include "idgen/snowflake.h"
#include "idgen/steering_map.h"
#include "idgen/tick_source.h"
#include "idgen/tick_window.h"
#include "idgen/worker_supply.h"

namespace evenkeel::idgen {

class SnowflakeGenerator final : public KeyGenerator {
 public:
  struct Parts {
    GeneratorSettings settings;  // checked by check_settings
    std::string table;           // the logical table, for messages
    uint32_t slots = 1;
    std::shared_ptr<const TickWindow> window;  // of the worker lease; see registry/worker_lease.h
    std::shared_ptr<const TickSource> ticks;
    uint64_t seed = 0;  // orders the starts of ticks
    // Further lanes: threads are spread over all, each lane with a worker id of its own.
    std::vector<std::shared_ptr<const TickWindow>> more_windows = {};
    Gene gene = {};
    // For the clock actions switch_worker and pause_until_sync; without them such steps are refused. `supply`
    // must outlive the generator.
    WorkerSupply* supply = nullptr;
    std::shared_ptr<ClockGuard> guard = {};
  };

  // Starts with the identity map. Fails with kind config when the settings cannot work for `slots`.
  static Result<std::unique_ptr<SnowflakeGenerator>> create(Parts parts);
  ~SnowflakeGenerator() override;

  // Ids of one lane ascend, but for those after adopt(). Errors: clock (stepped back beyond the tolerance,
  // before the epoch, or past the end of the time field: the message names the drift; the state is
  // unchanged), registry (the reserved window has ended or the wait for its start is too long), config (a
  // slot that this worker can never reach), internal.
  Result<DrawnKeys> draw(const KeyDemand& demand, std::span<uint64_t> keys) override;

  // Fails with kind config when the map has another number of slots, a period longer than the sequence, or
  // permits nothing that a lane can reach, or when the gene method is `classes` and the map not the identity.
  Status set_map(SteeringMap map) override;
  std::shared_ptr<const SteeringMap> map() const override;

  // Goes on with another worker id, with a fresh state and no memory of the clock: the lane of worker id
  // `replaced` ends, and the last tick that it made ids of is returned. Control thread. Fails with kind
  // config, and changes nothing, when there is no such lane or the map permits nothing that the new id
  // reaches.
  Result<uint64_t> adopt(uint32_t replaced, std::shared_ptr<const TickWindow> window);

  void close() override;
  // The last tick that ids of this worker id were made of, for the lease's release; 0 when no lane has it.
  // Final once closed.
  uint64_t last_tick(uint32_t worker) const;
  // Of all lanes.
  uint64_t last_tick() const;

  Status ready() const override;
  Counters counters() const override;
  const std::string& table() const override { return parts_.table; }
  uint32_t slots() const override { return parts_.slots; }

  const GeneratorSettings& settings() const { return parts_.settings; }
  const Gene& gene() const { return parts_.gene; }
  uint32_t gene_modulus() const override { return parts_.gene.modulus_for(parts_.slots); }
  std::vector<uint32_t> workers() const;

 private:
  // What one thread keeps of this generator: its copies of the current map and its lane, and its counters.
  struct Seat;

  explicit SnowflakeGenerator(Parts parts);
  Seat& seat_of_thread();
  Seat& find_or_make_seat();
  bool refresh(Seat& seat);
  Draw draw_from(Seat& seat, const KeyDemand& demand, std::span<uint64_t> out) const;
  Result<DrawnKeys> told(Seat& seat, const Draw& draw, DrawnKeys drawn) const;
  Status check_genes(std::span<const uint32_t> genes, const Lane& lane) const;
  Status check_map(const SteeringMap& map) const;
  Status check_lane(const SteeringMap& map, const Lane& lane) const;
  Result<KeyWait> wait_or_refuse(const Draw& draw, Lane& lane) const;
  Status ready(const Lane& lane) const;
  Error window_refusal(const Lane& lane) const;
  Error clock_refusal(const Draw& draw, const Lane& lane) const;
  Error never_refusal(const Draw& draw, const Lane& lane) const;
  Result<KeyWait> wait_for_tick(uint64_t tick, std::string_view why, const Lane& lane) const;
  Result<KeyWait> wait_for_renewal(uint64_t tick, const Lane& lane) const;
  Result<KeyWait> wait_for_switch(const Draw& draw, Lane& lane) const;
  Error refusal(ErrorKind kind, std::string_view why, const Lane& lane) const;
  std::shared_ptr<Lane> make_lane(std::shared_ptr<const TickWindow> window) const;

  const Parts parts_;
  const uint64_t identity_;  // never used twice in a process

  // Rises with every map and lane; a seat with an older version takes the new ones before it draws.
  std::atomic<uint64_t> version_{1};
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const SteeredStart> current_;
  std::vector<std::shared_ptr<Lane>> lanes_;
  uint64_t switches_ = 0;
  std::vector<std::unique_ptr<Seat>> seats_;
};

}  // namespace evenkeel::idgen
