// Who holds a worker id, as other processes and people see it.
#pragma once

#include <string>

namespace evenkeel::idgen {

struct Holder {
  // "evenkeel pid 4711 on db7", for messages; one line.
  std::string name;
  // Tells this lease from every other one, of any process at any time: 32 random hexadecimal digits, drawn
  // anew for each lease. Names and pids repeat (containers, clones, restarts), so only this proves ownership.
  std::string token;
};

// This process by `program`, its pid and the machine's name, with a fresh token.
Holder holder_of_this_process(const std::string& program = "evenkeel");

// A fresh token.
std::string random_token();

}  // namespace evenkeel::idgen
