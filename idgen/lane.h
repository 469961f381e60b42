// One worker id's part in a Snowflake generator: its window and the words that ids are made from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "idgen/gene.h"
#include "idgen/snowflake.h"

namespace evenkeel::idgen {

// Thread-safe but for its making. Ids of different lanes differ in the worker field.
class Lane {
 public:
  // One word, or with genes of the method `classes` one for each residue. `layout` and `clock` are checked;
  // `ticks` must outlive it.
  Lane(const Layout& layout, const ClockSettings& clock, const Gene& gene, uint32_t slots,
       std::shared_ptr<const TickWindow> window, const TickSource& ticks);

  const TickWindow& window() const { return *window_; }
  uint32_t worker() const { return window_->worker(); }
  // For draws without genes.
  Snowflake& core() { return *cores_.front(); }
  // Ids with genes[i] = out[i] modulo the gene's modulus.
  Draw draw_genes(const SteeredStart& start, std::span<const uint32_t> genes, std::span<uint64_t> out,
                  LiveCounters& counters);
  const Snowflake& core() const { return *cores_.front(); }
  uint64_t sequences() const { return cores_.front()->sequences(); }

  // Which slots, and which residues of the gene's modulus, this worker id reaches; empty when all.
  const std::vector<bool>& reachable_slots() const { return reachable_slots_; }
  const std::vector<bool>& reachable_genes() const { return reachable_genes_; }

  // No ids after this.
  void close();
  // The last tick that ids were made of; final once closed.
  uint64_t last_tick() const;

  // Since when draws have wanted another worker id: the first call says it, in Unix microseconds by the clock
  // as it stands.
  int64_t switch_wanted_since(int64_t now_us);

 private:
  const Gene gene_;
  const Modulus modulus_;
  const std::shared_ptr<const TickWindow> window_;
  std::vector<std::unique_ptr<Snowflake>> cores_;
  const std::vector<bool> reachable_slots_;
  const std::vector<bool> reachable_genes_;
  std::atomic<int64_t> switch_wanted_us_{0};
};

}  // namespace evenkeel::idgen
