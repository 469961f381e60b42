#include "proxy/exec/merge_reply.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/mysql/collation.h"
#include "base/mysql/error_codes.h"
#include "proxy/front/result_writer.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::exec {

using protocol::Part;

namespace {

// Rows of sources that are not asked for wait in the merger up to this; then reading from them stops.
constexpr size_t held_bytes_high = size_t{1} << 20;

merge::ColumnFacts facts_of(const protocol::ColumnDefinition& column) {
  merge::ColumnFacts facts;
  facts.type = column.type;
  facts.is_unsigned = (column.flags & mysql::column_flag::unsigned_) != 0;
  facts.decimals = column.decimals;
  facts.collation = column.collation;
  return facts;
}

std::vector<merge::ColumnFacts> facts_of(const std::vector<protocol::ColumnDefinition>& columns) {
  std::vector<merge::ColumnFacts> facts;
  facts.reserve(columns.size());
  for (const auto& column : columns) facts.push_back(facts_of(column));
  return facts;
}

// Whether a cell's bytes mean the same by both definitions. The collation's number may differ: it tells what
// the connection was set to, not the column's order.
bool same_encoding(const protocol::ColumnDefinition& a, const protocol::ColumnDefinition& b) {
  const auto* left = mysql::find_collation(a.collation);
  const auto* right = mysql::find_collation(b.collation);
  const bool same_charset =
      a.collation == b.collation || (left != nullptr && right != nullptr && left->charset == right->charset);
  const bool same_type =
      a.wire_type() == b.wire_type() || (mysql::is_string(a.type) && mysql::is_string(b.type));
  return same_type && same_charset;
}

// The type of a parameter in the select list, and of what is made from it, is known only when it has a value:
// the statement that told the columns' names had none.
void take_type_of_value(const protocol::ColumnDefinition& input, protocol::ColumnDefinition& shown) {
  const bool no_type = shown.type == mysql::ColumnType::null;
  const bool guessed =
      shown.original_name.empty() && mysql::is_string(shown.type) && !mysql::is_string(input.type);
  if (!no_type && !guessed) return;
  shown.type = input.type;
  shown.collation = input.collation;
  shown.length = input.length;
  shown.flags = input.flags;
  shown.decimals = input.decimals;
}

}  // namespace

MergeReply::MergeReply(const plan::Plan& plan, SessionState& state, Port& port, AnswerFacts facts,
                       size_t row_limit)
    : Reply(plan, state, port, facts),
      row_limit_(row_limit),
      sources_(plan.units.size()),
      metadata_known_(plan.metadata_sql.empty()) {}

void MergeReply::on_metadata(Lane& lane, std::string_view definition) {
  auto column = protocol::ColumnDefinition::decode(definition, lane.connection().capabilities);
  if (!column) {
    set_error(column.error());
    return;
  }
  restore_definition(*column, plan_.restore, state_.results_collation);
  shown_.push_back(std::move(*column));
}

void MergeReply::on_metadata_done() {
  metadata_known_ = true;
  if (first_unit_ == UINT32_MAX || merger_) return;
  if (auto started = start_merger(); !started) set_error(started.error());
  pump();
}

void MergeReply::on_part(Lane& lane, uint32_t unit, Part part, std::string_view payload) {
  Source& source = sources_[unit];
  switch (part) {
    case Part::column_definition: {
      auto column = protocol::ColumnDefinition::decode(payload, lane.connection().capabilities);
      if (!column) {
        set_error(column.error());
        return;
      }
      source.columns.push_back(std::move(*column));
      const bool eof_follows =
          !protocol::has(lane.connection().capabilities, protocol::capability::deprecate_eof);
      if (!eof_follows && source.columns.size() == lane.tracker().columns()) begin_rows(lane, unit);
      return;
    }
    case Part::definitions_end:
      begin_rows(lane, unit);
      return;
    case Part::rows_end:
      tally_.warnings += lane.tracker().warnings();
      source.finished = true;
      if (merger_) merger_->finish(unit);
      pump();
      return;
    case Part::ok:
      set_error(internal_error("an instance answered a SELECT without rows"));
      return;
    default:
      return;
  }
}

// All definitions of a unit are there.
void MergeReply::begin_rows(Lane& lane, uint32_t unit) {
  Source& source = sources_[unit];
  source.splitter.begin(lane.next_sequence());
  if (first_unit_ == UINT32_MAX) {
    first_unit_ = unit;
    if (metadata_known_) {
      if (auto started = start_merger(); !started) set_error(started.error());
    }
    return;
  }
  if (auto same = check_columns(unit); !same) set_error(same.error());
}

