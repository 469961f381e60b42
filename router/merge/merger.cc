#include "router/merge/merger.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/mysql/error_codes.h"
#include "router/merge/aggregate.h"
#include "router/merge/keys.h"
#include "router/merge/sources.h"

namespace evenkeel::merge {

namespace {

// OFFSET and LIMIT over the rows that come out.
class Window {
 public:
  Window(uint64_t offset, std::optional<uint64_t> limit) : offset_(offset), limit_(limit) {}

  bool closed() const { return limit_ && *limit_ == 0; }
  // Counts one row; true when it is to be shown.
  bool admit() {
    if (offset_ > 0) {
      --offset_;
      return false;
    }
    if (limit_) --*limit_;
    return true;
  }

 private:
  uint64_t offset_;
  std::optional<uint64_t> limit_;
};

// What all mergers share: the sources, how they are pulled, the window, the error that stays.
class PullingMerger : public Merger {
 public:
  PullingMerger(const Spec& spec, RowReader reader, uint32_t sources, std::optional<Keys> keys)
      : reader_(std::move(reader)), window_(spec.offset, spec.limit), sources_(sources) {
    if (keys) {
      pull_ = std::make_unique<OrderedPull>(sources_, reader_, std::move(*keys));
    } else {
      pull_ = std::make_unique<ConcatPull>(sources_);
    }
  }

  void feed(uint32_t source, std::string_view row) final {
    if (!accepts(source)) return;
    if (sources_.push(source, row)) pull_->moved(source);
  }
  void finish(uint32_t source) final {
    if (accepts(source)) sources_.finish(source);
  }
  uint32_t needed() const final { return pull_->starved(); }
  const Error& error() const final { return error_; }

 protected:
  Step fail_with(Error error) {
    error_ = std::move(error);
    failed_ = true;
    return Step::error;
  }
  // Everything but a row.
  Step step_of(Pull::Outcome outcome) {
    if (outcome == Pull::Outcome::malformed) return fail_with(malformed_row());
    return outcome == Pull::Outcome::need ? Step::need : Step::end;
  }
  bool failed() const { return failed_; }

  const RowReader reader_;
  Window window_;
  Sources sources_;
  std::unique_ptr<Pull> pull_;

 private:
  bool accepts(uint32_t source) {
    if (source < sources_.count() && !sources_.finished(source)) return true;
    fail_with(internal_error(
        fmt::format("merge: a row or an end for source {}, which is finished or not there", source)));
    return false;
  }

  Error error_;
  bool failed_ = false;
};

// Rows go through whole, or with their last columns cut off.
class PlainMerger final : public PullingMerger {
 public:
  PlainMerger(const Spec& spec, RowReader reader, std::vector<ColumnFacts> outputs, uint32_t sources,
              std::optional<Keys> keys)
      : PullingMerger(spec, std::move(reader), sources, std::move(keys)),
        outputs_(std::move(outputs)),
        cells_(reader_.columns().size()),
        builder_(reader_.format()) {
    whole_ = outputs_.size() == reader_.columns().size();
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const ColumnFacts &from = reader_.columns()[i], &to = outputs_[i];
      const bool same = reader_.format() == RowFormat::text ||
                        (wire_shape(from.type) == wire_shape(to.type) &&
                         (from.is_unsigned == to.is_unsigned || !mysql::is_integer(from.type)) &&
                         mysql::is_floating(from.type) == mysql::is_floating(to.type));
      recodes_ = recodes_ || !same;
    }
  }

  Step next() override {
    given_bytes_ = 0;
    while (!failed()) {
      if (window_.closed()) return Step::end;
      const auto outcome = pull_->next();
      if (outcome != Pull::Outcome::row) return step_of(outcome);
      if (window_.admit()) return show(pull_->row());
    }
    return Step::error;
  }
  std::string_view row() const override { return row_; }
  size_t held_bytes() const override { return sources_.held() - given_bytes_; }

