#include "idgen/generator.h"

#include "base/error.h"

namespace evenkeel::idgen {

Status check_demand(const KeyDemand& demand, std::span<const uint64_t> keys, uint32_t slots,
                    uint32_t gene_modulus) {
  if (keys.size() < demand.rows)
    return fail(internal_error("a key demand with too little room for its keys"));
  if (!demand.slot_deficits.empty() && demand.slot_deficits.size() != slots)
    return fail(internal_error("a key demand whose deficits are not one per slot"));
  if (!demand.slot_instances.empty() && demand.slot_instances.size() != slots)
    return fail(internal_error("a key demand whose instances are not one per slot"));
  if (demand.row_slots.empty()) return {};
  if (demand.row_slots.size() != demand.rows)
    return fail(internal_error("a key demand whose slots are not one per row"));
  for (const uint32_t slot : demand.row_slots)
    if (slot >= gene_modulus) return fail(internal_error("a key demand for a slot that does not exist"));
  return {};
}

}  // namespace evenkeel::idgen
