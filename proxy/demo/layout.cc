#include "proxy/demo/layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

#include "base/limits.h"

namespace evenkeel::demo {
namespace {

constexpr uint32_t instances_max = 32;

int digits_for(uint32_t count, int at_least) {
  return std::max<int>(at_least, static_cast<int>(std::to_string(count - 1).size()));
}

}  // namespace

std::string Layout::database_name(std::string_view schema, uint32_t database) const {
  return fmt::format("{}_{:0{}}", schema, database, digits_for(databases_in_all(), 2));
}

std::string Layout::table_name(std::string_view table, uint32_t slot) const {
  return fmt::format("{}_{:0{}}", table, slot, digits_for(slots(), 3));
}

Result<Layout> parse_layout(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(config_error(fmt::format(
        "layout '{}': {}; allowed is INSTANCESxDATABASESxTABLES, e.g. 4x4x8 (128 tables) or 4x16x128 (8192): "
        "1 to {} instances, at most {} tables in all",
        text, why, instances_max, limits::slots_max)));
  };
  std::array<uint64_t, 3> numbers{};
  const char* position = text.data();
  const char* const end = text.data() + text.size();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) {
      if (position == end || *position != 'x') return refuse("three numbers joined by x were expected");
      ++position;
    }
    const auto [next, status] = std::from_chars(position, end, numbers[i]);
    if (status != std::errc() || numbers[i] == 0) return refuse("a positive number was expected");
    if (numbers[i] > limits::slots_max) return refuse("a number is too large");
    position = next;
  }
  if (position != end) return refuse("three numbers joined by x were expected");
  if (numbers[0] > instances_max) return refuse("too many instances");
  if (numbers[0] * numbers[1] * numbers[2] > limits::slots_max) return refuse("too many tables");
  return Layout{static_cast<uint32_t>(numbers[0]), static_cast<uint32_t>(numbers[1]),
                static_cast<uint32_t>(numbers[2])};
}

std::string to_string(const Layout& layout) {
  return fmt::format("{}x{}x{}", layout.instances, layout.databases, layout.tables);
}

}  // namespace evenkeel::demo
