// What the proxies of one set of tables share about steering, as texts of the registry. One key each:
//   steering/<table>            the map in force, its reason, its history: written by compare-and-put
//   sizes/<table>             sizes as the measuring proxy knows them
//   counts/<table>/<proxy>      what one proxy counted, which map it draws by
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proxy/skew/samples.h"
#include "proxy/skew/settings.h"
#include "proxy/skew/weights.h"

namespace evenkeel::skew {

// What the map in force came from.
enum class Origin : uint8_t {
  none,       // no steering: every slot alike
  automatic,  // the controller
  ordered,    // avoid, only or weights, by a person
};

// One change, by whomever.
struct Change {
  uint64_t map_version = 0;
  int64_t unix_ms = 0;
  std::string what;    // "steering on", "re-weighted", "steering off", "ordered", "mode", "advice", "refused"
  std::string who;     // "controller of evenkeel pid 7 on db1", "admin 'anna' from 10.0.0.7"
  std::string reason;  // a sentence with the figures
  std::string map;     // describe()
  uint64_t times = 1;  // like changes in a row are one entry: how many, the last one's words

  bool operator==(const Change&) const = default;
};

// The whole state of one table's steering: whoever reads it can go on where another one stopped.
struct SteeringRecord {
  static constexpr size_t history_max = 50;

  uint64_t map_version = 0;  // rises whenever `weights` change
  SlotWeights weights;
  Origin origin = Origin::none;
  // A mode that was ordered holds in the place of the configured one.
  bool mode_ordered = false;
  Mode mode = Mode::off;
  int64_t mode_until_unix_ms = 0;  // of an ordered mode; 0: for good
  int64_t since_unix_ms = 0;       // when steering began; 0: it is off
  int64_t until_unix_ms = 0;       // when it ends, whatever happens; 0: it is off
  // Automatic maps are renewed while somebody looks after them; afterwards proxies stop obeying them.
  int64_t valid_until_unix_ms = 0;
  int64_t ended_unix_ms = 0;        // when it was last on; 0: never
  int64_t rests_until_unix_ms = 0;  // automatic steering does not begin before
  double ratio_at_start = 0;
  double best_ratio = 0;  // since it began
  int64_t best_unix_ms = 0;
  std::string refusal;          // why automatic steering cannot begin, as last written to the history
  std::vector<Change> history;  // the latest last

  bool on() const { return origin != Origin::none; }
  // Appends, or counts up the last entry when it is of the same kind and author; drops the oldest.
  void note(Change change);

  bool operator==(const SteeringRecord&) const = default;
};

struct CountsRecord {
  std::string by;             // the process, for people: "evenkeel pid 7 on db1"
  int64_t since_unix_ms = 0;  // when the process began to count: another one, another count
  int64_t unix_ms = 0;
  uint64_t map_version = 0;
  uint64_t ids = 0;
  uint64_t rows_outside = 0;
  double ids_per_second = 0;
  double peak_per_second = 0;     // of the last minutes
  std::vector<int64_t> rows;      // by slot: put in less taken out
  std::vector<int64_t> inserted;  // by slot: put in

  bool operator==(const CountsRecord&) const = default;
};

struct SizesRecord {
  int64_t unix_ms = 0;
  std::string by;        // the proxy that measures
  std::string standing;  // why nothing is changed now
  std::vector<Figure> figures;

  bool operator==(const SizesRecord&) const = default;
};

std::string encode(const SteeringRecord& record);
std::string encode(const CountsRecord& record);
std::string encode(const SizesRecord& record);
// Errors of kind registry: not what a proxy of this version writes.
Result<SteeringRecord> decode_steering(std::string_view text);
Result<CountsRecord> decode_counts(std::string_view text);
Result<SizesRecord> decode_sizes(std::string_view text);

// "shop.orders" as a part of a registry key: letters, digits, _ and . stay, others become -xx.
std::string key_part(std::string_view name);

}  // namespace evenkeel::skew
