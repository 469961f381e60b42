// Rows that were fed and wait for their turn, by source, and the two orders in which they are taken out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "router/merge/keys.h"
#include "router/merge/row.h"
#include "router/merge/tournament.h"

namespace evenkeel::merge {

// Rows of one source in one block of memory that is reused: no allocation once it is as large as it gets.
class RowQueue {
 public:
  // True when rows already here have moved in memory.
  bool push(std::string_view row);
  bool empty() const { return begin_ == bytes_.size(); }
  std::string_view front() const;
  void pop();

 private:
  std::vector<char> bytes_;  // (size_t length, row) ... ; the first waiting one at begin_
  size_t begin_ = 0;
};

class Sources {
 public:
  explicit Sources(uint32_t count) : queues_(count), finished_(count, 0) {}

  uint32_t count() const { return static_cast<uint32_t>(queues_.size()); }
  // As RowQueue's.
  bool push(uint32_t source, std::string_view row);
  bool empty(uint32_t source) const { return queues_[source].empty(); }
  std::string_view front(uint32_t source) const { return queues_[source].front(); }
  void pop(uint32_t source);
  bool finished(uint32_t source) const { return finished_[source] != 0; }
  void finish(uint32_t source) { finished_[source] = 1; }
  // No row here and none to come.
  bool exhausted(uint32_t source) const { return queues_[source].empty() && finished_[source] != 0; }
  // No row here, but more may come.
  bool starving(uint32_t source) const { return queues_[source].empty() && finished_[source] == 0; }
  // Bytes of all rows within.
  size_t held() const { return held_; }

 private:
  std::vector<RowQueue> queues_;
  std::vector<char> finished_;
  size_t held_ = 0;
};

// Takes the sources' rows one by one in some order.
class Pull {
 public:
  enum class Outcome : uint8_t { row, need, end, malformed };

  virtual ~Pull() = default;
  // row: row() and keys() hold until the next call. need: starved() must be fed or finished.
  virtual Outcome next() = 0;
  // The rows of `source` have moved in memory.
  virtual void moved(uint32_t source) = 0;
  virtual std::string_view row() const = 0;
  virtual std::span<const KeyValue> keys() const = 0;
  uint32_t starved() const { return starved_; }

 protected:
  uint32_t starved_ = 0;
};

// One source after the other.
class ConcatPull final : public Pull {
 public:
  explicit ConcatPull(Sources& sources) : sources_(sources) {}

  Outcome next() override;
  void moved(uint32_t) override {}
  std::string_view row() const override { return sources_.front(current_); }
  std::span<const KeyValue> keys() const override { return {}; }

 private:
  Sources& sources_;
  uint32_t current_ = 0;
  bool given_ = false;  // the current source's first row was given out
};

// The sources' rows, each source in order, as one stream in order; equal rows by the number of their source.
class OrderedPull final : public Pull {
 public:
  OrderedPull(Sources& sources, const RowReader& reader, Keys keys);

  Outcome next() override;
  void moved(uint32_t source) override;
  std::string_view row() const override { return sources_.front(tree_.winner()); }
  std::span<const KeyValue> keys() const override { return keys_of(tree_.winner()); }

 private:
  std::span<KeyValue> keys_of(uint32_t source) {
    return {values_.data() + source * keys_.size(), keys_.size()};
  }
  std::span<const KeyValue> keys_of(uint32_t source) const {
    return {values_.data() + source * keys_.size(), keys_.size()};
  }
  // Keys of the source's first row, if it has one.
  bool read_keys(uint32_t source);
  bool before(uint32_t a, uint32_t b);
  // `source` has a first row again, or none for good.
  Outcome replay(uint32_t source);
  Outcome fill();

  Sources& sources_;
  const RowReader& reader_;
  Keys keys_;
  Tournament tree_;
  std::vector<KeyValue> values_;  // of the sources' first rows
  std::vector<Cell> cells_;
  uint32_t filled_ = 0;  // sources seen to have a first row or none; all of them: the tree stands
  bool given_ = false;   // the winner's row was given out; its leaf is to be renewed
  bool popped_ = false;  // ... and is gone from its queue
};

}  // namespace evenkeel::merge
