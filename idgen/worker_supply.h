// Where a generator asks for another worker id when its own is of no use until the clock is back.
#pragma once

#include <cstdint>

namespace evenkeel::idgen {

// Fulfilled by who holds the worker leases. `ask_for_switch` may be called by any thread, often, and must
// not block; the holder then leases another id on its own thread and hands its window to adopt() of every
// generator that used `worker`. Until then draws are told to come back.
class WorkerSupply {
 public:
  virtual ~WorkerSupply() = default;
  virtual void ask_for_switch(uint32_t worker) = 0;
};

}  // namespace evenkeel::idgen
