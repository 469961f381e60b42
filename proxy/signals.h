// How a serving subcommand is told to stop.
#pragma once

#include <csignal>
#include <functional>

namespace evenkeel {

// TERM, INT and HUP, and USR1 to wake a waiting thread, are taken by sigwait alone: call this before threads
// start.
sigset_t block_signals();
int await_signal(const sigset_t& set);
// Returns at TERM or INT; at HUP it calls `reload` and goes on.
void await_stop(const sigset_t& set, const std::function<void()>& reload);

}  // namespace evenkeel
