// How the demo's logical table is spread: INSTANCESxDATABASESxTABLES, "4x4x8" being the reference layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::demo {

// A plain value. `databases` counts the databases of one instance, `tables` the tables of one database.
// Slots are contiguous: the first instance holds the lowest slots, and so does the first database.
struct Layout {
  uint32_t instances = 4;
  uint32_t databases = 4;
  uint32_t tables = 8;

  bool operator==(const Layout&) const = default;

  uint32_t databases_in_all() const { return instances * databases; }
  uint32_t slots() const { return databases_in_all() * tables; }
  uint32_t slots_per_instance() const { return databases * tables; }
  // `slot` and `database` (counted over all instances) must be inside the layout.
  uint32_t instance_of_slot(uint32_t slot) const { return slot / slots_per_instance(); }
  uint32_t database_of_slot(uint32_t slot) const { return slot / tables; }

  // "shop_07" and "orders_061": zero-padded to the width of the largest number, at least 2 and 3 digits.
  std::string database_name(std::string_view schema, uint32_t database) const;
  std::string table_name(std::string_view table, uint32_t slot) const;
};

// "4x16x128". Fails (kind config) with the allowed form; at most 32 instances and limits::slots_max slots.
Result<Layout> parse_layout(std::string_view text);
std::string to_string(const Layout& layout);

}  // namespace evenkeel::demo
