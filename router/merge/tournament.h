// A loser tree: the least of k leaves, renewed in log2(k) comparisons when one leaf changes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace evenkeel::merge {

class Tournament {
 public:
  explicit Tournament(uint32_t leaves) : losers_(leaves), leaves_(leaves) {}

  // Plays all matches. `before(a, b)` must be a strict total order of the leaves; at least one leaf.
  template <typename Before>
  void build(Before before) {
    // Node n has the children 2n and 2n+1; the leaves are nodes leaves_ .. 2*leaves_-1.
    std::vector<uint32_t> winners(2 * leaves_);
    for (uint32_t leaf = 0; leaf < leaves_; ++leaf) winners[leaves_ + leaf] = leaf;
    for (uint32_t node = leaves_; node-- > 1;) {
      uint32_t winner = winners[2 * node], loser = winners[2 * node + 1];
      if (before(loser, winner)) std::swap(winner, loser);
      winners[node] = winner;
      losers_[node] = loser;
    }
    winner_ = winners[1];
  }

  // The value of `leaf`, which is the winner, has changed.
  template <typename Before>
  void replay(uint32_t leaf, Before before) {
    winner_ = leaf;
    for (uint32_t node = (leaves_ + leaf) / 2; node >= 1; node /= 2) {
      if (before(losers_[node], winner_)) std::swap(losers_[node], winner_);
    }
  }

  uint32_t winner() const { return winner_; }

 private:
  std::vector<uint32_t> losers_;
  uint32_t leaves_;
  uint32_t winner_ = 0;
};

}  // namespace evenkeel::merge
