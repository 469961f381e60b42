#include "proxy/exec/prelude.h"

namespace evenkeel::exec {

void bring_to_state(Lane& lane, const SessionState& state) {
  Connection& connection = lane.connection();
  if (connection.instance == state.default_instance && !state.database.empty() &&
      connection.database != state.database) {
    lane.init_db(state.database);
    connection.database = state.database;
    if (connection.capability.no_database) connection.retire = true;
  }
  // A procedure or a prepared text of the client's switched it off.
  if (state.autocommit && !connection.autocommit && !lane.begun)
    lane.query("SET autocommit = 1", Purpose::state);
  if (connection.applied == state.variables) return;
  const std::string change = difference(*connection.applied, *state.variables, connection.flavour);
  if (!change.empty()) lane.query(change, Purpose::state);
  connection.applied = state.variables;
}

void select_database(Lane& lane, const std::string& database) {
  Connection& connection = lane.connection();
  if (database.empty() || !connection.database.empty()) return;
  lane.init_db(database);
  connection.database = database;
  if (connection.capability.no_database) connection.retire = true;
}

void begin_branch(Lane& lane, const SessionState& state) {
  if (lane.begun) return;
  lane.begun = true;
  lane.written = false;
  if (!state.transaction.one_shot.empty()) lane.query(state.transaction.one_shot, Purpose::begin);
  lane.query(state.transaction.begin_sql, Purpose::begin);
  for (const auto& savepoint : state.transaction.savepoints) {
    lane.query("SAVEPOINT " + savepoint, Purpose::begin);
  }
}

}  // namespace evenkeel::exec
