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
#include "idgen/generator.h"
#include "idgen/settings.h"
#include "idgen/snowflake.h"
#include "idgen/steering_map.h"
#include "idgen/tick_source.h"
#include "idgen/tick_window.h"

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
  };

  // Starts with the identity map. Fails with kind config when the settings cannot work for `slots`.
  static Result<std::unique_ptr<SnowflakeGenerator>> create(Parts parts);
  ~SnowflakeGenerator() override;

  // Ids ascend. Errors: clock (stepped back beyond the tolerance, before the epoch, or past the end of the
  // time field: the message names the drift; the state is unchanged), registry (the reserved window has ended
  // or the wait for its start is too long), config (a slot that this worker can never reach), internal.
  Result<DrawnKeys> draw(const KeyDemand& demand, std::span<uint64_t> keys) override;

  // Fails with kind config when the map has another number of slots, a period longer than the sequence, or
  // permits nothing that this worker can reach.
  Status set_map(SteeringMap map) override;
  std::shared_ptr<const SteeringMap> map() const override;

  void close() override;
  // The last tick that ids were made of, for the lease's release. Final once closed.
  uint64_t last_tick() const { return snowflake_.last_tick_opened(); }

  Counters counters() const override;
  const std::string& table() const override { return parts_.table; }
  uint32_t slots() const override { return parts_.slots; }

  const GeneratorSettings& settings() const { return parts_.settings; }
  uint32_t worker() const { return parts_.window->worker(); }

 private:
  // What one thread keeps of this generator: its copy of the current map, and its counters.
  struct Seat;

  explicit SnowflakeGenerator(Parts parts);
  Seat& seat_of_thread();
  Seat& find_or_make_seat();
  void refresh(Seat& seat);
  Status check_reach(std::span<const uint32_t> row_slots) const;
  Status check_map(const SteeringMap& map) const;
  Result<KeyWait> wait_or_refuse(const Draw& draw) const;
  Result<KeyWait> wait_for_tick(uint64_t tick, std::string_view why) const;
  Result<KeyWait> wait_for_renewal(uint64_t tick) const;
  Error refusal(ErrorKind kind, std::string_view why) const;

  const Parts parts_;
  const uint64_t identity_;  // never used twice in a process
  // Which slots this worker reaches; empty when it reaches all.
  const std::vector<bool> reachable_;
  Snowflake snowflake_;

  // Rises with every map; a seat with an older version takes the new map before it draws.
  std::atomic<uint64_t> map_version_{1};
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const SteeredStart> current_;
  std::vector<std::unique_ptr<Seat>> seats_;
};

}  // namespace evenkeel::idgen
