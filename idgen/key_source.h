// What stands behind one configured generator in a running process: the worker lease, or the store of
// segments, that its tables' generators draw on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "idgen/gene.h"
#include "idgen/generator.h"

namespace evenkeel::idgen {

// Owned by the control thread, which makes all calls; they may block on IO. The generators it made are for
// any thread and must not outlive it.
class KeySource {
 public:
  KeySource() = default;
  virtual ~KeySource() = default;
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;

  // A generator for the logical table `table`, named as messages and stores shall name it, of `slots` slots.
  // The source keeps it.
  virtual Result<KeyGenerator*> add_table(const std::string& table, uint32_t slots) = 0;
  // The same for a table that another column shards. Sources whose ids have no units know the default gene
  // alone.
  virtual Result<KeyGenerator*> add_gene_table(const std::string& table, uint32_t slots, const Gene& gene) {
    if (gene == Gene{}) return add_table(table, slots);
    return fail(
        config_error("table " + table + ": gene methods and moduli need a generator of kind snowflake"));
  }

  // Renews what has to be renewed and is due; call it every `tend_every_ms`. An error is for the log: the
  // generators go on as long as they may.
  virtual Status tend(int64_t now_unix_ms) = 0;
  virtual int64_t tend_every_ms() const = 0;

  // Closes the generators, then gives back what others may use. An error is for the log.
  virtual Status close() = 0;
};

}  // namespace evenkeel::idgen
