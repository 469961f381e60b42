// Skew and steering of all logical tables in one process: what it knows, what it tells the other proxies,
// what it obeys, and, on the proxy that leads, what it decides. No thread, no socket, no clock of its own:
// `poll` is called about once a second by whoever owns those, and answers of Operations and Figures are given
// at any time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "idgen/registry/registry.h"
#include "proxy/skew/figures.h"
#include "proxy/skew/operations.h"
#include "proxy/skew/table_steering.h"

namespace evenkeel::skew {

// An actual table that is to be counted, and the sum of counts when the order was given.
struct CountTask {
  size_t table = 0;  // its place among the tables
  rule::Slot slot = 0;
  int64_t counted = 0;
};

// Thread-safe; everything is behind one lock, which is held over an exchange with the registry.
class Steering final : public Operations, public Figures {
 public:
  struct Parts {
    Settings settings;
    std::vector<SteeredTable> tables;
    std::vector<std::string> instances;
    std::string process;                  // "evenkeel pid 7 on db1"
    idgen::Registry* registry = nullptr;  // null: nothing is shared, and this process leads
    const Clock* clock = nullptr;
    // Every change of a map, every refusal and every loss of the registry, for the log.
    std::function<void(const std::string&)> tell;
  };

  explicit Steering(Parts parts);
  ~Steering() override;

  // Tells, hears, obeys and, where it leads, decides. What the registry refuses is tried again the next time:
  // without it, this process goes on by the last map it knows until that map's time is over.
  void poll();
  // From the next look on, by other settings: those of each table, in the order of the tables. What is in
  // force stays until a look finds that it should not be.
  void take_settings(Settings settings, const std::vector<TableSettings>& of_tables);
  // Before clients come: obeys what was in force before a restart.
  void begin() { poll(); }

  // This process measures and decides for all.
  bool leads() const;
  // The actual table that should be counted next; none: all counts are young enough, or another proxy counts.
  std::optional<CountTask> next_count();
  void note_count(const CountTask& task, uint64_t rows);
  // It could not be counted; it is tried again after a minute.
  void note_failure(const CountTask& task);
  // InnoDB's estimate for one actual table.
  void note_estimate(size_t table, rule::Slot slot, uint64_t rows, uint64_t bytes);
  // How many logical tables there are, and their rules.
  size_t size() const { return tables_.size(); }
  const rule::LogicalTable& rules_of(size_t table) const { return tables_[table]->table(); }
  SamplingSettings sampling() const;

  Result<mysql::ResultTable> skew(const std::optional<TableName>& table, Grouping by) const override;
  Result<mysql::ResultTable> steering() const override;
  Result<mysql::ResultTable> steering_history() const override;
  Result<mysql::ResultTable> explain(const TableName& table, std::optional<uint32_t> slot) const override;
  Result<mysql::ResultTable> dry_run(const SteerOrder& order) const override;
  Result<mysql::ResultTable> steer(const SteerOrder& order) override;

  std::vector<TableName> tables() const override;
  Result<TableFigures> figures(const TableName& table) const override;
  Result<std::vector<SkewPoint>> skew_over_time(const TableName& table) const override;
  Result<DryRunFigures> dry_run_figures(const SteerOrder& order) const override;

 private:
  // What an order would put in force.
  struct Planned {
    TableSteering* table = nullptr;
    SteeringRecord record;
    SlotWeights weights;  // what would be drawn by at once: by the controller's own rule for AUTO and ADVISE
    bool may_even = false;
  };

  double seconds_ahead() const;
  int64_t now() const { return parts_.clock->unix_millis(); }
  void tell(const std::string& text) const;

  // steering.cc: with the registry
  void take_number();
  bool leading() const { return parts_.registry == nullptr || leadership_ != nullptr || renews_; }
  void lead_if_free();
  void lead_by_renewal();
  void tell_counts();
  void hear();
  void hear_counts();
  void hear_records();
  void hear_sizes();
  void decide_all();
  bool store(TableSteering& table, SteeringRecord record);
  void tell_sizes();
  void note_registry(const Status& outcome);
  TableSteering* find_part(std::string_view part, std::string_view& rest) const;

  // orders.cc
  Result<TableSteering*> find(const TableName& name) const;
  Result<Planned> plan(const SteerOrder& order) const;
  Result<std::vector<bool>> slots_of(const TableSteering& table, const std::vector<Target>& targets) const;
  Result<SlotWeights> weights_of_order(const TableSteering& table, const SteerOrder& order) const;
  Status put(TableSteering& table, const SteeringRecord& record);

  // answers.cc
  Outlook outlook(TableSteering& table, const SlotWeights& weights) const;
  std::vector<std::string> remarks(TableSteering& table, const Planned& planned) const;
  std::vector<uint32_t> next_rows(const TableSteering& table, const SlotWeights& weights) const;

  Parts parts_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<TableSteering>> tables_;
  std::unique_ptr<idgen::Hold> number_hold_;
  std::unique_ptr<idgen::Hold> leadership_;
  std::string leader_;  // who leads, if not this process
  // Where the store cannot prove that a leader lives.
  bool renews_ = false;
  uint64_t leader_version_ = 0;
  int64_t leader_seen_ms_ = 0;
  int64_t renewed_ms_ = 0;
  idgen::SeenVersions seen_counts_;
  idgen::SeenVersions seen_records_;
  idgen::SeenVersions seen_sizes_;
  std::map<std::string, uint64_t, std::less<>> versions_;  // of the keys that this process writes
  std::vector<int64_t> told_counts_ms_;
  std::vector<uint64_t> told_versions_;
  std::vector<int64_t> looked_ms_;
  std::vector<int64_t> told_sizes_ms_;
  std::vector<bool> unstored_;  // records that the registry could not take
  size_t count_next_ = 0;       // tables are counted in turns
  bool registry_lost_ = false;
};

}  // namespace evenkeel::skew
