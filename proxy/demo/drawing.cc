#include "proxy/demo/drawing.h"

#include <algorithm>
#include <array>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <langinfo.h>
#include <numeric>
#include <unistd.h>

namespace evenkeel::demo {
namespace {

constexpr std::array<std::string_view, 9> block_levels = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> ascii_levels = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
// Green for even, yellow and red for much more than the mean, blue for much less.
constexpr std::string_view color_even = "\033[32m", color_full = "\033[33m", color_over = "\033[31m",
                           color_low = "\033[34m", color_off = "\033[0m";

std::string repeat(std::string_view piece, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += piece;
  return text;
}

std::string_view color_of(double against_mean) {
  if (against_mean > 1.75) return color_over;
  if (against_mean > 1.25) return color_full;
  if (against_mean < 0.75) return color_low;
  return color_even;
}

// 0 stays an empty cell, anything else is at least the lowest level.
size_t level_of(double against_mean) {
  if (against_mean <= 0) return 0;
  const double level = std::round(against_mean / 2 * static_cast<double>(block_levels.size() - 1));
  return std::clamp<size_t>(static_cast<size_t>(level), 1, block_levels.size() - 1);
}

size_t longest(std::span<const std::string> labels) {
  size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, label.size());
  return width;
}

}  // namespace

DrawingStyle style_of_terminal() {
  const char* no_color = std::getenv("NO_COLOR");
  if (isatty(STDOUT_FILENO) == 0 || (no_color != nullptr && *no_color != '\0')) return {};
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::strcmp(terminal, "dumb") == 0) return {};
  std::setlocale(LC_CTYPE, "");
  return {.unicode = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0, .color = true};
}

std::string with_commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t place = text.size(); place > 3;) {
    place -= 3;
    text.insert(place, ",");
  }
  return text;
}

std::string draw_progress(uint64_t done, uint64_t all, int width, DrawingStyle style) {
  const double part = all == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  const auto filled = static_cast<size_t>(part * width);
  const size_t empty = static_cast<size_t>(width) - filled;
  return "[" + repeat(style.unicode ? "█" : "#", filled) + repeat(style.unicode ? "░" : "-", empty) + "]";
}

std::vector<std::string> draw_bars(std::span<const Bar> bars, int width, DrawingStyle style) {
  uint64_t most = 1;
  size_t label_width = 0, number_width = 0;
  for (const Bar& bar : bars) {
    most = std::max(most, bar.value);
    label_width = std::max(label_width, bar.label.size());
    number_width = std::max(number_width, with_commas(bar.value).size());
  }
  std::vector<std::string> lines;
  for (const Bar& bar : bars) {
    const auto filled =
        static_cast<size_t>(std::lround(static_cast<double>(bar.value) / static_cast<double>(most) * width));
    std::string drawn = repeat(style.unicode ? "█" : "#", filled);
    if (style.color) drawn = fmt::format("{}{}{}", color_even, drawn, color_off);
    lines.push_back(fmt::format("{:<{}}  {}{}  {:>{}}  {}", bar.label, label_width, drawn,
                                std::string(static_cast<size_t>(width) - filled, ' '), with_commas(bar.value),
                                number_width, bar.note));
  }
  return lines;
}

std::vector<std::string> draw_cells(std::span<const uint64_t> values, size_t per_cell, size_t columns,
                                    std::span<const std::string> labels, DrawingStyle style) {
  const double cell_mean = spread_of(values).mean * static_cast<double>(per_cell);
  const size_t label_width = longest(labels);
  std::vector<std::string> lines;
  for (size_t first = 0; first < values.size(); first += per_cell * columns) {
    const std::string label = lines.size() < labels.size() ? labels[lines.size()] : "";
    std::string line = fmt::format("{:<{}}  ", label, label_width);
    std::string_view color;
    for (size_t start = first; start < std::min(values.size(), first + per_cell * columns);
         start += per_cell) {
      const std::span<const uint64_t> cell = values.subspan(start, std::min(per_cell, values.size() - start));
      const auto sum = static_cast<double>(std::accumulate(cell.begin(), cell.end(), uint64_t{0}));
      const double against_mean = cell_mean == 0 ? 0 : sum / cell_mean;
      if (style.color && color_of(against_mean) != color) line += color = color_of(against_mean);
      line += (style.unicode ? block_levels : ascii_levels)[level_of(against_mean)];
    }
    if (style.color) line += color_off;
    lines.push_back(std::move(line));
  }
  return lines;
}

Spread spread_of(std::span<const uint64_t> values) {
  if (values.empty()) return {};
  Spread spread;
  const auto [fewest, most] = std::minmax_element(values.begin(), values.end());
  spread.fewest = *fewest;
  spread.most = *most;
  const auto count = static_cast<double>(values.size());
  spread.mean = static_cast<double>(std::accumulate(values.begin(), values.end(), uint64_t{0})) / count;
  double squares = 0;
  for (const uint64_t value : values) squares += std::pow(static_cast<double>(value) - spread.mean, 2);
  spread.variation = spread.mean == 0 ? 0 : std::sqrt(squares / count) / spread.mean;
  return spread;
}

}  // namespace evenkeel::demo
