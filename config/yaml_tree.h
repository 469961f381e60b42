// A YAML document as a tree of plain nodes with positions. The only file of the program that calls yaml-cpp
// is yaml_tree.cc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::config {

struct Mark {
  int line = 1;
  int column = 1;

  bool operator<(const Mark& other) const {
    return line != other.line ? line < other.line : column < other.column;
  }
};

struct KeyedNode;

// Owns what is below it; an alias is a copy of what its anchor named.
struct Node {
  enum class Kind : uint8_t { null, scalar, list, map } kind = Kind::null;
  Mark mark;
  std::string text;              // scalar
  bool quoted = false;           // scalar: '3' and "3" are text, 3 may be a number
  std::vector<Node> items;       // list
  std::vector<KeyedNode> pairs;  // map, in the order of the file; keys may repeat
};

struct KeyedNode {
  Node key;
  Node value;
};

// Bounds against files made to exhaust memory; a configuration stays far below them.
inline constexpr size_t yaml_bytes_max = 16 << 20;
inline constexpr int yaml_depth_max = 32;
inline constexpr size_t yaml_nodes_max = 100'000;  // aliases counted as what they stand for

// One document. Errors (kind config): "source:line:column: …".
Result<Node> parse_yaml(std::string_view text, const std::string& source);

}  // namespace evenkeel::config
