// How rows are spread, drawn with characters. Pure: numbers in, lines of text out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::demo {

// What the terminal can show.
struct DrawingStyle {
  bool unicode = false;  // block characters instead of plain ASCII
  bool color = false;
};

// The style for standard output: a terminal, its locale UTF-8, NO_COLOR not set. Anything else is plain
// ASCII.
DrawingStyle style_of_terminal();

// 12800 -> "12,800".
std::string with_commas(uint64_t number);

// "[#####-----]": `done` of `all`, `width` characters between the brackets.
std::string draw_progress(uint64_t done, uint64_t all, int width, DrawingStyle style);

struct Bar {
  std::string label;
  uint64_t value = 0;
  std::string note;
};
// One line a bar, the longest `width` characters wide, labels and numbers aligned.
std::vector<std::string> draw_bars(std::span<const Bar> bars, int width, DrawingStyle style);

// A heat map: `columns` cells a line, line i beginning with labels[i]. A cell stands for `per_cell`
// neighbouring values; its height or darkness is their sum against twice the mean, so that an even spread is
// half full.
std::vector<std::string> draw_cells(std::span<const uint64_t> values, size_t per_cell, size_t columns,
                                    std::span<const std::string> labels, DrawingStyle style);

struct Spread {
  uint64_t fewest = 0;
  uint64_t most = 0;
  double mean = 0;
  double variation = 0;  // coefficient of variation: standard deviation over mean
};
Spread spread_of(std::span<const uint64_t> values);

}  // namespace evenkeel::demo
