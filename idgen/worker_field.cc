#include "idgen/worker_field.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace evenkeel::idgen {
namespace {

uint64_t values_of(const WorkerPart& part) { return uint64_t{1} << part.bits; }

std::string misfit(const WorkerPart& part, uint32_t value) {
  return fmt::format("layout: part {} has {} bits, which hold 0 to {}, but the value {}", part.name,
                     part.bits, values_of(part) - 1, value);
}

}  // namespace

uint64_t worker_numbers(const Layout& layout) {
  int bits = layout.worker_bits;
  for (const WorkerPart& part : layout.worker_parts)
    if (part.value) bits -= part.bits;
  return uint64_t{1} << bits;
}

uint32_t worker_id_of(const Layout& layout, uint32_t number) {
  if (layout.worker_parts.empty()) return number;
  uint32_t worker = 0;
  int position = 0;
  // From the lowest piece up, each open one takes the next bits of the number.
  for (auto part = layout.worker_parts.rbegin(); part != layout.worker_parts.rend(); ++part) {
    const auto mask = static_cast<uint32_t>(values_of(*part) - 1);
    worker |= (part->value ? *part->value : number & mask) << position;
    if (!part->value) number >>= part->bits;
    position += part->bits;
  }
  return worker;
}

Status set_part(Layout& layout, std::string_view name, uint32_t value) {
  const auto part = std::find_if(layout.worker_parts.begin(), layout.worker_parts.end(),
                                 [&](const WorkerPart& known) { return known.name == name; });
  if (part == layout.worker_parts.end()) {
    std::vector<std::string_view> names;
    for (const WorkerPart& known : layout.worker_parts) names.push_back(known.name);
    return fail(config_error(
        names.empty() ? fmt::format("layout: it has no part {}: its worker field is one number", name)
                      : fmt::format("layout: it has no part {}; it has {}", name, fmt::join(names, ", "))));
  }
  if (value >= values_of(*part)) return fail(config_error(misfit(*part, value)));
  part->value = value;
  return {};
}

std::vector<WorkerPart> parts_of(const Layout& layout, uint32_t worker) {
  std::vector<WorkerPart> parts = layout.worker_parts;
  int low = layout.worker_bits;
  for (WorkerPart& part : parts) {
    low -= part.bits;
    part.value = static_cast<uint32_t>((worker >> low) & (values_of(part) - 1));
  }
  return parts;
}

std::vector<std::string> check_parts(const Layout& layout) {
  std::vector<std::string> errors;
  if (layout.worker_parts.empty()) return errors;
  int bits = 0;
  std::set<std::string_view> names;
  for (const WorkerPart& part : layout.worker_parts) {
    bits += part.bits;
    if (!names.insert(part.name).second)
      errors.push_back(fmt::format("layout: two parts have the name {}", part.name));
    if (part.value && *part.value >= values_of(part)) errors.push_back(misfit(part, *part.value));
  }
  if (bits != layout.worker_bits)
    errors.push_back(fmt::format("layout: the worker parts have {} bits together, worker_bits is {}", bits,
                                 layout.worker_bits));
  return errors;
}

}  // namespace evenkeel::idgen
