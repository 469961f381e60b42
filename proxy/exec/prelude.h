// What a lane is told before a statement: the session's state, and the transaction it joins.
#pragma once

#include "proxy/exec/lane.h"
#include "proxy/exec/session_state.h"

namespace evenkeel::exec {

// Queues what brings the lane's server to the session's state (variables, current database on the default
// instance). Pipelined before the statement: nothing when the states agree.
void bring_to_state(Lane& lane, const SessionState& state);

// Queues the choice of `database` where none is current; nothing when it is empty.
void select_database(Lane& lane, const std::string& database);

// Queues BEGIN (with its characteristics, and the savepoints that the transaction has so far) unless the lane
// has begun.
void begin_branch(Lane& lane, const SessionState& state);

// The savepoint around a logical statement of several units.
inline constexpr const char* statement_savepoint = "evenkeel_statement";

}  // namespace evenkeel::exec