 private:
  Step show(std::string_view row) {
    given_bytes_ = row.size();
    row_ = row;
    if (recodes_) return recode_row(row);
    if (whole_) return Step::row;
    const auto end = reader_.read(row, outputs_.size(), cells_);
    if (!end) return fail_with(malformed_row());
    if (reader_.format() == RowFormat::text) {
      row_ = row.substr(0, *end);
    } else {
      builder_.cut(row, reader_.columns().size(), outputs_.size(), *end);
      row_ = builder_.row();
    }
    return Step::row;
  }
  Step recode_row(std::string_view row) {
    if (!reader_.read_all(row, cells_)) return fail_with(malformed_row());
    builder_.begin(outputs_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (auto done = recode(reader_.format(), reader_.columns()[i], outputs_[i], cells_[i], builder_);
          !done) {
        return fail_with(std::move(done.error()));
      }
    }
    row_ = builder_.row();
    return Step::row;
  }

  std::vector<ColumnFacts> outputs_;
  bool whole_ = false;
  bool recodes_ = false;
  std::vector<Cell> cells_;
  RowBuilder builder_;
  std::string_view row_;
  size_t given_bytes_ = 0;  // of the row given out last, which waits in its queue for the next call
};

// Rows with equal keys become one.
class GroupMerger final : public PullingMerger {
 public:
  GroupMerger(const Spec& spec, RowReader reader, std::vector<Aggregate> aggregates, uint32_t sources,
              std::optional<Keys> keys)
      : PullingMerger(spec, std::move(reader), sources, keys),
        keys_(std::move(keys)),
        aggregates_(std::move(aggregates)),
        cells_(reader_.columns().size()),
        first_cells_(reader_.columns().size()),
        group_keys_(keys_ ? keys_->size() : 0),
        builder_(reader_.format()) {}

  Step next() override {
    if (pulled_) {  // the first row of the group after the one that was given out
      pulled_ = false;
      if (auto begun = begin(); !begun) return fail_with(std::move(begun.error()));
    }
    while (!failed()) {
      if (window_.closed() || ended_) return Step::end;
      const auto outcome = pull_->next();
      if (outcome == Pull::Outcome::end) return last();
      if (outcome != Pull::Outcome::row) return step_of(outcome);
      auto took = take();
      if (!took) return fail_with(std::move(took.error()));
      if (*took) return Step::row;
    }
    return Step::error;
  }
  std::string_view row() const override { return builder_.row(); }
  size_t held_bytes() const override {
    size_t bytes = sources_.held() + group_row_.size();
    for (const Aggregate& aggregate : aggregates_) bytes += aggregate.held();
    return bytes;
  }

 private:
  // The pulled row: into the group, or the group is finished first. True: a row is there to show; the pulled
  // row then waits in pulled_.
  Result<bool> take() {
    if (!open_) {
      EVENKEEL_TRY(begin());
      return false;
    }
    const int order = keys_ ? keys_->compare(group_keys_, pull_->keys()) : 0;
    if (order == 0) {
      EVENKEEL_TRY(add(pull_->row()));
      return false;
    }
    if (order > 0) {
      return fail(
          internal_error("merge: an instance sent groups in another order than the proxy's: refused, since a "
                         "group could appear twice"));
    }
    if (window_.admit()) {
      EVENKEEL_TRY(write());
      pulled_ = true;
      return true;
    }
    EVENKEEL_TRY(begin());
    return false;
  }

  // The end of the input: the open group, and without keys one row whether or not there was any.
  Step last() {
    ended_ = true;
    if (!open_ && keys_) return Step::end;
    if (!open_) {
      for (Aggregate& aggregate : aggregates_) aggregate.start();
    }
    if (!window_.admit()) return Step::end;
    if (auto written = write(); !written) return fail_with(std::move(written.error()));
    return Step::row;
  }

  Status begin() {
    open_ = true;
    group_row_.assign(pull_->row());
    if (!reader_.read_all(group_row_, first_cells_)) return fail(malformed_row());
    if (keys_ && !keys_->read(reader_.format(), reader_.columns(), first_cells_, group_keys_)) {
      return fail(malformed_row());
    }
    for (Aggregate& aggregate : aggregates_) {
      aggregate.start();
      EVENKEEL_TRY(aggregate.add(first_cells_));
    }
    return {};
  }

