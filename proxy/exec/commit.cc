#include "proxy/exec/commit.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/mysql/error_codes.h"

namespace evenkeel::exec {
namespace {

// ER_ERROR_DURING_COMMIT
constexpr uint16_t error_during_commit = 1180;

}  // namespace

void CommitFlow::send(Lane& lane, bool commit) {
  ++awaited_;
  lane.query(commit ? "COMMIT" : "ROLLBACK", commit ? Purpose::commit : Purpose::rollback);
  port_.flush(&lane.connection());
}

void CommitFlow::start() {
  std::vector<Lane*> others;
  for (const auto& lane : state_.lanes.all()) {
    if (!lane->begun) continue;
    if (lane->connection().lost) {
      // Its instance rolls back by itself; a commit of the rest would be half a transaction.
      if (lane->written && what_ == What::commit) {
        failed_at_ = lane->instance();
        first_error_ =
            make_error(ErrorKind::backend, mysql::er::query_on_foreign_data_source,
                       fmt::format("connection to instance '{}' was lost", name(lane->instance())));
      }
      continue;
    }
    if (lane->written && what_ == What::commit) {
      writers_.push_back(lane->instance());
    } else {
      others.push_back(lane.get());
    }
  }
  if (what_ == What::rollback || writers_.size() <= 1) {
    const bool commit = what_ == What::commit && !failed_at_;
    for (Lane* lane : others) send(*lane, commit);
    if (!writers_.empty()) send(*state_.lanes.find(writers_.front()), commit);
    next_writer_ = writers_.size();
  }
  next();
}

// Sends what is to be sent once nothing is awaited.
void CommitFlow::next() {
  if (awaited_ > 0) return;
  if (next_writer_ < writers_.size()) {
    if (failed_at_) {
      while (next_writer_ < writers_.size()) {
        Lane& lane = *state_.lanes.find(writers_[next_writer_++]);
        if (!lane.connection().lost) send(lane, false);
      }
    } else {
      send(*state_.lanes.find(writers_[next_writer_++]), true);
    }
    if (awaited_ > 0) return;
  }
  // Readers wait until the writers' fate is known.
  for (const auto& lane : state_.lanes.all()) {
    if (!lane->begun || lane->written || lane->connection().lost || !lane->idle()) continue;
    if (writers_.size() > 1 || what_ == What::rollback) {
      lane->begun = false;
      send(*lane, what_ == What::commit);
    }
  }
  if (awaited_ == 0) finish();
}

void CommitFlow::on_error(Lane& lane, const Error& error) {
  if (what_ == What::rollback) {
    lane.connection().retire = true;
    return;
  }
  if (!failed_at_ && lane.written) {
    failed_at_ = lane.instance();
    first_error_ = error;
  }
  lane.connection().retire = true;
}

void CommitFlow::on_step_done(Lane& lane, const Step& step, bool failed) {
  --awaited_;
  lane.begun = false;
  const bool was_writer = std::find(writers_.begin(), writers_.end(), lane.instance()) != writers_.end();
  if (!failed && was_writer && step.purpose == Purpose::commit) committed_.push_back(lane.instance());
  next();
}

void CommitFlow::on_lost(Lane& lane, const std::string& reason, bool awaited) {
  if (awaited) --awaited_;
  const bool open = std::exchange(lane.begun, false);
  if (what_ == What::commit && lane.written && open && !failed_at_) {
    failed_at_ = lane.instance();
    outcome_unknown_ = awaited;
    first_error_ = make_error(ErrorKind::backend, mysql::er::query_on_foreign_data_source,
                              fmt::format("connection to instance '{}' was lost {} COMMIT ({})",
                                          name(lane.instance()), awaited ? "during" : "before", reason));
  }
  next();
}

void CommitFlow::finish() {
  done_ = true;
  for (const auto& lane : state_.lanes.all()) {
    if (lane->begun && lane->connection().lost) lane->begun = false;
    lane->written = false;
  }
  if (!failed_at_) return;
  if (writers_.size() <= 1 && committed_.empty()) {
    error_ = first_error_;
    if (outcome_unknown_) {
      error_->message += "; whether the transaction was committed there is not known";
    }
    return;
  }
  std::vector<std::string> committed;
  for (const auto instance : committed_) committed.push_back(name(instance));
  std::vector<std::string> not_committed;
  for (const auto instance : writers_) {
    if (instance == *failed_at_) continue;
    if (std::find(committed_.begin(), committed_.end(), instance) == committed_.end()) {
      not_committed.push_back(name(instance));
    }
  }
  partial_ = !committed.empty();
  error_ = make_error(
      ErrorKind::backend, error_during_commit,
      fmt::format(
          "COMMIT over several instances failed: committed on [{}]; {} on '{}' ({}); rolled back on [{}]",
          fmt::join(committed, ", "), outcome_unknown_ ? "outcome not known" : "not committed",
          name(*failed_at_), first_error_->message, fmt::join(not_committed, ", ")));
}

}  // namespace evenkeel::exec
