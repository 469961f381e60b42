#include "idgen/gene.h"

#include <bit>
#include <fmt/format.h>

#include "base/limits.h"
#include "idgen/layout.h"

namespace evenkeel::idgen {
namespace {

// Fewer ids of one gene in a unit make bursts of one customer wait.
constexpr uint64_t wanted_ids_per_gene = 4;

}  // namespace

std::string_view to_string(GeneMethod method) {
  switch (method) {
    case GeneMethod::shared:
      return "shared";
    case GeneMethod::blocks:
      return "blocks";
    case GeneMethod::classes:
      return "classes";
  }
  return "?";
}

SettingsReport check_gene(const Gene& gene, const Layout& layout, uint32_t slots) {
  SettingsReport report;
  const uint32_t modulus = gene.modulus_for(slots);
  const uint64_t sequences = sequence_count(layout);
  if (modulus % slots != 0)
    report.errors.push_back(
        fmt::format("gene: the modulus {} is no multiple of {} tables, so the id would not name the table",
                    modulus, slots));
  if (modulus > limits::slots_max)
    report.errors.push_back(fmt::format("gene: the modulus {} is above {}", modulus, limits::slots_max));
  if (gene.method == GeneMethod::blocks && !std::has_single_bit(modulus))
    report.errors.push_back(
        fmt::format("gene: method blocks needs a modulus that is a power of two, {} is none", modulus));
  if (modulus > sequences)
    report.errors.push_back(fmt::format(
        "gene: the modulus {} is above the {} ids of a time unit, so some genes could not be made", modulus,
        sequences));
  else if (sequences < wanted_ids_per_gene * modulus)
    report.warnings.push_back(
        fmt::format("gene: a time unit holds {} ids of each of {} genes; give the sequence more bits",
                    sequences / modulus, modulus));
  return report;
}

}  // namespace evenkeel::idgen
