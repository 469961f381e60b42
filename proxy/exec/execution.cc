#include "proxy/exec/execution.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/mysql/error_codes.h"
#include "proxy/exec/prelude.h"
#include "proxy/protocol/messages.h"

namespace evenkeel::exec {

using protocol::Part;

namespace {

Error lost_error(const std::string& instance, const std::string& reason) {
  return make_error(ErrorKind::backend, mysql::er::query_on_foreign_data_source,
                    fmt::format("Lost connection to instance '{}' during query ({})", instance, reason));
}

}  // namespace

Execution::Execution(plan::Plan plan, ExecutionOptions options, SessionState& state, Port& port,
                     const std::vector<std::string>& instance_names)
    : plan_(std::move(plan)),
      options_(std::move(options)),
      state_(state),
      port_(port),
      names_(instance_names),
      next_unit_(instance_names.size(), 0) {
  if (plan_.row_change != plan::RowChange::none && plan_.units.size() > 1)
    outcome_.unit_rows.resize(plan_.units.size(), 0);
  reply_ = make_reply(plan_, state_, port_, options_.answer, options_.max_rows_held);
}

bool Execution::uses(rule::InstanceId instance) const {
  return std::any_of(plan_.units.begin(), plan_.units.end(),
                     [&](const plan::ExecutionUnit& unit) { return unit.instance == instance; });
}

void Execution::start() {
  state_.warnings.clear();
  if (plan_.writes && options_.single_instance && state_.in_transaction()) {
    for (const auto& lane : state_.lanes.all()) {
      if (!lane->written || (uses(lane->instance()) && plan_.units.size() == 1)) continue;
      fail_with(unsupported(fmt::format(
          "this transaction has written on instance '{}': with transactions: single_instance no second "
          "instance may be written in it",
          name(lane->instance()))));
      return;
    }
  }
  std::vector<rule::InstanceId> wanted;
  for (const auto& unit : plan_.units) {
    if (!wanted.empty() && wanted.back() == unit.instance) continue;
    if (std::find(wanted.begin(), wanted.end(), unit.instance) == wanted.end())
      wanted.push_back(unit.instance);
  }
  if (plan_.writes && options_.single_instance && wanted.size() > 1) {
    fail_with(unsupported("a write over several instances (transactions: single_instance)"));
    return;
  }
  // In one order for all sessions, so that two of them cannot wait for each other for ever.
  std::sort(wanted.begin(), wanted.end());
  for (const auto instance : wanted) {
    if (state_.lanes.find(instance) == nullptr) leasing_.push_back(instance);
  }
  const auto asked = leasing_;
  for (const auto instance : asked) {
    if (stage_ == Stage::done) return;
    port_.lease(instance, state_.capability, instance);
  }
  advance();
}

void Execution::on_lease(rule::InstanceId instance, Result<Connection*> connection) {
  leasing_.erase(std::remove(leasing_.begin(), leasing_.end(), instance), leasing_.end());
  if (connection) {
    state_.lanes.add(*connection);
    return;
  }
  note_error(0, connection.error());
}

void Execution::advance() {
  // Each stage falls into the next when it has nothing to wait for.
  if (stage_ == Stage::leasing) {
    if (error_) {
      for (const auto instance : leasing_) port_.cancel_lease(instance);
      leasing_.clear();
      fail_with(*error_);
      return;
    }
    if (!leasing_.empty()) return;
    begin_units();
  }
  if (stage_ == Stage::running) {
    if (reply_->error()) {
      note_error(0, *reply_->error());
    }
    if (error_) stop_reading_units();
    if (!units_idle()) return;
    if (!error_ && reply_->holds_rows()) return;
    after_units();
  }
  if (stage_ == Stage::undoing && units_idle()) {
    fail_with(*error_);
    return;
  }
  if (stage_ == Stage::following_up && asked_.empty()) after_follow_up();
  if (stage_ == Stage::committing && commit_->done()) {
    outcome_.partial_commit = commit_->partial();
    if (commit_->error() && !error_) error_ = commit_->error();
    commit_.reset();
    if (error_) {
      fail_with(*error_);
    } else {
      finish();
    }
  }
}

void Execution::begin_units() {
  stage_ = Stage::running;
  const bool in_transaction = state_.transaction.open || !state_.autocommit;
  own_transaction_ = plan_.atomic && !in_transaction;
  savepoint_ = plan_.atomic && in_transaction;
  if (!state_.autocommit) state_.transaction.open = true;
  for (const auto& lane : state_.lanes.all()) {
    if (!uses(lane->instance())) continue;
    bring_to_state(*lane, state_);
    for (const auto& unit : plan_.units) {
      if (unit.instance == lane->instance()) select_database(*lane, unit.database);
    }
    if (in_transaction || own_transaction_) {
      begin_branch(*lane, state_);
    } else if (!state_.transaction.one_shot.empty()) {
      lane->query(state_.transaction.one_shot, Purpose::begin);
    }
    if (plan_.writes) lane->written = true;
    if (savepoint_) lane->query(std::string("SAVEPOINT ") + statement_savepoint, Purpose::savepoint);
    lane->held = !lane->idle() && !may_run_ahead();
    if (!plan_.metadata_sql.empty() && lane->instance() == plan_.units.front().instance) {
      lane->prepare(plan_.metadata_sql, Purpose::metadata);
    }
    if (!lane->held) queue_units(*lane);
    port_.flush(&lane->connection());
  }
  if (!in_transaction) state_.transaction.one_shot.clear();
}

// Whether the units may go out in one write with what brings the connection to the session's state and opens
// the transaction. If that is refused, a write behind it would run in another state or commit by itself.
bool Execution::may_run_ahead() const { return !plan_.writes && plan_.kind != plan::PlanKind::forward; }

// The units of a write go one after the other: an instance that fails one may have ended its transaction with
// it (a deadlock), and what came behind would be made durable by itself.
void Execution::queue_units(Lane& lane) {
  if (one_by_one()) {
    queue_next(lane);
    return;
  }
  for (uint32_t unit = 0; unit < plan_.units.size(); ++unit) {
    if (plan_.units[unit].instance == lane.instance()) lane.query(plan_.units[unit].sql, Purpose::unit, unit);
  }
  next_unit_[lane.instance()] = static_cast<uint32_t>(plan_.units.size());
}

void Execution::queue_next(Lane& lane) {
  uint32_t& next = next_unit_[lane.instance()];
  while (next < plan_.units.size() && plan_.units[next].instance != lane.instance()) ++next;
  if (next == plan_.units.size() || error_) return;
  const plan::ExecutionUnit& unit = plan_.units[next];
  if (!options_.answer.binary) {
    lane.query(unit.sql, Purpose::unit, next);
    ++next;
    return;
  }
  auto& connection = lane.connection();
  const auto* prepared = connection.prepared.find(unit.sql);
  if (prepared != nullptr && prepared->fits(connection.database, connection.applied)) {
    lane.execute(prepared->server_id, unit_values(unit), next);
    ++next;
  } else {
    lane.prepare(unit.sql, Purpose::prepare, next);
  }
}

std::vector<mysql::Value> Execution::unit_values(const plan::ExecutionUnit& unit) const {
  std::vector<mysql::Value> values;
  values.reserve(unit.parameters.size());
  for (const uint32_t index : unit.parameters) {
    values.push_back(index < options_.statement_parameters
                         ? options_.parameters[index]
                         : plan_.extra_parameters[index - options_.statement_parameters]);
  }
  return values;
}

bool Execution::units_idle() const {
  for (const auto& lane : state_.lanes.all()) {
    if (!lane->idle()) return false;
  }
  return true;
}

void Execution::on_part(Lane& lane, const Step& step, Part part, std::string_view payload) {
  if (part == Part::err) {
    auto err = protocol::Err::decode(payload);
    Error error = err ? err->to_error() : err.error();
    if (commit_ && (step.purpose == Purpose::commit || step.purpose == Purpose::rollback)) {
      commit_->on_error(lane, error);
    } else if (step.purpose == Purpose::state) {
      // The server refused what the session was told it has: the connection's state is not known any more. A
      // lane that must stay is told all of it again.
      lane.connection().retire = true;
      lane.connection().applied = std::make_shared<const Variables>();
      lane.connection().database.clear();
      note_error(0, std::move(error));
    } else if (step.purpose == Purpose::undo) {
      poison(
          fmt::format("a statement failed and could not be undone on instance '{}'", name(lane.instance())));
    } else if (step.purpose == Purpose::capture) {
      lane.connection().retire = true;
    } else {
      if (step.purpose == Purpose::begin) {
        poison(fmt::format("it could not be opened on instance '{}'", name(lane.instance())));
      }
      note_error(step.unit, std::move(error));
    }
    return;
  }
  switch (step.purpose) {
    case Purpose::state:
      if (part == Part::ok && plan_.hidden_effects) follow_transaction(lane);
      return;
    case Purpose::unit:
      if (plan_.hidden_effects && (part == Part::ok || part == Part::rows_end)) follow_transaction(lane);
      if (part == Part::ok && !outcome_.unit_rows.empty())
        outcome_.unit_rows[step.unit] = lane.tracker().affected_rows();
      reply_->on_part(lane, step.unit, part, payload);
      return;
    case Purpose::metadata:
      if (part == Part::column_definition) reply_->on_metadata(lane, payload);
      return;
    case Purpose::capture:
      if (FollowUp* asked = asked_on(lane)) asked->capture.begin(lane.next_sequence());
      return;
    default:
      return;
  }
}

void Execution::on_rows(Lane& lane, const Step& step, std::string_view frames) {
  if (step.purpose == Purpose::capture) {
    if (FollowUp* asked = asked_on(lane)) (void)asked->capture.feed(frames);
    return;
  }
  if (step.purpose == Purpose::unit) reply_->on_rows(lane, step.unit, frames);
}

// What went ahead of a lane's units is accepted.
void Execution::go_on(Lane& lane) {
  if (!lane.held || !lane.idle()) return;
  lane.held = false;
  if (error_) return;
  queue_units(lane);
  port_.flush(&lane.connection());
}

void Execution::on_step_done(Lane& lane, const Step& step, bool failed) {
  switch (step.purpose) {
    case Purpose::state:
    case Purpose::begin:
    case Purpose::savepoint:
      go_on(lane);
      return;
    case Purpose::metadata:
      if (failed) return go_on(lane);
      lane.close_statement(lane.tracker().statement_id());
      reply_->on_metadata_done();
      port_.flush(&lane.connection());
      go_on(lane);
      return;
    case Purpose::prepare: {
      if (failed) return;
      auto& connection = lane.connection();
      PreparedCache::Entry entry{lane.tracker().statement_id(), connection.database, connection.applied};
      for (const uint32_t old : connection.prepared.insert(plan_.units[step.unit].sql, std::move(entry))) {
        lane.close_statement(old);
      }
      queue_next(lane);
      port_.flush(&lane.connection());
      return;
    }
    case Purpose::unit:
      reply_->on_unit_done(lane, step.unit);
      // An error says nothing of the transaction; what answers OK does.
      if (failed && plan_.hidden_effects) {
        lane.query("DO 0", Purpose::state);
        port_.flush(&lane.connection());
      }
      // A lane that was held back while its answer ended must hear the next one.
      if (lane.idle() && lane.paused) {
        lane.paused = false;
        port_.resume(&lane.connection());
      }
      // KILL QUERY stopped one unit only.
      if (cancelled_ && !lane.idle()) port_.kill_query(&lane.connection());
      if (one_by_one() && !failed) {
        // The next unit's warnings take the place of these.
        if (plan_.atomic && lane.tracker().warnings() > 0) ask(lane, Question::warnings, "SHOW WARNINGS");
        queue_next(lane);
        port_.flush(&lane.connection());
      }
      return;
    case Purpose::capture:
      take_captured(lane, failed);
      return;
    case Purpose::commit:
    case Purpose::rollback:
      if (commit_) commit_->on_step_done(lane, step, failed);
      return;
    default:
      return;
  }
}

void Execution::note_error(uint32_t unit, Error error) {
  if (cancelled_ && error.code == mysql::er::query_interrupted) error = *cancelled_;
  // The first unit's error is what the client is told, however the answers came in; a KILL's own error stays.
  // But that the instance has ended the transaction goes before all else.
  const bool ends_transaction = error.code == mysql::er::lock_deadlock;
  if (error_ && !ends_transaction && (cancelled_ || unit >= error_unit_)) return;
  error_ = std::move(error);
  error_unit_ = unit;
  // At once: what follows in the same read must not depend on how the bytes are cut.
  reply_->stop();
}

// The answer cannot be completed: the rest is read, so that the lanes come to their ends, and dropped.
void Execution::stop_reading_units() {
  reply_->stop();
  for (const auto& lane : state_.lanes.all()) {
    if (lane->idle()) continue;
    if (lane->paused) {
      lane->paused = false;
      port_.resume(&lane->connection());
    }
  }
}

// A single write that is with its instance may be done before the KILL arrives. Only the instance knows, and
// its answer is the client's.
bool Execution::server_decides() const {
  if (stage_ != Stage::running || may_run_ahead() || plan_.units.size() != 1) return false;
  const Lane* lane = state_.lanes.find(plan_.units.front().instance);
  return lane != nullptr && !lane->held;
}

void Execution::cancel(Error error) {
  // What is done already is told as it is.
  if (stage_ != Stage::leasing && stage_ != Stage::running) return;
  if (!cancelled_) cancelled_ = std::move(error);
  if (!error_ && !server_decides()) {
    error_ = cancelled_;
    error_unit_ = 0;
  }
  if (stage_ == Stage::running) {
    for (const auto& lane : state_.lanes.all()) {
      if (!lane->idle()) port_.kill_query(&lane->connection());
    }
    if (error_) stop_reading_units();
  }
}

void Execution::on_lost(Lane& lane, const std::string& reason) {
  const auto abandoned = lane.abandon();
  const bool was_ours = !abandoned.empty();
  if (commit_) {
    commit_->on_lost(lane, reason, was_ours);
  } else {
    if (was_ours) note_error(abandoned.front().unit, lost_error(name(lane.instance()), reason));
    if (lane.begun) {
      poison(fmt::format("the connection to instance '{}' was lost in it", name(lane.instance())));
    }
    std::erase_if(asked_, [&](const FollowUp& asked) { return asked.lane == &lane; });
  }
}

void Execution::after_units() {
  if (error_) {
    undo();
    return;
  }
  note_insert_id();
  const Tally& tally = reply_->tally();
  warnings_ = tally.warnings - std::min(tally.warnings, repeated_warnings_);
  state_.found_rows = tally.rows;
  follow_up();
}

void Execution::finish() {
  stage_ = Stage::done;
  const Tally& tally = reply_->tally();
  outcome_.rows = tally.rows;
  outcome_.returned_rows = tally.returned_rows;
  outcome_.affected_rows = tally.affected_rows;
  state_.row_count = tally.returned_rows ? -1 : static_cast<int64_t>(tally.affected_rows);
  if (!plan_.pin_reason.empty()) {
    if (Lane* lane = state_.lanes.find(state_.default_instance)) lane->pinned = true;
  }
  reply_->complete(insert_id_, warnings_);
  outcome_.next_sequence = reply_->next_sequence();
}

void Execution::fail_with(Error error) {
  stage_ = Stage::done;
  state_.row_count = -1;
  state_.warnings.push_back({"Error", error.code, error.message});
  outcome_.cut = reply_->cut();
  if (!outcome_.cut) reply_->fail(error);
  outcome_.error = std::move(error);
  outcome_.next_sequence = reply_->next_sequence();
}

}  // namespace evenkeel::exec
