// Skew and steering of a running proxy: the threads that poll the registry and ask the instances.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "config/config.h"
#include "proxy/control/table_sampler.h"
#include "proxy/key_generators.h"
#include "proxy/skew/steering.h"

namespace evenkeel {

// Owns two threads: one tells, hears and decides about once a second, one asks the instances at a bounded
// rate. Made, stopped and destroyed by one thread; `steering()` is for any.
class SteeringService {
 public:
  using Traffic = std::unordered_map<const rule::LogicalTable*, rule::SlotTraffic*>;

  // Obeys what is in force before it returns. `generators` and `clock` must outlive it.
  static std::unique_ptr<SteeringService> start(const config::Config& config, KeyGenerators& generators,
                                                const Clock& clock);
  ~SteeringService();

  skew::Steering& steering() { return *steering_; }
  const Traffic& traffic() const { return traffic_; }
  // Any thread: steers and measures by the settings of `config`, whose tables are those of the start.
  void take_settings(const config::Config& config);
  // Idempotent.
  void stop();

 private:
  SteeringService(const config::Config& config, KeyGenerators& generators, const Clock& clock);

  bool pause(std::chrono::milliseconds time);
  void poll_until_stopped();
  void sample_until_stopped();
  void read_estimates();
  std::chrono::milliseconds count_one();
  void take_new_accounts();
  void told_once(const std::string& problem);

  const Clock& clock_;
  rule::RuleSetPtr rules_;
  std::vector<std::unique_ptr<rule::SlotTraffic>> owned_;
  Traffic traffic_;
  std::shared_ptr<idgen::Registry> registry_;
  std::unique_ptr<skew::Steering> steering_;
  std::unordered_map<const rule::LogicalTable*, size_t> places_;
  control::TableSampler sampler_;  // the sampling thread's own
  std::string last_problem_;       // the sampling thread's own
  std::mutex mutex_;               // guards what follows
  std::optional<control::Accounts> new_accounts_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread poller_;
  std::thread asker_;
};

// What steering needs to know of a logical table, whose generator may be null: used by the service and by
// `evenkeel skew`.
skew::SteeredTable steered_table(const config::Config& config, const rule::LogicalTable& table,
                                 idgen::KeyGenerator* generator, rule::SlotTraffic& traffic);
std::unique_ptr<rule::SlotTraffic> make_traffic(const rule::LogicalTable& table);

}  // namespace evenkeel
