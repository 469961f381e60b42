// What an operator may ask and order about skew and steering, whoever asks: the SQL admin port, the HTTP port
// and the command line share this interface. The admin port parses and checks rights; what is behind it
// decides.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mysql/result_table.h"
#include "base/result.h"

namespace evenkeel::skew {

// "orders" or "shop.orders": `schema` empty when it was not named. A name that several schemas have is then
// an error that lists them.
struct TableName {
  std::string schema;
  std::string table;

  bool operator==(const TableName&) const = default;
};

// What rows of a report stand for.
enum class Grouping : uint8_t { table, database, instance };

// A piece of a logical table's actual tables, as an operator names it.
struct Target {
  enum class Kind : uint8_t { instance, database, slots } kind = Kind::slots;
  std::string name;  // of the instance or database
  // kind slots: TABLES 5 or TABLES 0-31, both ends included.
  uint32_t first = 0;
  uint32_t last = 0;

  bool operator==(const Target&) const = default;
};

struct WeightedTarget {
  Target target;
  uint32_t weight = 0;  // shares are weight / sum over the slots; slots that no target names weigh 1

  bool operator==(const WeightedTarget&) const = default;
};

struct SteerOrder {
  enum class What : uint8_t {
    avoid,    // every slot but those of `targets`
    only,     // the slots of `targets`
    weights,  // by `weights`
    automatic,
    advise,
    off,
  };
  TableName table;
  What what = What::off;
  std::vector<Target> targets;
  std::vector<WeightedTarget> weights;
  std::optional<std::chrono::seconds> duration;  // afterwards it ends by itself; none: the configured maximum
  std::string ordered_by;                        // "admin 'anna' from 10.0.0.7", kept with the map's history

  bool operator==(const SteerOrder&) const = default;
};

// Thread-safe. Called on threads of the admin port, so a call may take as long as one exchange with the
// registry, never as long as a measurement. Errors have a text that tells what to do: no such table (and
// which there are), a table that steering does not apply to (and why), a target that names nothing, capacity
// too small (with the figures).
class Operations {
 public:
  virtual ~Operations() = default;

  // Rows, bytes, share, source and age of each figure; max/mean and coefficient of variation of the logical
  // table.
  virtual Result<mysql::ResultTable> skew(const std::optional<TableName>& table, Grouping by) const = 0;
  // One row a logical table: mode, map, version, which proxy runs which, who ordered it, until when.
  virtual Result<mysql::ResultTable> steering() const = 0;
  // Every change with its reason, the latest first.
  virtual Result<mysql::ResultTable> steering_history() const = 0;
  // Why a table, or one slot of it, gets new rows or not: a sentence a row.
  virtual Result<mysql::ResultTable> explain(const TableName& table, std::optional<uint32_t> slot) const = 0;
  // Where the next 10,000 rows would go, the capacity left, when it would be even.
  virtual Result<mysql::ResultTable> dry_run(const SteerOrder& order) const = 0;
  // Done when it returns: the map is stored and this proxy draws by it. The result says what is in force now.
  virtual Result<mysql::ResultTable> steer(const SteerOrder& order) = 0;
};

}  // namespace evenkeel::skew