// Instances that disagree about a column cannot be merged: a value would be read in the wrong way.
Status MergeReply::check_columns(uint32_t unit) const {
  const auto& first = sources_[first_unit_].columns;
  const auto& other = sources_[unit].columns;
  if (first.size() != other.size()) {
    return evenkeel::fail(
        make_error(ErrorKind::backend, mysql::er::unknown_error,
                   fmt::format("the tables behind this statement have different columns ({} and {})",
                               first.size(), other.size())));
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (same_encoding(first[i], other[i])) continue;
    return evenkeel::fail(make_error(
        ErrorKind::backend, mysql::er::unknown_error,
        fmt::format("column '{}' has different types or collations in the tables behind this statement",
                    first[i].name)));
  }
  return {};
}

Status MergeReply::start_merger() {
  const auto& inputs = sources_[first_unit_].columns;
  if (shown_.empty()) {
    shown_ = inputs;
    if (plan_.merge.visible_columns > 0) shown_.resize(plan_.merge.visible_columns);
    for (auto& column : shown_) restore_definition(column, plan_.restore, state_.results_collation);
  }
  // A text row is read alike by every type; only a binary one needs that of its bytes.
  for (size_t i = 0; facts_.binary && i < std::min(shown_.size(), inputs.size()); ++i) {
    take_type_of_value(inputs[i], shown_[i]);
  }
  const auto format = facts_.binary ? merge::RowFormat::binary : merge::RowFormat::text;
  auto merger = merge::make_merger(plan_.merge, format, facts_of(inputs), facts_of(shown_),
                                   static_cast<uint32_t>(sources_.size()));
  if (!merger) return evenkeel::fail(merger.error());
  merger_ = std::move(*merger);
  write_head();
  for (uint32_t unit = 0; unit < sources_.size(); ++unit) {
    Source& source = sources_[unit];
    if (!source.early.empty()) feed(unit, std::exchange(source.early, {}));
    if (source.finished) merger_->finish(unit);
  }
  return {};
}

void MergeReply::write_head() {
  front::ResultWriter answer(port_.client_out(), facts_.sequence, facts_.capabilities);
  answer.columns(shown_, state_.status());
  facts_.sequence = answer.next_sequence();
  rows_open_ = true;
  tally_.returned_rows = true;
}

void MergeReply::on_rows(Lane& lane, uint32_t unit, std::string_view frames) {
  if (ended_ || error_ || stopped_) return;
  if (merger_) {
    feed(unit, frames);
    pump();
    return;
  }
  // The metadata is asked for on another lane; its answer is a round trip away at most.
  sources_[unit].early.append(frames);
  if (!lane.paused) {
    lane.paused = true;
    port_.pause(&lane.connection());
  }
}

void MergeReply::feed(uint32_t unit, std::string_view frames) {
  auto fed = sources_[unit].splitter.feed(frames, [&](std::string_view row) {
    merger_->feed(unit, row);
    ++fed_;
  });
  if (!fed) set_error(fed.error());
}

void MergeReply::pump() {
  if (!merger_ || ended_ || error_ || stopped_) return;
  while (!port_.client_is_slow()) {
    switch (merger_->next()) {
      case merge::Merger::Step::row: {
        protocol::PacketWriter packets(port_.client_out(), facts_.sequence);
        packets.write_payload(merger_->row());
        facts_.sequence = packets.next_sequence();
        ++tally_.rows;
        continue;
      }
      case merge::Merger::Step::need:
        balance(merger_->needed());
        return;
      case merge::Merger::Step::end:
        ended_ = true;
        balance(UINT32_MAX);
        return;
      case merge::Merger::Step::error:
        set_error(merger_->error());
        return;
    }
  }
  // A slow client: nobody is read from until it has taken what waits.
  for (const auto& lane : state_.lanes.all()) {
    if (lane->paused || lane->idle()) continue;
    lane->paused = true;
    port_.pause(&lane->connection());
  }
}

// Reads on from the source that is needed; the others may run ahead by a bounded amount.
void MergeReply::balance(uint32_t needed) {
  if (fed_ > tally_.rows + row_limit_ && merger_->held_bytes() > 0 && !ended_) {
    set_error(make_error(
        ErrorKind::limit, mysql::er::unknown_error,
        fmt::format("the merge of this statement holds more than {} rows (max_rows_held)", row_limit_)));
    return;
  }
  const bool stop_others = !ended_ && merger_->held_bytes() > held_bytes_high;
  for (const auto& lane : state_.lanes.all()) {
    if (lane->idle()) continue;
    const bool wanted = needed == UINT32_MAX ||
                        (needed < plan_.units.size() && lane->instance() == plan_.units[needed].instance);
    const bool pause = stop_others && !wanted;
    if (pause == lane->paused) continue;
    lane->paused = pause;
    if (pause) {
      port_.pause(&lane->connection());
    } else {
      port_.resume(&lane->connection());
    }
  }
}

void MergeReply::on_drained() { pump(); }

}  // namespace evenkeel::exec
