#include "router/rule/residues.h"

namespace evenkeel::rule {
namespace {

constexpr uint64_t samples_per_slot = 40;

}  // namespace

std::vector<Slot> residue_slots(const Algorithm& algorithm) {
  std::vector<Slot> slots;
  slots.reserve(algorithm.period());
  for (uint64_t residue = 0; residue < algorithm.period(); ++residue) {
    auto slot = algorithm.slot_of(mysql::Value::uint64(residue));
    if (!slot) return {};
    slots.push_back(*slot);
  }
  return slots;
}

std::vector<uint32_t> permitted_residues(const Algorithm& algorithm, std::span<const Slot> slots) {
  std::vector<bool> permitted(algorithm.slots());
  for (Slot slot : slots) {
    if (slot < permitted.size()) permitted[slot] = true;
  }
  std::vector<uint32_t> residues;
  const std::vector<Slot> all = residue_slots(algorithm);
  for (uint32_t residue = 0; residue < all.size(); ++residue) {
    if (permitted[all[residue]]) residues.push_back(residue);
  }
  return residues;
}

std::vector<Slot> unreachable_slots(const Algorithm& algorithm) {
  if (algorithm.reaches_all_by_making()) return {};
  const uint64_t asked = algorithm.period() != 0 ? algorithm.period() : samples_per_slot * algorithm.slots();
  std::vector<bool> reached(algorithm.slots());
  uint32_t missing = algorithm.slots();
  for (uint64_t value = 0; value < asked && missing > 0; ++value) {
    auto slot = algorithm.slot_of(mysql::Value::uint64(value));
    if (!slot || reached[*slot]) continue;
    reached[*slot] = true;
    --missing;
  }
  std::vector<Slot> unreachable;
  for (Slot slot = 0; slot < reached.size() && missing > 0; ++slot) {
    if (!reached[slot]) unreachable.push_back(slot);
  }
  return unreachable;
}

}  // namespace evenkeel::rule
