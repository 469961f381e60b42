// What is known of the actual tables, in figures: for what draws them (the dashboard) and what exports them
// (/metrics). Operations (operations.h) says the same in words.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/skew/operations.h"

namespace evenkeel::skew {

// Wall clock, for showing and storing.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

// Where a slot's rows come from. `carried`: an exact count or an estimate, moved on by the rows that the
// proxies inserted and deleted since.
enum class FigureSource : uint8_t { unknown, exact, estimate, carried };

struct SlotFigures {
  uint64_t rows = 0;
  uint64_t bytes = 0;  // data and indexes as the instance says; 0 when it was not asked yet
  FigureSource source = FigureSource::unknown;
  std::chrono::seconds age{0};  // since the instance was asked
  // Rows that the proxies which share their counts put there. Only grows while this proxy runs, from any
  // start: the difference of two readings over their time is the rate of new rows.
  uint64_t inserted = 0;

  bool operator==(const SlotFigures&) const = default;
};

// Over the slots of one logical table. 1 and 0 when it is even or empty.
struct Unevenness {
  double max_over_mean = 1;
  double variation = 0;  // standard deviation over mean

  bool operator==(const Unevenness&) const = default;
};

enum class SteeringMode : uint8_t {
  off,        // every slot alike
  ordered,    // by a map that an operator gave: avoid, only, weights
  advise,     // the controller says what it would do, and does nothing
  automatic,  // the controller decides
};

// The map in force.
struct MapState {
  uint64_t version = 0;  // 0: there has never been one
  // By slot; shares are weight / sum, 0 is avoided. Empty: nothing is steered, every slot gets the same.
  std::vector<uint32_t> weights;
  double capacity = 1;     // part of the sequence numbers of a time unit that ids may have under the map
  std::string ordered_by;  // empty when nothing is steered
  std::string reason;
  std::optional<WallTime> since;
  std::optional<WallTime> until;  // when it ends by itself; none: not before it is ordered, or even

  bool operator==(const MapState&) const = default;
};

// What to expect under a map at the present rate.
struct Outlook {
  double rows_per_second = 0;  // new rows of the logical table now
  double ids_per_second_possible =
      0;  // the most that the generators of all its proxies can make under the map
  // New rows until the table counts as even; none: no number of them makes it so under this map.
  std::optional<double> rows_until_even;
  std::optional<std::chrono::seconds>
      until_even;      // none: no rows arrive, or it will not become even this way
  std::string remark;  // one sentence: why none, or what the estimate stands on

  bool operator==(const Outlook&) const = default;
};

struct ProxyMapVersion {
  std::string proxy;
  uint64_t version = 0;

  bool operator==(const ProxyMapVersion&) const = default;
};

// One logical table at one moment.
struct TableFigures {
  TableName name;
  WallTime at{};
  std::vector<SlotFigures> slots;  // by slot number
  Unevenness by_rows;
  Unevenness by_bytes;
  double bound = 1;  // max/mean at which the table counts as even with the rows it has
  // Empty, or why new rows of this table cannot be steered: the key is the application's, the algorithm, …
  std::string not_steerable_because;
  SteeringMode mode = SteeringMode::off;
  MapState map;
  Outlook outlook;
  std::vector<ProxyMapVersion> proxies;

  bool operator==(const TableFigures&) const = default;
};

// A point of the history of skew. Older ones lie further apart: a bounded number spans the whole history.
struct SkewPoint {
  WallTime at{};
  double rows_max_over_mean = 1;
  double bytes_max_over_mean = 1;
  double rows_variation = 0;
  bool steering = false;

  bool operator==(const SkewPoint&) const = default;
};

// The answer to "what if".
struct DryRunFigures {
  std::vector<uint32_t> next_rows;  // by slot: where the next 10,000 rows would go
  std::vector<uint32_t> weights;    // of the map that would be in force; empty: every slot gets the same
  Outlook outlook;
  // What an operator must know before confirming, most important first: capacity, batches that cannot be
  // steered.
  std::vector<std::string> remarks;

  bool operator==(const DryRunFigures&) const = default;
};

// Thread-safe; never waits for an instance or the registry: it gives what is known. Errors as of Operations.
class Figures {
 public:
  virtual ~Figures() = default;

  // The sharded tables of the configuration, by schema and name.
  virtual std::vector<TableName> tables() const = 0;
  virtual Result<TableFigures> figures(const TableName& table) const = 0;
  // The oldest first.
  virtual Result<std::vector<SkewPoint>> skew_over_time(const TableName& table) const = 0;
  // Errors: what Operations::steer would refuse, with the same text.
  virtual Result<DryRunFigures> dry_run_figures(const SteerOrder& order) const = 0;
};

}  // namespace evenkeel::skew
