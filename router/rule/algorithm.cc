#include "router/rule/algorithm.h"

#include <array>
#include <fmt/format.h>

#include "base/limits.h"
#include "router/rule/algorithms.h"

namespace evenkeel::rule {
namespace {

struct Entry {
  std::string_view name;
  std::shared_ptr<const Algorithm> (*make)(uint32_t slots);
};
constexpr std::array<Entry, 2> algorithms = {{{"mod", &make_mod}, {"hash_mod", &make_hash_mod}}};

}  // namespace

Result<std::shared_ptr<const Algorithm>> make_algorithm(std::string_view name, uint32_t slots) {
  if (slots == 0 || slots > limits::slots_max) {
    return fail(config_error(fmt::format("{} slots; allowed are 1 to {}", slots, limits::slots_max)));
  }
  std::string known;
  for (const Entry& entry : algorithms) {
    if (entry.name == name) return entry.make(slots);
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  return fail(config_error(fmt::format("unknown sharding algorithm \"{}\"; known are {}", name, known)));
}

}  // namespace evenkeel::rule
