// One logical table as this proxy sees it: its sizes, the record in force, what it draws by. The parts that
// need the registry are steering.h's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "idgen/steering_map.h"
#include "proxy/skew/controller.h"
#include "proxy/skew/count_ledger.h"
#include "proxy/skew/figures.h"
#include "proxy/skew/record.h"
#include "proxy/skew/samples.h"
#include "proxy/skew/settings.h"
#include "router/rule/rule_set.h"
#include "router/rule/slot_traffic.h"

namespace evenkeel::skew {

// What is behind one logical table in this process. The pointers outlive what is made of them.
struct SteeredTable {
  const rule::LogicalTable* table = nullptr;
  TableSettings settings;
  std::string inapplicable;   // why its new rows cannot be steered; empty: they can
  double ids_per_second = 0;  // what one proxy can draw with every slot open
  uint32_t levels = 0;        // blocks of slots in the sequence of one time unit
  rule::SlotTraffic* traffic = nullptr;
  // Of the key generator; null where there is none.
  std::function<Status(idgen::SteeringMap)> set_map;
  std::function<uint64_t()> ids;
  std::function<uint64_t()> rows_outside;
};

// How fast something grows, from readings of it.
class Rate {
 public:
  void read(double total, int64_t unix_ms);
  double now() const { return now_; }    // smoothed over some seconds
  double peak() const { return peak_; }  // of the last minutes

 private:
  bool begun_ = false;
  double total_ = 0;
  int64_t unix_ms_ = 0;
  double now_ = 0;
  double peak_ = 0;
};

// Points of the history of skew: at most `points_max`, every second one dropped when they are too many.
class SkewHistory {
 public:
  static constexpr size_t points_max = 1024;
  void add(const SkewPoint& point);
  const std::vector<SkewPoint>& points() const { return points_; }

 private:
  std::vector<SkewPoint> points_;
  int64_t least_distance_ms_ = 10'000;
};

// One thread at a time.
class TableSteering {
 public:
  TableSteering(SteeredTable parts, const SamplingSettings& sampling,
                const std::vector<std::string>& instances, std::string process, int64_t began_unix_ms);

  const SteeredTable& parts() const { return parts_; }
  const rule::LogicalTable& table() const { return *parts_.table; }
  const TableSettings& settings() const { return parts_.settings; }
  void set_settings(TableSettings settings) { parts_.settings = std::move(settings); }
  const std::string& name() const { return name_; }  // "shop.orders"
  uint32_t slots() const { return table().slot_count(); }
  bool steerable() const { return parts_.inapplicable.empty(); }
  const std::string& instance_of(rule::Slot slot) const { return instances_[table().slots[slot].instance]; }

  // This process's number among those that share counts; before it has one nothing is shared.
  void set_proxy(const std::string& number);
  const std::string& proxy() const { return proxy_; }
  // Takes what this process counted, and brings the sizes up to it.
  void take_own_counts(int64_t now_unix_ms);
  // The last of them, to be told to the others.
  const CountsRecord& own_counts() const { return own_; }
  void note_counts(const std::string& proxy, const CountsRecord& counts);
  const CountLedger& ledger() const { return ledger_; }
  Samples& samples() { return samples_; }
  const Samples& samples() const { return samples_; }
  // Sizes that another proxy measured. `measures_itself`: it only begins with them.
  void take_sizes(const SizesRecord& sizes, bool measures_itself);
  SizesRecord sizes(int64_t now_unix_ms, const std::string& by) const;
  // The sum of counts of one slot, to be handed back with an exact count that begins now.
  int64_t counted(rule::Slot slot) const;

  const SteeringRecord& record() const { return record_; }
  // 0: the registry has none.
  uint64_t record_version() const { return record_version_; }
  void take_record(SteeringRecord record, uint64_t version);
  // Draws by the record from now on, or by the identity when its time is over. Errors are the generator's.
  Status obey(int64_t now_unix_ms);
  // Whether the identity is what this process draws by.
  bool steers() const { return !applied_.identity(); }
  const SlotWeights& applied() const { return applied_; }

  Observation observe(int64_t now_unix_ms, const SamplingSettings& sampling, double seconds_ahead);
  Decision look(int64_t now_unix_ms, const SamplingSettings& sampling, double seconds_ahead,
                std::string_view who);
  void set_standing(std::string standing) { standing_ = std::move(standing); }
  const std::string& standing() const { return standing_; }

  // Figures in what the table is judged by.
  std::vector<double> judged() const;
  // Rows that all proxies together get now, and the peak of the one that gets most.
  double rows_per_second() const;
  double peak_per_second() const;
  // Proxies that were heard of lately.
  std::vector<std::pair<std::string, const CountsRecord*>> live_proxies(int64_t now_unix_ms) const;
  double rate_of(rule::Slot slot) const { return slot_rates_[slot]; }
  const SkewHistory& history() const { return history_; }
  // Below this ratio the table counts as even with the rows it has.
  double bound() const;

 private:
  void aim_batches();
  void note_rates(int64_t now_unix_ms);

  SteeredTable parts_;
  std::string proxy_;
  std::vector<std::string> instances_;
  std::string name_;
  int64_t began_unix_ms_;
  CountLedger ledger_;
  Samples samples_;
  CountsRecord own_;
  Rate rate_;
  std::vector<int64_t> inserted_before_;
  std::vector<double> slot_rates_;
  int64_t rates_unix_ms_ = 0;
  SteeringRecord record_;
  uint64_t record_version_ = 0;
  SlotWeights applied_;
  bool obeyed_ = false;
  std::string standing_;
  SkewHistory history_;
  // Of the last observation, which points into them.
  std::vector<double> rows_;
  std::vector<double> judged_;
  std::vector<double> errors_;
};

}  // namespace evenkeel::skew
