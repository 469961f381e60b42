#include "router/rule/algorithm.h"

#include <array>
#include <fmt/format.h>

#include "base/limits.h"
#include "base/mysql/error_codes.h"
#include "router/rule/algorithms.h"

namespace evenkeel::rule {
namespace {

struct Entry {
  std::string_view name;
  MadeAlgorithm (*make)(uint32_t slots, const AlgorithmParameters& parameters);
};
constexpr std::array<Entry, 5> algorithms = {{{"mod", &make_mod},
                                              {"hash_mod", &make_hash_mod},
                                              {"range", &make_range},
                                              {"list", &make_list},
                                              {"interval", &make_interval}}};

}  // namespace

Result<std::shared_ptr<const Algorithm>> make_algorithm(std::string_view name, uint32_t slots,
                                                        const AlgorithmParameters& parameters) {
  if (slots == 0 || slots > limits::slots_max) {
    return fail(config_error(fmt::format("{} slots; allowed are 1 to {}", slots, limits::slots_max)));
  }
  std::string known;
  for (const Entry& entry : algorithms) {
    if (entry.name == name) return entry.make(slots, parameters);
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  return fail(config_error(fmt::format("unknown sharding algorithm \"{}\"; known are {}", name, known)));
}

Error no_slot_for(const Algorithm& algorithm, const mysql::Value& value) {
  return make_error(ErrorKind::statement, mysql::er::no_partition_for_given_value,
                    fmt::format("Table has no partition for this {} value: sharding algorithm {} gives it to "
                                "none of the tables",
                                to_string(value.kind()), algorithm.name()));
}

Error no_rule_for(const Algorithm& algorithm, const mysql::Value& value, std::string_view takes) {
  return unsupported(fmt::format("sharding algorithm {} has no rule for a {} value; it takes {}",
                                 algorithm.name(), to_string(value.kind()), takes));
}

}  // namespace evenkeel::rule
