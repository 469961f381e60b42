// How many rows each slot gained and lost by this session: counted when they are committed, and doubted where
// affected rows do not tell.
#include "base/mysql/error_codes.h"
#include "proxy/protocol/capabilities.h"
#include "proxy/session/session.h"

namespace evenkeel::session {

using exec::RowCount;
using plan::RowChange;

namespace {

// `found_rows`: the client asked for matched rows in the place of changed ones.
RowCount row_count(RowChange change, int64_t affected, int64_t given, bool found_rows) {
  RowCount counted;
  switch (change) {
    case RowChange::inserted:
      counted.inserted = affected;
      break;
    case RowChange::deleted:
      counted.deleted = affected;
      break;
    case RowChange::replaced:
      counted.inserted = given;
      counted.deleted = affected - given;
      counted.known = affected >= given;
      break;
    case RowChange::upserted:
      // 1: the row is new; 2 or 0: it was there. With CLIENT_FOUND_ROWS an unchanged row counts 1 too.
      counted.inserted = affected == 1 ? 1 : 0;
      counted.known = given == 1 && !(found_rows && affected == 1);
      break;
    default:
      counted.known = false;
      break;
  }
  return counted;
}

}  // namespace

void Session::apply(std::span<const RowCount> rows, bool certain) {
  for (const RowCount& row : rows) {
    if (!certain || !row.known) {
      row.traffic->doubt(row.slot);
      continue;
    }
    if (row.inserted != 0) row.traffic->inserted(row.slot, row.inserted);
    if (row.deleted != 0) row.traffic->deleted(row.slot, row.deleted);
  }
}

void Session::count_rows(const exec::Execution& execution) {
  const plan::Plan& plan = execution.plan();
  const exec::Outcome& outcome = execution.outcome();
  const auto traffic = environment_.traffic.find(plan.written);
  if (traffic == environment_.traffic.end()) return;
  // A connection that was lost, or a commit that reached some instances only: what happened is not known.
  const bool in_doubt = outcome.error && (outcome.partial_commit ||
                                          outcome.error->code == mysql::er::query_on_foreign_data_source);
  if (outcome.error && !in_doubt) return;
  const bool found_rows = (state_.client_capabilities & protocol::capability::found_rows) != 0;
  const bool later = !in_doubt && state_.in_transaction();
  // RETURNING: the rows that came back are those that were written.
  const uint64_t of_one = outcome.returned_rows ? outcome.rows : outcome.affected_rows;
  for (size_t i = 0; i < plan.units.size(); ++i) {
    const plan::ExecutionUnit& unit = plan.units[i];
    if (unit.slots.size() != 1) {
      for (const rule::Slot slot : unit.slots) traffic->second->doubt(slot);
      continue;
    }
    const auto affected = static_cast<int64_t>(outcome.unit_rows.empty() ? of_one : outcome.unit_rows[i]);
    RowCount counted = row_count(plan.row_change, affected, unit.given_rows, found_rows);
    counted.traffic = traffic->second;
    counted.slot = unit.slots.front();
    if (outcome.returned_rows && plan.row_change == RowChange::replaced) counted.known = false;
    if (later) {
      state_.transaction.rows.push_back(counted);
    } else {
      apply(std::span(&counted, 1), !in_doubt);
    }
  }
}

}  // namespace evenkeel::session