  Status add(std::string_view row) {
    if (!reader_.read_all(row, cells_)) return fail(malformed_row());
    for (Aggregate& aggregate : aggregates_) EVENKEEL_TRY(aggregate.add(cells_));
    return {};
  }

  Status write() {
    builder_.begin(aggregates_.size());
    for (Aggregate& aggregate : aggregates_)
      EVENKEEL_TRY(aggregate.write(open_ ? &first_cells_ : nullptr, builder_));
    return {};
  }

  std::optional<Keys> keys_;  // none: one group in all
  std::vector<Aggregate> aggregates_;
  std::vector<Cell> cells_;
  std::string group_row_;  // the open group's first row
  std::vector<Cell> first_cells_;
  std::vector<KeyValue> group_keys_;
  RowBuilder builder_;
  bool open_ = false;
  bool pulled_ = false;
  bool ended_ = false;
};

Error changed(std::string what) {
  return make_error(ErrorKind::statement, mysql::er::table_def_changed,
                    "Table definition has changed, please retry: " + std::move(what));
}

Result<std::unique_ptr<Merger>> make_plain(const Spec& spec, RowReader reader,
                                           std::vector<ColumnFacts> outputs, uint32_t sources) {
  const auto& inputs = reader.columns();
  const size_t visible = spec.visible_columns == 0 ? inputs.size() : spec.visible_columns;
  if (visible > inputs.size() || outputs.size() != visible) {
    return fail(changed(fmt::format("{} of {} columns are the client's, it was told {}", visible,
                                    inputs.size(), outputs.size())));
  }
  for (size_t i = 0; i < visible; ++i) {
    if (!can_recode(reader.format(), inputs[i], outputs[i])) {
      return fail(changed(fmt::format("column {} is {}, the client was told {}", i,
                                      mysql::to_string(inputs[i].type), mysql::to_string(outputs[i].type))));
    }
  }
  std::optional<Keys> keys;
  if (spec.how == How::ordered) {
    EVENKEEL_ASSIGN(keys, Keys::make(spec.order, reader.format(), inputs));
  }
  return std::make_unique<PlainMerger>(spec, std::move(reader), std::move(outputs), sources, std::move(keys));
}

Result<std::unique_ptr<Merger>> make_grouped(const Spec& spec, RowReader reader,
                                             const std::vector<ColumnFacts>& outputs, uint32_t sources) {
  const auto& inputs = reader.columns();
  if (outputs.size() != spec.outputs.size()) {
    return fail(internal_error(fmt::format("merge: {} grouped columns, {} told to the client",
                                           spec.outputs.size(), outputs.size())));
  }
  std::vector<Aggregate> aggregates;
  for (size_t i = 0; i < outputs.size(); ++i) {
    EVENKEEL_ASSIGN(auto aggregate, Aggregate::make(spec.outputs[i], reader.format(), inputs, outputs[i]));
    aggregates.push_back(std::move(aggregate));
  }
  std::optional<Keys> keys;
  if (!spec.group.empty()) {
    EVENKEEL_ASSIGN(keys, Keys::make(spec.group, reader.format(), inputs));
  }
  return std::make_unique<GroupMerger>(spec, std::move(reader), std::move(aggregates), sources,
                                       std::move(keys));
}

}  // namespace

Result<std::unique_ptr<Merger>> make_merger(const Spec& spec, RowFormat format,
                                            std::vector<ColumnFacts> inputs, std::vector<ColumnFacts> outputs,
                                            uint32_t sources) {
  if (spec.how == How::pass && sources != 1) {
    return fail(internal_error(fmt::format("merge: {} sources to pass through", sources)));
  }
  RowReader reader(format, std::move(inputs));
  if (spec.how == How::grouped) return make_grouped(spec, std::move(reader), outputs, sources);
  return make_plain(spec, std::move(reader), std::move(outputs), sources);
}

}  // namespace evenkeel::merge
