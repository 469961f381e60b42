#include "proxy/protocol/parameters.h"

#include "base/limits.h"
#include "proxy/protocol/cells.h"

namespace evenkeel::protocol {
namespace {

constexpr uint8_t unsigned_mark = 0x80;

bool bit_at(std::string_view bits, size_t i) {
  return (static_cast<uint8_t>(bits[i / 8]) >> (i % 8) & 1) != 0;
}

void read_types(WireReader& in, size_t count, bool with_names, ParameterBlock& block) {
  for (size_t i = 0; i < count && in.ok(); ++i) {
    WireType type;
    type.type = static_cast<mysql::ColumnType>(in.int1());
    type.is_unsigned = (in.int1() & unsigned_mark) != 0;
    if (!is_wire_type(type.type)) in.set_bad();
    block.types.push_back(type);
    if (with_names) block.names.emplace_back(in.lenenc_string());
  }
}

mysql::Value long_value(WireType type, const std::string& bytes) {
  switch (type.type) {
    case mysql::ColumnType::tiny_blob:
    case mysql::ColumnType::medium_blob:
    case mysql::ColumnType::long_blob:
    case mysql::ColumnType::blob:
      return mysql::Value::bytes(bytes);
    default:
      return mysql::Value::string(bytes);
  }
}

}  // namespace

ParameterBlock read_parameters(WireReader& in, size_t count, bool with_names,
                               std::span<const WireType> remembered,
                               std::span<const std::optional<std::string>> long_data) {
  ParameterBlock block;
  if (count > limits::parameters_max) in.set_bad();
  const std::string_view nulls = in.bytes((count + 7) / 8);
  block.new_types = in.int1() != 0;
  if (!in.ok()) return block;
  if (block.new_types) {
    read_types(in, count, with_names, block);
  } else if (remembered.size() == count) {
    block.types.assign(remembered.begin(), remembered.end());
  } else {
    in.set_bad();
  }
  for (size_t i = 0; i < count && in.ok(); ++i) {
    const WireType type = block.types[i];
    if (i < long_data.size() && long_data[i]) {
      block.values.push_back(long_value(type, *long_data[i]));
    } else if (bit_at(nulls, i) || type.type == mysql::ColumnType::null) {
      block.values.emplace_back();
    } else {
      const std::string_view cell = take_binary_cell(in, type.type);
      Result<mysql::Value> value = in.ok() ? value_of_binary(cell, type) : mysql::Value::null();
      if (!value) {
        in.set_bad();
      } else {
        block.values.push_back(std::move(*value));
      }
    }
  }
  return block;
}

void write_parameters(WireWriter& out, std::span<const ParameterView> parameters, bool with_names) {
  if (parameters.empty() || !out.ok()) return;
  const size_t bitmap = out.out().size();
  out.zeros((parameters.size() + 7) / 8);
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].value->is_null()) continue;
    char& byte = out.out()[bitmap + i / 8];
    byte = static_cast<char>(static_cast<uint8_t>(byte) | (1u << (i % 8)));
  }
  out.int1(1);
  for (const ParameterView& parameter : parameters) {
    out.int1(static_cast<uint8_t>(parameter.type.type));
    out.int1(parameter.type.is_unsigned ? unsigned_mark : 0);
    if (with_names) out.lenenc_string(parameter.name);
  }
  for (const ParameterView& parameter : parameters) {
    if (!parameter.value->is_null()) write_binary_value(out, *parameter.value, parameter.type);
  }
}

}  // namespace evenkeel::protocol
