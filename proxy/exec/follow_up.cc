// What an execution asks behind its units, and what their answers say of the session's own values.
#include <algorithm>
#include <charconv>

#include "base/mysql/error_codes.h"
#include "proxy/exec/execution.h"

namespace evenkeel::exec {
namespace {

// Warnings of a statement's text and not of its rows: units that were cut from one statement repeat them.
bool is_of_the_text(uint16_t code) {
  return code == mysql::er::warn_deprecated_syntax || code == mysql::er::warn_deprecated_no_replacement ||
         code == mysql::er::deprecated_utf8_alias || code == mysql::er::warn_deprecated_collation ||
         code == mysql::er::binlog_unsafe_statement;
}

// The rows that SHOW WARNINGS keeps for the client, as MySQL's max_error_count.
constexpr size_t warnings_kept = 64;

uint64_t number_of(const std::optional<std::string>& text) {
  uint64_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

}  // namespace

// What the OK packet and LAST_INSERT_ID() say: MySQL's own rules, with the proxy's key in the place of
// AUTO_INCREMENT.
void Execution::note_insert_id() {
  const Tally& tally = reply_->tally();
  if (plan_.set_last_insert_id) state_.last_insert_id = *plan_.set_last_insert_id;
  if (plan_.backend_sets_last_insert_id && tally.insert_id != 0 &&
      (tally.affected_rows != 1 || (plan_.first_generated == 0 && plan_.explicit_insert_id == 0))) {
    insert_id_ = tally.insert_id;
    state_.last_insert_id = tally.insert_id;
    return;
  }
  if (plan_.first_generated != 0) {
    if (key_was_burnt()) return;
    insert_id_ = plan_.first_generated;
    state_.last_insert_id = plan_.first_generated;
    return;
  }
  insert_id_ = plan_.explicit_insert_id;
  if (insert_id_ == 0 && plan_.kind == plan::PlanKind::forward) insert_id_ = tally.insert_id;
}

// No row of the statement is new: IGNORE dropped all of them, or the only one updated an existing row (2
// affected rows, or 0 when nothing changed).
bool Execution::key_was_burnt() const {
  if (options_.burnable_rows == 0) return false;
  const uint64_t affected = reply_->tally().affected_rows;
  return affected == 0 || (options_.burnable_rows == 1 && affected == 2);
}

void Execution::ask(Lane& lane, Question question, std::string_view sql) {
  asked_.push_back({&lane, question, {}});
  lane.query(sql, Purpose::capture);
}

void Execution::follow_up() {
  stage_ = Stage::following_up;
  for (const auto& lane : state_.lanes.all()) {
    if (!uses(lane->instance()) || lane->connection().lost) continue;
    if (options_.calc_found_rows) ask(*lane, Question::found_rows, "SELECT FOUND_ROWS()");
    if (warnings_ > 0 && !plan_.atomic) ask(*lane, Question::warnings, "SHOW WARNINGS");
    // Whether the id was generated or written by the client: the server's function knows, and is set back to
    // 0 so that the next answer can be told from this one.
    if (options_.fetch_insert_id && reply_->tally().insert_id != 0) {
      ask(*lane, Question::insert_id, "SELECT LAST_INSERT_ID(), LAST_INSERT_ID(0)");
    }
    if (!lane->idle()) port_.flush(&lane->connection());
  }
}

Execution::FollowUp* Execution::asked_on(const Lane& lane) {
  const auto found =
      std::find_if(asked_.begin(), asked_.end(), [&](const FollowUp& asked) { return asked.lane == &lane; });
  return found == asked_.end() ? nullptr : &*found;
}

void Execution::take_captured(Lane& lane, bool failed) {
  FollowUp* found = asked_on(lane);
  if (found == nullptr) return;
  const FollowUp asked = std::move(*found);
  asked_.erase(asked_.begin() + (found - asked_.data()));
  const auto& rows = asked.capture.rows();
  if (failed || rows.empty()) return;
  if (asked.question == Question::warnings) return take_warnings(asked.capture);
  const uint64_t value = rows[0].empty() ? 0 : number_of(rows[0][0]);
  if (asked.question == Question::found_rows) state_.found_rows = value;
  if (asked.question == Question::insert_id && value != 0) state_.last_insert_id = value;
}

void Execution::take_warnings(const Capture& capture) {
  std::vector<Warning> taken;
  for (const auto& row : capture.rows()) {
    if (row.size() < 3) return;
    taken.push_back({row[0].value_or(""), static_cast<uint16_t>(number_of(row[1])), row[2].value_or("")});
  }
  const auto known = state_.warnings.size();
  for (auto at = taken.begin(); at != taken.end(); ++at) {
    const auto same = [&](const Warning& other) {
      return other.code == at->code && other.message == at->message;
    };
    const auto before =
        std::count_if(state_.warnings.begin(), state_.warnings.begin() + static_cast<ptrdiff_t>(known), same);
    if (plan_.atomic && is_of_the_text(at->code) && std::count_if(taken.begin(), at, same) < before) {
      ++repeated_warnings_;
    } else if (state_.warnings.size() < warnings_kept) {
      state_.warnings.push_back(*at);
    }
  }
}

void Execution::after_follow_up() {
  if (own_transaction_) {
    stage_ = Stage::committing;
    commit_.emplace(CommitFlow::What::commit, state_, port_, names_);
    commit_->start();
    return;
  }
  finish();
}

}  // namespace evenkeel::exec
