#include "router/merge/sources.h"

#include <cstring>
#include <utility>

namespace evenkeel::merge {

namespace {

// Rows given out are dropped from the front of the block once they are this many bytes and half of it.
constexpr size_t compact_bytes = 64 * 1024;
// An empty block larger than this is returned: one huge row must not hold its memory for the whole result.
constexpr size_t keep_bytes = 1024 * 1024;

}  // namespace

bool RowQueue::push(std::string_view row) {
  const char* before = bytes_.data();
  const bool was_empty = empty();
  if (was_empty) {
    bytes_.clear();
    begin_ = 0;
    if (bytes_.capacity() > keep_bytes) std::vector<char>().swap(bytes_);
  } else if (begin_ > compact_bytes && begin_ > bytes_.size() / 2) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    before = nullptr;
  }
  const size_t size = row.size();
  const auto* length = reinterpret_cast<const char*>(&size);
  bytes_.insert(bytes_.end(), length, length + sizeof size);
  bytes_.insert(bytes_.end(), row.begin(), row.end());
  return !was_empty && bytes_.data() != before;
}

std::string_view RowQueue::front() const {
  size_t size = 0;
  std::memcpy(&size, bytes_.data() + begin_, sizeof size);
  return {bytes_.data() + begin_ + sizeof size, size};
}

void RowQueue::pop() { begin_ += sizeof(size_t) + front().size(); }

bool Sources::push(uint32_t source, std::string_view row) {
  held_ += row.size();
  return queues_[source].push(row);
}

void Sources::pop(uint32_t source) {
  held_ -= front(source).size();
  queues_[source].pop();
}

Pull::Outcome ConcatPull::next() {
  if (std::exchange(given_, false)) sources_.pop(current_);
  while (current_ < sources_.count() && sources_.exhausted(current_)) ++current_;
  if (current_ == sources_.count()) return Outcome::end;
  if (sources_.starving(current_)) {
    starved_ = current_;
    return Outcome::need;
  }
  given_ = true;
  return Outcome::row;
}

OrderedPull::OrderedPull(Sources& sources, const RowReader& reader, Keys keys)
    : sources_(sources),
      reader_(reader),
      keys_(std::move(keys)),
      tree_(sources.count()),
      values_(sources.count() * keys_.size()),
      cells_(reader.columns().size()) {}

bool OrderedPull::read_keys(uint32_t source) {
  if (sources_.empty(source)) return true;
  return reader_.read(sources_.front(source), keys_.cells_needed(), cells_) &&
         keys_.read(reader_.format(), reader_.columns(), cells_, keys_of(source));
}

bool OrderedPull::before(uint32_t a, uint32_t b) {
  const bool a_ended = sources_.empty(a), b_ended = sources_.empty(b);
  if (a_ended || b_ended) return a_ended == b_ended ? a < b : b_ended;
  const int order = keys_.compare(keys_of(a), keys_of(b));
  return order != 0 ? order < 0 : a < b;
}

Pull::Outcome OrderedPull::fill() {
  for (; filled_ < sources_.count(); ++filled_) {
    if (sources_.starving(filled_)) {
      starved_ = filled_;
      return Outcome::need;
    }
    if (!read_keys(filled_)) return Outcome::malformed;
  }
  tree_.build([this](uint32_t a, uint32_t b) { return before(a, b); });
  return Outcome::row;
}

Pull::Outcome OrderedPull::replay(uint32_t source) {
  if (sources_.starving(source)) {
    starved_ = source;
    return Outcome::need;
  }
  if (!read_keys(source)) return Outcome::malformed;
  tree_.replay(source, [this](uint32_t a, uint32_t b) { return before(a, b); });
  given_ = false;
  return Outcome::row;
}

Pull::Outcome OrderedPull::next() {
  if (sources_.count() == 0) return Outcome::end;
  Outcome outcome = Outcome::row;
  if (filled_ < sources_.count()) {
    outcome = fill();
  } else if (given_) {
    if (!popped_) sources_.pop(tree_.winner());
    popped_ = true;
    outcome = replay(tree_.winner());
  }
  if (outcome != Outcome::row) return outcome;
  if (sources_.empty(tree_.winner())) return Outcome::end;
  given_ = true;
  popped_ = false;
  return Outcome::row;
}

void OrderedPull::moved(uint32_t source) {
  // Read once already, from the same bytes elsewhere.
  if (source < filled_) read_keys(source);
}

}  // namespace evenkeel::merge
