// Ids for tables that another column shards: the id carries what decides the slot (the "gene"), so that the
// id alone names the table too. With modulus G, `id mod G = key mod G`, hence `id mod N = key mod N` for
// every N that divides G: the number of tables may grow along those N without an id changing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "idgen/settings.h"

namespace evenkeel::idgen {

enum class GeneMethod : uint8_t {
  // The next id above the high-water mark with the gene: no counters, about 2*2^sequence/(G+1) ids a unit and
  // worker when genes are random. Mixes with all other ids of the table.
  shared,
  // G is a power of two and the lowest bits of the id; above them a plain counter: 2^sequence/G ids a unit
  // and worker. Mixes with all other ids of the table.
  blocks,
  // A counter for each residue of G: 2^sequence ids a unit and worker, of any one gene 2^sequence/G. Such ids
  // collide with others of the same unit and worker, so the table makes no other ids.
  classes,
};
std::string_view to_string(GeneMethod method);

struct Gene {
  GeneMethod method = GeneMethod::shared;
  // G; 0: the number of slots.
  uint32_t modulus = 0;

  uint32_t modulus_for(uint32_t slots) const { return modulus == 0 ? slots : modulus; }
  bool operator==(const Gene&) const = default;
};

// What is wrong with a gene for a table of `slots` slots, and what is unwise.
SettingsReport check_gene(const Gene& gene, const Layout& layout, uint32_t slots);

}  // namespace evenkeel::idgen
