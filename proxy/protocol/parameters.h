// The block of typed values that EXECUTE and query attributes share: null bits, a flag, types (and names),
// values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mysql/value.h"
#include "proxy/protocol/response_messages.h"
#include "proxy/protocol/wire.h"

namespace evenkeel::protocol {

struct ParameterBlock {
  bool new_types = false;
  std::vector<WireType> types;
  std::vector<std::string> names;  // only where names are sent; one a value
  std::vector<mysql::Value> values;
};

// Reads `count` values. `remembered`: types for a block that carries none (and so no names either).
// `long_data`: by position, values that are not in the block. Sets the reader bad on anything malformed.
ParameterBlock read_parameters(WireReader& in, size_t count, bool with_names,
                               std::span<const WireType> remembered,
                               std::span<const std::optional<std::string>> long_data);

// One value and how it is sent.
struct ParameterView {
  WireType type;
  std::string_view name;
  const mysql::Value* value;
};
void write_parameters(WireWriter& out, std::span<const ParameterView> parameters, bool with_names);

}  // namespace evenkeel::protocol
