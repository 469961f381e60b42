#include "proxy/demo/drawing.h"

#include <gtest/gtest.h>

namespace evenkeel::demo {
namespace {

constexpr DrawingStyle plain{};
constexpr DrawingStyle blocks{.unicode = true, .color = false};

TEST(Drawing, NumbersGetCommas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(163840), "163,840");
  EXPECT_EQ(with_commas(18446744073709551615ull), "18,446,744,073,709,551,615");
}

TEST(Drawing, ProgressFillsFromLeft) {
  EXPECT_EQ(draw_progress(0, 10, 4, plain), "[----]");
  EXPECT_EQ(draw_progress(5, 10, 4, plain), "[##--]");
  EXPECT_EQ(draw_progress(10, 10, 4, blocks), "[████]");
  EXPECT_EQ(draw_progress(12, 10, 4, plain), "[####]");
  EXPECT_EQ(draw_progress(0, 0, 4, plain), "[####]");
}

TEST(Drawing, BarsAreAlignedAndToScale) {
  const std::vector<Bar> bars = {{"a", 1000, "x"}, {"long", 500, "y"}, {"none", 0, "z"}};
  EXPECT_EQ(
      draw_bars(bars, 4, plain),
      (std::vector<std::string>{"a     ####  1,000  x", "long  ##      500  y", "none            0  z"}));
}

TEST(Drawing, AnEvenSpreadIsHalfFull) {
  const std::vector<uint64_t> values(6, 50);
  const std::vector<std::string> labels = {"one", "two"};
  EXPECT_EQ(draw_cells(values, 1, 3, labels, blocks), (std::vector<std::string>{"one  ▄▄▄", "two  ▄▄▄"}));
  EXPECT_EQ(draw_cells(values, 1, 3, labels, plain), (std::vector<std::string>{"one  ===", "two  ==="}));
}

TEST(Drawing, EmptyAndOverfullTablesStandOut) {
  const std::vector<uint64_t> values = {0, 0, 0, 400};
  EXPECT_EQ(draw_cells(values, 1, 4, {}, plain), std::vector<std::string>{"     @"});
  const std::vector<uint64_t> sparse = {1, 1000, 1000, 1000};
  EXPECT_EQ(draw_cells(sparse, 1, 4, {}, plain)[0].substr(2, 1), ".") << "one row is not none";
}

TEST(Drawing, CellsSumNeighbours) {
  const std::vector<uint64_t> values = {0, 20, 10, 10, 5, 15};
  EXPECT_EQ(draw_cells(values, 2, 3, {}, plain), std::vector<std::string>{"  ==="});
}

TEST(Drawing, ColorsAreSetOnceForARun) {
  const std::vector<uint64_t> values = {10, 10, 10};
  EXPECT_EQ(draw_cells(values, 1, 3, {}, {.unicode = false, .color = true}),
            std::vector<std::string>{"  \033[32m===\033[0m"});
}

TEST(Drawing, SpreadIsMeanAndVariation) {
  const std::vector<uint64_t> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.fewest, 2u);
  EXPECT_EQ(spread.most, 9u);
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.variation, 0.4);
  EXPECT_EQ(spread_of({}).most, 0u);
  const std::vector<uint64_t> none(3, 0);
  EXPECT_EQ(spread_of(none).variation, 0);
}

}  // namespace
}  // namespace evenkeel::demo
